package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/terminal"
)

type explainOptions struct {
	system, version string
	search          []string
}

func newExplainCmd(env *Env) *cobra.Command {
	var opt explainOptions
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "Explain a setting, a lint code or a rule, with its sources",
		Example: `  wirerate explain net.ipv4.tcp_rmem
  wirerate explain 'net.inet.tcp.syncache.*' --os freebsd
  wirerate explain --search receive,window
  wirerate explain below-default`,
		Args: cobra.MaximumNArgs(1),
	}
	format := formatFlag(cmd, "text", "json")
	cmd.Flags().StringVar(&opt.system, "os", "", "`system`: freebsd, openbsd or linux (default: all)")
	cmd.Flags().StringVar(&opt.version, "version", "", "`release` of the system, such as 14.2")
	cmd.Flags().StringSliceVar(&opt.search, "search", nil, "find settings whose description has these `words`")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		f, err := format()
		if err != nil {
			return err
		}
		name := ""
		if len(args) == 1 {
			name = args[0]
		}
		return explain(env, opt, name, f)
	}
	return cmd
}

func explain(env *Env, opt explainOptions, name, format string) error {
	if (name == "") == (len(opt.search) == 0) {
		return usagef("give the NAME of a setting, or --search words")
	}
	if code, ok := lint.FindCode(name); ok {
		return explainCode(env, code, format)
	}
	if i := slices.IndexFunc(diagnose.Rules(), func(r diagnose.Rule) bool { return r.ID == name }); i >= 0 {
		return explainRule(env, diagnose.Rules()[i], format)
	}
	system, version, err := parseSystem(opt.system, opt.version)
	if err != nil {
		return usage(err)
	}
	c, err := catalog.Load()
	if err != nil {
		return failure(err)
	}
	records := findRecords(c, system, name, opt.search)
	if len(records) == 0 {
		return usage(notFound(c, system, name, opt.search))
	}
	if format == "json" {
		return env.printJSON(struct {
			Schema   int               `json:"schema"`
			Settings []*catalog.Record `json:"settings"`
		}{1, records})
	}
	if len(records) > 3 {
		env.listRecords(records)
		return nil
	}
	for i, r := range records {
		if i > 0 {
			env.printf("\n")
		}
		report.Setting(env.Stdout, r, version)
	}
	return nil
}

func explainCode(env *Env, code lint.Code, format string) error {
	if format == "json" {
		return env.printJSON(struct {
			Schema int       `json:"schema"`
			Code   lint.Code `json:"code"`
		}{1, code})
	}
	return lint.WriteCode(env.Stdout, code)
}

// ruleJSON is what a program reads of a rule of inspect.
type ruleJSON struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Systems  []string `json:"systems"` // empty: all
	Severity string   `json:"severity"`
	Settings []string `json:"settings"`
	Because  string   `json:"because"`
	Confirm  string   `json:"confirm"`
}

func explainRule(env *Env, r diagnose.Rule, format string) error {
	if format == "json" {
		return env.printJSON(struct {
			Schema int      `json:"schema"`
			Rule   ruleJSON `json:"rule"`
		}{1, ruleJSON{r.ID, r.Title, r.Systems, string(r.Severity), r.Settings, r.Because, r.Confirm}})
	}
	env.printf("%s: %s (%s)\n\n%s\n%s", r.ID, r.Title, r.Severity, below("", r.Because), below("Confirmed if: ", r.Confirm))
	if len(r.Settings) > 0 {
		env.printf("%s", below("Settings: ", strings.Join(r.Settings, ", ")))
	}
	return nil
}

// parseSystem checks the --os and --version of a command line.
func parseSystem(system, version string) (catalog.System, catalog.Version, error) {
	if system != "" && !slices.Contains(catalog.Systems(), catalog.System(system)) {
		return "", "", fmt.Errorf("system %q: freebsd, openbsd or linux is expected", system)
	}
	if version == "" {
		return catalog.System(system), "", nil
	}
	if system == "" {
		return "", "", errors.New("--version needs --os")
	}
	v, err := catalog.ParseVersion(version)
	return catalog.System(system), v, err
}

