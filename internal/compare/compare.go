// Package compare puts a configuration file beside a plan, line by line: what
// both have, what the plan has otherwise, and why it leaves the rest.
package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/plan"
)

// Verdict says what a line is beside the plan.
type Verdict string

// The verdicts, in the order of a summary: what is to be mended first.
const (
	Harmful    Verdict = "harmful"
	Refuted    Verdict = "refuted" // measured to do nothing for what guides set it for, or harm
	Dead       Verdict = "dead"
	OtherValue Verdict = "other-value"
	Missing    Verdict = "missing" // planned, and not in the file
	NotDecided Verdict = "not-decided"
	NotNeeded  Verdict = "not-needed"
	Unknown    Verdict = "unknown"
	Left       Verdict = "left" // nothing that a plan decides
	Already    Verdict = "already"
	Same       Verdict = "same"
)

// Verdicts are all of them in that order.
func Verdicts() []Verdict {
	return []Verdict{Harmful, Refuted, Dead, OtherValue, Missing, NotDecided, NotNeeded, Unknown, Left, Already, Same}
}

// Line is one line of a file beside the plan.
type Line struct {
	Line    int     `json:"line"`
	Setting string  `json:"setting"`
	Value   string  `json:"value"`
	Verdict Verdict `json:"state"`
	Planned string  `json:"planned,omitempty"`
	Because string  `json:"because"`
	// Service marks a line that starts a daemon or tells it its options.
	Service bool `json:"service,omitempty"`
}

// Comparison is a file beside a plan.
type Comparison struct {
	Schema    int             `json:"schema"`
	File      string          `json:"file"`
	Counts    map[Verdict]int `json:"counts"`
	Lines     []Line          `json:"lines"`   // in the order of the file
	Missing   []Line          `json:"missing"` // what the plan has and the file not
	Elsewhere []string        `json:"elsewhere"`
	Plan      plan.Plan       `json:"plan"`
}

// deadCodes are the lint codes of lines that the system does not take, or
// that do nothing.
var deadCodes = []string{"removed", "renamed", "not-yet", "wrong-system", "wrong-file", "read-only", "bad-value",
	"driver", "no-effect", "syntax"}

// harmfulCodes are the lint codes of lines that do harm, the first two of
// them whatever their severity.
var harmfulCodes = []string{"harmful", "weakens-security", "below-default", "out-of-range", "wrong-unit", "needs",
	"conflict"}

// File puts the text of a configuration file beside a plan. A file that is not
// read is an error.
func File(c *catalog.Catalog, p plan.Plan, name, text string) (Comparison, error) {
	g, err := readGuide(c, p, name, text)
	if err != nil {
		return Comparison{}, err
	}
	r := Comparison{Schema: 2, File: name, Counts: map[Verdict]int{}, Lines: g.compare(c, p), Plan: p}
	r.Missing, r.Elsewhere = missingFrom(p, g.kind, r.Lines)
	for _, l := range slices.Concat(r.Lines, r.Missing) {
		r.Counts[l.Verdict]++
	}
	return r, nil
}

// compare gives each line of the file its verdict, in the order of the file.
func (g guideFile) compare(c *catalog.Catalog, p plan.Plan) []Line {
	lines := []Line{}
	for _, e := range g.entries {
		if e.Name == "" || strings.HasPrefix(e.Name, "link-file:Match/") ||
			strings.HasPrefix(e.Name, "network-file:Match/") {
			continue
		}
		lines = append(lines, g.entry(c, p, e))
	}
	for _, r := range g.rejects {
		lines = append(lines, Line{Line: r.line, Setting: r.text, Verdict: Dead,
			Because: "the system does not read the line: " + r.reason})
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.Line, b.Line) })
	return lines
}

