package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
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
		name := ""
		if len(args) == 1 {
			name = args[0]
		}
		return explain(env, opt, name, *format)
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
	var records []*catalog.Record
	if name != "" {
		records = lint.Find(c, system, name)
	} else {
		records = c.Search(system, opt.search...)
	}
	if len(records) == 0 {
		return usage(notFound(c, system, name, opt.search))
	}
	if format == "json" {
		return env.printJSON(explainedSettings{2, records})
	}
	if len(records) > 3 {
		report.Settings(env.screen(), records)
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
		return env.printJSON(explainedCode{2, code})
	}
	return lint.WriteCode(env.Stdout, code)
}

// ruleJSON is what a program reads of a rule of inspect.
type ruleJSON struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Systems  []string `json:"os"` // empty: all
	Severity string   `json:"severity"`
	Settings []string `json:"settings"`
	Because  string   `json:"because"`
	Confirm  string   `json:"confirm"`
}

func explainRule(env *Env, r diagnose.Rule, format string) error {
	if format == "json" {
		return env.printJSON(explainedRule{2, ruleJSON{r.ID, r.Title, r.Systems, string(r.Severity), r.Settings,
			r.Because, r.Confirm}})
	}
	report.Rule(env.Stdout, r)
	return nil
}

// parseSystem checks the --os and --version of a command line.
func parseSystem(system, version string) (catalog.System, catalog.Version, error) {
	system = strings.ToLower(system)
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

func notFound(c *catalog.Catalog, system catalog.System, name string, search []string) error {
	if len(search) > 0 {
		return fmt.Errorf("no setting is described by all of: %s", strings.Join(search, " "))
	}
	text := fmt.Sprintf(`"%s" is not in the catalog`, terminal.Clip(name, 80))
	spelt := lint.Spellings(name)
	last := spelt[len(spelt)-1]
	near := c.Nearest(system, last, 3, otherNames()...)
	if len(near) == 0 {
		near = c.Ending(system, last, 3)
	}
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
