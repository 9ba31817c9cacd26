package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/plan"
)

// compared is one line of a file beside the plan.
type compared struct {
	Line    int    `json:"line"`
	Setting string `json:"setting"`
	Value   string `json:"value"`
	// Verdict is same, other-value, refused, already, not-needed or unknown.
	Verdict string `json:"verdict"`
	Planned string `json:"planned,omitempty"`
	Because string `json:"because"`
}

// comparePlan puts a configuration file beside the plan: what both have, what
// the plan has otherwise, and why it leaves the rest.
func comparePlan(env *Env, c *catalog.Catalog, p plan.Plan, opt planOptions, how string) error {
	text, err := readLimited(opt.compare)
	if err != nil {
		return usage(err)
	}
	guess := conffile.Detect(opt.compare, []byte(text))
	if guess.Kind == "" {
		return usagef("%s: not a configuration file that wirerate reads", opt.compare)
	}
	file, err := conffile.Parse(guess.Kind, conffile.System(p.System), opt.compare, []byte(text))
	if err != nil {
		return usage(err)
	}
	problems := lint.Run(c, []lint.Input{{Path: opt.compare, Text: text}}, lint.Options{System: p.System, Version: p.Release, Role: p.Role, Driver: opt.driver}).Problems
	lines := []compared{}
	named := map[string]bool{}
	for _, e := range file.Entries {
		if e.Name == "" || e.Has(conffile.Exclude) {
			continue
		}
		line := compareEntry(c, p, e, problems)
		named[line.Setting] = true
		lines = append(lines, line)
	}
	missing := []compared{}
	for _, ch := range p.Changes {
		if !named[ch.Setting] {
			missing = append(missing, compared{Setting: ch.Setting, Verdict: "missing", Planned: ch.To, Because: ch.Because})
		}
	}
	if how == "json" {
		return env.printJSON(struct {
			Schema  int        `json:"schema"`
			File    string     `json:"file"`
			Lines   []compared `json:"lines"`
			Missing []compared `json:"missing"`
			Plan    plan.Plan  `json:"plan"`
		}{1, opt.compare, lines, missing, p})
	}
	return printCompared(env, opt.compare, lines, missing)
}

func compareEntry(c *catalog.Catalog, p plan.Plan, e conffile.Entry, problems []lint.Problem) compared {
	line := compared{Line: e.Line, Setting: e.Name, Value: strings.Join(strings.Fields(e.Value), " ")}
	if e.Iface != "" && strings.Contains(e.Name, ":") {
		line.Setting += "@" + e.Iface
	}
	if i := slices.IndexFunc(p.Changes, func(ch plan.Change) bool { return ch.Setting == line.Setting }); i >= 0 {
		ch := p.Changes[i]
		line.Planned, line.Verdict = ch.To, "other-value"
		line.Because = fmt.Sprintf("%s %s = %s = %s", ch.Because, ch.Formula, ch.Working, ch.To)
		if ch.To == line.Value {
			line.Verdict, line.Because = "same", ch.Because
		}
		return line
	}
	worst := slices.IndexFunc(problems, func(pr lint.Problem) bool { return pr.Line == e.Line && pr.Severity != lint.Info })
	if worst >= 0 {
		line.Verdict, line.Because = "refused", problems[worst].Message+": "+problems[worst].Because
		return line
	}
	if i := slices.IndexFunc(p.Kept, func(k plan.Kept) bool { return k.Setting == line.Setting }); i >= 0 {
		line.Verdict, line.Planned, line.Because = "not-needed", p.Kept[i].Value, p.Kept[i].Because
		if p.Kept[i].Value == line.Value {
			line.Verdict = "already"
		}
		return line
	}
	base, _, _ := strings.Cut(line.Setting, "@")
	rec, ok := c.Lookup(p.System, base)
	if !ok {
		line.Verdict, line.Because = "unknown", "the catalog does not know it"
		return line
	}
	line.Verdict, line.Because = unplanned(rec, p, line.Value)
	return line
}

// unplanned says why a plan leaves a setting alone.
func unplanned(rec *catalog.Record, p plan.Plan, value string) (verdict, because string) {
	if state := rec.StateIn(p.Release); state != catalog.Present {
		return "refused", fmt.Sprintf("in %s %s it is %s. %s", p.System, p.Release, state, rec.Became)
	}
	if def, ok := rec.DefaultIn(p.Release); ok && strings.Join(strings.Fields(def.Value), " ") == value {
		return "already", "it is the default"
	}
	for _, grade := range []catalog.Grade{catalog.Refuted, catalog.Claimed} {
		if i := slices.IndexFunc(rec.Evidence, func(e catalog.Evidence) bool { return e.Grade == grade }); i >= 0 && onlyGrade(rec, grade) {
			return "refused", fmt.Sprintf("the only evidence is %s: %s", grade, rec.Evidence[i].Says)
		}
	}
	if rec.Hardening {
		return "not-needed", "it is for security, not for speed; --harden adds what is worth its cost"
	}
	if len(rec.Formulas) > 0 {
		return "not-needed", "for role " + p.Role + " on this path the default does"
	}
	return "not-needed", "nothing about this path, role or machine asks for another value than the default"
}

func onlyGrade(rec *catalog.Record, grade catalog.Grade) bool {
	return !slices.ContainsFunc(rec.Evidence, func(e catalog.Evidence) bool { return e.Grade != grade })
}

func printCompared(env *Env, name string, lines, missing []compared) error {
	for _, l := range lines {
		fmt.Fprintf(env.Stdout, "%s:%d: %s = %s\n", name, l.Line, l.Setting, l.Value)
		switch l.Verdict {
		case "same":
			fmt.Fprintf(env.Stdout, "  as planned. %s\n", l.Because)
		case "other-value":
			fmt.Fprintf(env.Stdout, "  the plan has %s. %s\n", l.Planned, l.Because)
		default:
			fmt.Fprintf(env.Stdout, "  %s: %s\n", strings.ReplaceAll(l.Verdict, "-", " "), l.Because)
		}
	}
	for _, m := range missing {
		fmt.Fprintf(env.Stdout, "missing: %s = %s\n  %s\n", m.Setting, m.Planned, m.Because)
	}
	return nil
}