// holds are the places of settings that files of a kind have; kinds that are
// not here may hold anything.
var holds = map[conffile.Kind][]string{
	conffile.Sysctl: {"sysctl"}, conffile.Loader: {"loader"}, conffile.RC: {"rc", "ifconfig"}, conffile.PF: {"pf"},
	conffile.Modprobe:    {"module"},
	conffile.ModulesLoad: {"module"}, conffile.HostnameIf: {"ifconfig"}, conffile.LinkFile: {"ethtool", "link"},
	conffile.NetworkFile: {"route"}, conffile.Cmdline: {"cmdline"},
}

// missingFrom lists the plan's changes that the file has not, and those that a
// file of its kind cannot have.
func missingFrom(p plan.Plan, kind conffile.Kind, lines []Line) (missing []Line, elsewhere []string) {
	missing, elsewhere = []Line{}, []string{}
	for _, ch := range p.Changes {
		base, _, _ := strings.Cut(ch.Setting, "@")
		places := holds[kind]
		switch {
		case slices.ContainsFunc(lines, func(l Line) bool { return l.Setting == ch.Setting || l.Setting == base }):
		case places != nil && !slices.Contains(places, ch.Belongs):
			elsewhere = append(elsewhere, ch.Setting)
		default:
			missing = append(missing, Line{Setting: ch.Setting, Verdict: Missing, Planned: ch.To, Because: ch.Because})
		}
	}
	return missing, elsewhere
}

// problemOf is the first problem of an entry with one of the codes that is as
// heavy as least: one of its own key, or of the whole line where that has no
// other setting.
func (g guideFile) problemOf(e conffile.Entry, codes []string, least lint.Severity) (lint.Problem, bool) {
	alone := true
	for _, other := range g.entries {
		alone = alone && (other.Line != e.Line || other.Name == e.Name)
	}
	i := slices.IndexFunc(g.problems, func(pr lint.Problem) bool {
		return pr.Line == e.Line && pr.Severity.AtLeast(least) && slices.Contains(codes, pr.Code) &&
			(alone || pr.Key == e.Key)
	})
	if i < 0 {
		return lint.Problem{}, false
	}
	return g.problems[i], true
}

func (g guideFile) entry(c *catalog.Catalog, p plan.Plan, e conffile.Entry) Line {
	line := Line{Line: e.Line, Setting: plan.SettingOfLink(e.Name), Value: normalValue(e.Value)}
	switch {
	case strings.HasPrefix(line.Setting, "route:"):
		line.Setting += "@default"
	case e.Iface != "" && strings.Contains(e.Name, ":"):
		line.Setting += "@" + e.Iface
	}
	line = byOwnName(c, p, line)
	codes := deadCodes
	if name := currentName(c, p, line.Setting); name != line.Setting {
		line.Setting, codes = name, slices.DeleteFunc(slices.Clone(codes),
			func(code string) bool { return code == "renamed" })
	}
	if e.Has(conffile.Exclude) {
		line.Verdict, line.Because = Left, "it sets nothing: it takes the setting out of the reach of patterns in "+
			"the same folder"
		return line
	}
	if !e.Has(conffile.Part) && slices.ContainsFunc(g.entries,
		func(o conffile.Entry) bool { return o.Line == e.Line && o.Has(conffile.Part) }) {
		line.Verdict, line.Because = Left, "how an interface gets its addresses is not a matter for a plan; the "+
			"options on this line follow, each by itself"
		return line
	}
	planned := slices.IndexFunc(p.Changes, func(ch plan.Change) bool { return isSetting(ch.Setting, line.Setting) })
	if pr, dead := g.problemOf(e, codes, lint.Warning); dead {
		line.Verdict, line.Because = Dead, pr.Message+": "+pr.Because
		if planned >= 0 {
			line.Planned = p.Changes[planned].To
		}
		return line
	}
	harm, harmful := g.problemOf(e, harmfulCodes, lint.Warning)
	if !harmful { // an info that a value may be wrong refuses nothing
		harm, harmful = g.problemOf(e, harmfulCodes[:2], lint.Info)
	}
	if planned >= 0 {
		ch := p.Changes[planned]
		line.Setting, line.Planned, line.Verdict, line.Because = ch.Setting, ch.To, OtherValue, ch.Because+working(ch)
		switch {
		case ch.To == line.Value || plan.SameSwitch(ch.To, line.Value):
			line.Verdict, line.Because = Same, ch.Because
		case harmful:
			line.Because = harm.Because + " Planned instead: " + line.Because
		}
		return line
	}
	if harmful {
		line.Verdict, line.Because = Harmful, harm.Message+": "+harm.Because
		return line
	}
	return g.unplannedEntry(c, p, e, line)
}

