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
	// Verdict is same, other-value, refused, dead, already, not-needed, left
	// (nothing that a plan decides), unknown or missing.
	Verdict string `json:"verdict"`
	Planned string `json:"planned,omitempty"`
	Because string `json:"because"`
}

// compareVerdicts are the verdicts in the order of the summary.
var compareVerdicts = []string{"same", "other-value", "already", "not-needed", "refused", "dead", "left", "unknown", "missing"}

// deadCodes are the lint codes of lines that the system does not take, or
// that do nothing.
var deadCodes = []string{"removed", "renamed", "not-yet", "wrong-system", "wrong-file", "read-only", "bad-value", "driver", "no-effect", "syntax"}

// refusingCodes are the lint codes of lines that do harm.
var refusingCodes = []string{"harmful", "weakens-security", "below-default", "out-of-range", "wrong-unit", "needs", "conflict"}

// comparePlan puts a configuration file beside the plan: what both have, what
// the plan has otherwise, and why it leaves the rest.
func comparePlan(env *Env, c *catalog.Catalog, p plan.Plan, opt planOptions, how string) error {
	text, err := readLimited(opt.compare)
	if err != nil {
		return usage(err)
	}
	entries, problems, err := compareEntries(c, p, opt, text)
	if err != nil {
		return usage(err)
	}
	lines := []compared{}
	named := map[string]bool{}
	for _, e := range entries {
		if e.Name == "" || e.Has(conffile.Exclude) || strings.HasPrefix(e.Name, "link-file:Match/") || strings.HasPrefix(e.Name, "network-file:Match/") {
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
	if how != "json" {
		return printCompared(env, opt.compare, lines, missing)
	}
	counts := map[string]int{}
	for _, l := range append(slices.Clone(lines), missing...) {
		counts[l.Verdict]++
	}
	return env.printJSON(struct {
		Schema  int            `json:"schema"`
		File    string         `json:"file"`
		Counts  map[string]int `json:"counts"`
		Lines   []compared     `json:"lines"`
		Missing []compared     `json:"missing"`
		Plan    plan.Plan      `json:"plan"`
	}{1, opt.compare, counts, lines, missing, p})
}

// compareEntries reads the file, and what lint says about its lines.
func compareEntries(c *catalog.Catalog, p plan.Plan, opt planOptions, text string) ([]conffile.Entry, []lint.Problem, error) {
	if entries, ok := tunedEntries(text); ok {
		return entries, nil, nil
	}
	kind := conffile.Detect(opt.compare, []byte(text)).Kind
	if kind == "" && strings.HasPrefix(strings.TrimSpace(text), "options ") {
		kind = conffile.Modprobe
	}
	if kind == "" {
		return nil, nil, fmt.Errorf("%s: not a configuration file that wirerate reads", opt.compare)
	}
	file, err := conffile.Parse(kind, conffile.System(p.System), opt.compare, []byte(text))
	if err != nil {
		return nil, nil, err
	}
	driver, _ := p.Inputs["driver"].(string)
	problems := lint.Run(c, []lint.Input{{Path: opt.compare, Text: text}}, lint.Options{System: p.System, Version: p.Release, Role: p.Role, Driver: driver}).Problems
	return file.Entries, problems, nil
}

// tunedEntries reads a TuneD profile: its sysctls, and what its net sections
// set on their devices.
func tunedEntries(text string) ([]conffile.Entry, bool) {
	if !strings.Contains(text, "[sysctl]") && !strings.Contains(text, "[main]") {
		return nil, false
	}
	var entries []conffile.Entry
	section, number := "", 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		key, value, assigned := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"`)
		switch {
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case !assigned || line[0] == '#' || line[0] == ';' || section == "main" || section == "variables" || key == "type" || key == "devices":
		case section == "sysctl":
			entries = append(entries, conffile.Entry{Line: number, Name: strings.ReplaceAll(key, "/", "."), Value: value})
		case section == "net" || strings.HasPrefix(section, "net_"):
			entries = append(entries, tunedNetEntries(number, key, value)...)
		default:
			entries = append(entries, conffile.Entry{Line: number, Name: section + "/" + key, Value: value})
		}
	}
	return entries, true
}

// tunedNetEntries are the settings of one option of TuneD's net plug-in: mtu,
// txqueuelen, or pairs of an ethtool name and its value.
func tunedNetEntries(line int, key, value string) []conffile.Entry {
	if key == "mtu" || key == "txqueuelen" {
		return []conffile.Entry{{Line: line, Name: "link:" + key, Value: value}}
	}
	var entries []conffile.Entry
	words := strings.Fields(strings.ReplaceAll(value, ",", " "))
	for i := 0; i+1 < len(words); i += 2 {
		entries = append(entries, conffile.Entry{Line: line, Name: "ethtool:" + key + "/" + words[i], Value: words[i+1]})
	}
	return entries
}

// problemAt is the first problem of a line with one of the codes.
func problemAt(problems []lint.Problem, line int, codes []string) (lint.Problem, bool) {
	i := slices.IndexFunc(problems, func(pr lint.Problem) bool { return pr.Line == line && slices.Contains(codes, pr.Code) })
	if i < 0 {
		return lint.Problem{}, false
	}
	return problems[i], true
}

func compareEntry(c *catalog.Catalog, p plan.Plan, e conffile.Entry, problems []lint.Problem) compared {
	line := compared{Line: e.Line, Setting: plan.SettingOfLink(e.Name), Value: strings.Join(strings.Fields(e.Value), " ")}
	switch {
	case strings.HasPrefix(line.Setting, "route:"):
		line.Setting += "@default"
	case e.Iface != "" && strings.Contains(e.Name, ":"):
		line.Setting += "@" + e.Iface
	}
	planned := slices.IndexFunc(p.Changes, func(ch plan.Change) bool { return isSetting(ch.Setting, line.Setting) })
	if pr, dead := problemAt(problems, e.Line, deadCodes); dead {
		line.Verdict, line.Because = "dead", pr.Message+": "+pr.Because
		if planned >= 0 {
			line.Planned = p.Changes[planned].To
		}
		return line
	}
	if planned >= 0 {
		ch := p.Changes[planned]
		line.Setting, line.Planned, line.Verdict, line.Because = ch.Setting, ch.To, "other-value", ch.Because+working(ch)
		if ch.To == line.Value || plan.SameSwitch(ch.To, line.Value) {
			line.Verdict, line.Because = "same", ch.Because
		}
		return line
	}
	if pr, harmful := problemAt(problems, e.Line, refusingCodes); harmful {
		line.Verdict, line.Because = "refused", pr.Message+": "+pr.Because
		return line
	}
	if i := slices.IndexFunc(p.Kept, func(k plan.Kept) bool { return isSetting(k.Setting, line.Setting) }); i >= 0 {
		line.Verdict, line.Planned, line.Because = "not-needed", p.Kept[i].Value, p.Kept[i].Because
		if p.Kept[i].Value == line.Value || plan.SameSwitch(p.Kept[i].Value, line.Value) {
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
	line.Verdict, line.Because = unplanned(rec, p, line)
	return line
}

// isSetting matches a plan's setting with a file's, which may name no
// interface.
func isSetting(planned, named string) bool {
	base, _, _ := strings.Cut(planned, "@")
	return planned == named || base == named && strings.Contains(named, ":")
}

// working is a change's formula with its numbers, as far as they say more than
// the value.
func working(ch plan.Change) string {
	s := ""
	for _, part := range []string{ch.Formula, ch.Working} {
		if part != "" && part != ch.To && strings.Trim(part, `"`) != ch.To && !strings.HasSuffix(s, part) {
			s += " " + part + " ="
		}
	}
	if s == "" {
		return ""
	}
	return s + " " + ch.To
}

// unplanned says why a plan leaves a setting alone.
func unplanned(rec *catalog.Record, p plan.Plan, line compared) (verdict, because string) {
	if state := rec.StateIn(p.Release); state != catalog.Present {
		return "dead", strings.TrimSpace(fmt.Sprintf("in %s %s it is %s. %s", p.System, p.Release, state, rec.Became))
	}
	def, _ := rec.DefaultIn(p.Release)
	if strings.Join(strings.Fields(def.Value), " ") == line.Value || plan.SameSwitch(def.Value, line.Value) {
		return "already", "it is the default"
	}
	about := rec.Does
	switch {
	case def.Value != "" && def.Value != "unknown" && def.Value != "computed":
		about += " The default is " + strings.TrimSpace(def.Value+" "+parenthesized(def.Note)) + "."
	case def.Note != "":
		about += " The default: " + def.Note + "."
	}
	if rec.Risk != "" {
		about += " " + rec.Risk
	}
	name, _, _ := strings.Cut(line.Setting, "@")
	if value, cost, ok := plan.Hardening(p.System, name); ok {
		return "not-needed", fmt.Sprintf("it is for security, not for speed: --harden sets it to %s; cost: %s", value, cost)
	}
	refuted := slices.IndexFunc(rec.Evidence, func(e catalog.Evidence) bool { return e.Grade == catalog.Refuted })
	switch {
	case refuted >= 0:
		return "refused", rec.Evidence[refuted].Says
	case rec.Hardening:
		return "not-needed", "it is for security, not for speed, and no part of --harden. " + about
	case len(rec.Formulas) == 0 && len(rec.Evidence) == 0 && len(rec.Judge) == 0:
		return "left", "a plan does not decide it. " + about
	case len(rec.Formulas) == 0 && onlyGrade(rec, catalog.Claimed):
		return "refused", "a guide claims it, and no measurement or manual bears it out. " + about
	}
	return "not-needed", "for role " + p.Role + " on this path the default does. " + about
}

func parenthesized(note string) string {
	if note == "" {
		return ""
	}
	return "(" + note + ")"
}

func onlyGrade(rec *catalog.Record, grade catalog.Grade) bool {
	return len(rec.Evidence) > 0 && !slices.ContainsFunc(rec.Evidence, func(e catalog.Evidence) bool { return e.Grade != grade })
}

func printCompared(env *Env, name string, lines, missing []compared) error {
	counts := map[string]int{"missing": len(missing)}
	for _, l := range lines {
		counts[l.Verdict]++
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
	var summary []string
	for _, v := range compareVerdicts {
		if counts[v] > 0 {
			summary = append(summary, fmt.Sprintf("%d %s", counts[v], strings.ReplaceAll(v, "-", " ")))
		}
	}
	fmt.Fprintf(env.Stdout, "%d lines: %s\n", len(lines), strings.Join(summary, ", "))
	return nil
}