// findRecords returns the settings that a name means, in the order of
// catalog.Systems: the setting of that name, the settings that a pattern fits,
// those whose name ends with the words given (tcp_rmem), or the members of the
// group of that name (net.inet.tcp).
func findRecords(c *catalog.Catalog, system catalog.System, name string, search []string) []*catalog.Record {
	if len(search) > 0 {
		return c.Search(system, search...)
	}
	for _, spelt := range spellings(name) {
		var found []*catalog.Record
		for _, s := range catalog.Systems() {
			if system != "" && s != system {
				continue
			}
			if r, ok := c.Lookup(s, spelt); ok {
				found = append(found, r)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	pattern := strings.ContainsAny(name, "*?[")
	spelt := spellings(name)
	last := spelt[len(spelt)-1]
	group, member, _ := strings.Cut(last, ":") // ethtool:tso for ethtool:features/tso
	tails := c.Filter(system, func(n string) bool {
		if pattern {
			ok, _ := path.Match(name, n)
			return ok
		}
		n = strings.ToLower(n)
		return hasTail(n, last) || member != "" && strings.HasPrefix(n, group+":") && hasTail(n, member)
	})
	if pattern {
		return tails
	}
	tails = slices.DeleteFunc(tails, func(r *catalog.Record) bool { return r.Removed == "0" }) // misspellings
	if len(tails) > 0 {
		return tails
	}
	return c.Filter(system, func(n string) bool {
		rest, ok := strings.CutPrefix(strings.ToLower(n), last)
		return ok && last != "" && rest != "" && strings.ContainsAny(rest[:1], "./:")
	})
}

// hasTail reports whether name ends with the components of tail.
func hasTail(name, tail string) bool {
	rest, ok := strings.CutSuffix(name, tail)
	return ok && tail != "" && rest != "" && strings.IndexByte("./:", rest[len(rest)-1]) >= 0
}

// spellings are the forms in which a setting may be in the catalog: as it was
// given, and as a name that was taken from a command line, an assignment or a
// path below /proc/sys.
func spellings(name string) []string {
	plain, _, _ := strings.Cut(name, "=")
	if words := strings.Fields(plain); len(words) > 0 {
		plain = words[len(words)-1]
	}
	if !strings.Contains(plain, ":") && !strings.HasPrefix(plain, "/sys/") {
		plain = conffile.LinuxName(plain)
	}
	return slices.Compact([]string{strings.ReplaceAll(name, " ", ""), plain, strings.ToLower(plain)})
}

func notFound(c *catalog.Catalog, system catalog.System, name string, search []string) error {
	if len(search) > 0 {
		return fmt.Errorf("no setting is described by all of: %s", strings.Join(search, " "))
	}
	text := fmt.Sprintf(`"%s" is not in the catalog`, terminal.Clip(name, 80))
	spelt := spellings(name)
	last := spelt[len(spelt)-1]
	near := c.Nearest(system, last, 3, otherNames()...)
	switch found := len(c.Search(system, last)); {
	case len(near) > 0:
		text += "; did you mean " + strings.Join(near, ", ") + "?"
	case found > 0 && len(last) > 2:
		text += fmt.Sprintf("; the descriptions of %d settings have the word: --search %s", found, last)
	default:
		text += "; --search finds settings by the words of their descriptions"
	}
	return errors.New(text)
}

// otherNames are the names that explain knows beside those of settings: lint
// codes and the rules of inspect.
func otherNames() []string {
	var names []string
	for _, code := range lint.Codes() {
		names = append(names, code.ID)
	}
	for _, rule := range diagnose.Rules() {
		names = append(names, rule.ID)
	}
	return names
}

// listRecords prints a line for each record, as wide as the terminal, and of
// 120 columns where there is none.
func (e *Env) listRecords(records []*catalog.Record) {
	width, names := cmp.Or(e.columns(), 120), 0
	for _, r := range records {
		names = max(names, len(r.Name))
	}
	for _, r := range records {
		e.printf("%s\n", terminal.Clip(fmt.Sprintf("%-7s %-*s %s", r.System, min(names, 44), r.Name, r.Does), width))
	}
}