// byOwnName names what a script does by the setting that a plan has for it: a
// module that it loads, the queueing discipline that it gives an interface.
func byOwnName(c *catalog.Catalog, p plan.Plan, line Line) Line {
	base, _, _ := strings.Cut(line.Setting, "@")
	module, isModule := strings.CutPrefix(base, "module:")
	switch {
	case base == "tc:qdisc":
		line.Setting = "net.core.default_qdisc"
		line.Value, _, _ = strings.Cut(line.Value, " ")
	case isModule && line.Value == "load":
		if _, ok := c.Lookup(p.System, module); ok {
			line.Setting, line.Value = module, "loaded"
		}
	}
	return line
}

// currentName is the name that a plan uses for a setting which its release takes
// by the old name too.
func currentName(c *catalog.Catalog, p plan.Plan, setting string) string {
	rec, ok := c.Lookup(p.System, setting)
	if !ok || rec.RenamedTo == "" || strings.Contains(rec.RenamedTo, "*") || rec.StateIn(p.Release) != catalog.Present {
		return setting
	}
	if to, ok := c.Lookup(p.System, rec.RenamedTo); !ok || to.StateIn(p.Release) != catalog.Present {
		return setting
	}
	return rec.RenamedTo
}

// unplannedEntry is the verdict of a line that sets nothing which is planned.
func (g guideFile) unplannedEntry(c *catalog.Catalog, p plan.Plan, e conffile.Entry, line Line) Line {
	if i := slices.IndexFunc(p.Kept, func(k plan.Kept) bool { return isSetting(k.Setting, line.Setting) }); i >= 0 {
		kept := p.Kept[i]
		line.Verdict, line.Planned, line.Because = NotNeeded, kept.Value, kept.Because
		switch {
		case kept.Value == line.Value || plan.SameSwitch(kept.Value, line.Value):
			line.Verdict = Already
		case len(kept.Missing) > 0:
			line.Verdict, line.Because = NotDecided, undecidedFor(kept.Missing)
		case kept.Refused:
			line.Verdict = Refuted
		}
		return line
	}
	base, _, _ := strings.Cut(line.Setting, "@")
	rec, ok := c.Lookup(p.System, base)
	what, left := g.left[e.Line]
	switch {
	case left && (!ok || e.Value == "default"):
		line.Verdict, line.Because = Left, what
	case strings.Contains(e.Name, "$") || !ok && e.Has(conffile.Expands):
		line.Verdict, line.Because = Left, "what it sets is known only when the script runs"
	case !ok && e.Has(conffile.Module):
		line.Verdict, line.Because = Left, "a plan loads and blocks no module but those that its own settings need"
	case !ok:
		line.Verdict, line.Because = Unknown, "the catalog does not know it"
		if near := c.Nearest(p.System, base, 1); len(near) > 0 {
			line.Because += "; the nearest name that it has is " + near[0]
		}
	default:
		line.Verdict, line.Because = unplanned(rec, p, line)
	}
	if service := g.kind == conffile.RC && serviceVariable(line.Setting); service &&
		(line.Verdict == Left || line.Verdict == Unknown ||
			rec != nil && len(rec.Formulas) == 0 && line.Verdict == NotNeeded && !rec.Hardening) {
		line.Verdict, line.Because, line.Service = Left,
			"it starts a daemon or tells it its options, which a plan does not decide", true
	}
	return line
}

// serviceVariable tells whether a variable of rc.conf is of a service (rc.subr(8)):
// a daemon of the ports has no record.
func serviceVariable(name string) bool {
	for _, end := range []string{"_enable", "_flags", "_program", "_user", "_group", "_config", "_pidfile", "_nice",
		"_args"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// inputFlags name the inputs of formulas by what gives them.
var inputFlags = map[string]string{
	"queues": "the receive queues (--queues)", "ring_max": "the largest ring (--ring-max)",
	"memory": "the memory (--memory)", "cores": "the processors (--cores)",
	"nic_rate": "the speed of the interface (--nic-rate)", "driver": "the driver (--nic)",
	"interfaces": "the interfaces (--nic)",
	"disk_rate":  "the rate of the disks (--disk-rate)",
	"disk_depth": "the disks' queue (--disk-iops and --disk-latency)", "disks": "the disks (--disks)",
	"states": "the firewall's states (--states)", "standard": "the value that runs, which the kernel computed (plan " +
		"for the host itself or a capture of it)",
}

// undecidedFor says what a plan must know to decide, from the names of the
// inputs that it lacks.
func undecidedFor(missing []string) string {
	var words []string
	for _, name := range missing {
		words = append(words, cmp.Or(inputFlags[name], name))
	}
	return "to decide it the plan must know " + strings.Join(words, " and ")
}

// normalValue writes a value with single spaces, and an empty one as nothing.
func normalValue(v string) string {
	v = strings.Join(strings.Fields(v), " ")
	if v == `""` || v == "''" {
		return ""
	}
	return v
}

// isSetting matches a plan's setting with a file's, which may name no
// interface.
func isSetting(planned, named string) bool {
	base, _, _ := strings.Cut(planned, "@")
	return planned == named || base == named && strings.ContainsAny(named, ":/")
}

// working is a change's formula with its numbers; nothing where the formula is a
// constant.
func working(ch plan.Change) string {
	if ch.Constant() || ch.Working == "" || ch.Working == ch.To {
		return ""
	}
	return " " + ch.Working + " = " + ch.To
}

// unplanned says why a plan leaves a setting alone.
func unplanned(rec *catalog.Record, p plan.Plan, line Line) (verdict Verdict, because string) {
	if state := rec.StateIn(p.Release); state != catalog.Present {
		return Dead, strings.TrimSpace(fmt.Sprintf("in %s %s it is %s. %s", p.System, p.Release, state, rec.Became))
	}
	def, _ := rec.DefaultIn(p.Release)
	if normalValue(def.Value) == line.Value || plan.SameSwitch(def.Value, line.Value) {
		return Already, "it is the default"
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
		return NotNeeded, fmt.Sprintf("it is for security, not for speed: --harden sets it to %s; cost: %s", value,
			cost)
	}
	refuted := slices.IndexFunc(rec.Evidence, func(e catalog.Evidence) bool { return e.Grade == catalog.Refuted })
	switch {
	case refuted >= 0:
		return Refuted, rec.Evidence[refuted].Says
	case rec.Hardening:
		return NotNeeded, "it is for security, not for speed, and no part of --harden. " + about
	case len(rec.Formulas) == 0 && len(rec.Evidence) == 0:
		return Left, "a plan does not decide it. " + about
	case len(rec.Formulas) == 0 && onlyGrade(rec, catalog.Claimed):
		return NotNeeded, "guides set it; the catalog holds no measurement of it. " + about
	}
	return NotNeeded, "for role " + p.Role + " on this path the default does. " + about
}

func parenthesized(note string) string {
	if note == "" {
		return ""
	}
	return "(" + note + ")"
}

func onlyGrade(rec *catalog.Record, grade catalog.Grade) bool {
	return len(rec.Evidence) > 0 && !slices.ContainsFunc(rec.Evidence,
		func(e catalog.Evidence) bool { return e.Grade != grade })
}
