package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
)

// PlanText writes a plan in the width of the terminal, or in 80 columns: a table
// of the changes, or with why the formula with the numbers, evidence, risk, way
// back and sources of each.
func PlanText(to Screen, p plan.Plan, why bool) {
	out := page{columns: to.Columns}
	out.wrap("", "  ", planTitle(p))
	out.blank()
	switch {
	case len(p.Changes) == 0:
		out.line("  nothing to change")
	case why:
		planReasons(&out, byEffect(p.Changes))
	default:
		planTable(&out, byEffect(p.Changes))
	}
	planKept(&out, p.Kept, why)
	if m := stateWords(p.Memory); m != "" {
		out.blank()
		out.field("memory", m)
	}
	// What matters on a router is the firewall's table, not its own few sockets.
	if m := memoryWords(p.Memory); m != "" && p.Role != "router" && p.Role != "home" {
		out.blank()
		out.field("memory", m)
	}
	textWarnings(&out, p.Warnings)
	planSteps(&out, p.Steps)
	out.flush(to)
}

// planSteps prints what no setting does, with its commands; they are not
// broken, as some are lines of a configuration file.
func planSteps(out *page, steps []plan.Step) {
	for _, s := range steps {
		out.blank()
		out.wrap("to do  ", "       ", s.Title)
		out.wrap("       ", "       ", s.Why)
		for _, c := range s.Commands {
			fmt.Fprintf(&out.buf, "         # %s\n", terminal.Clean(c))
		}
	}
}

func planTitle(p plan.Plan) string {
	return fmt.Sprintf("%s for %s (%s): role %s, path %s", plural(len(p.Changes), "change", "changes"),
		cmp.Or(p.Host, "a host with the defaults"), releaseWords(p), p.Role, p.Path)
}

func releaseWords(p plan.Plan) string {
	return strings.TrimSpace(p.System.Title() + " " + string(p.Release))
}

// byEffect puts what is known best to matter first, and of that the largest
// steps. (The plan itself is in the order in which it is written to a host.)
func byEffect(changes []plan.Change) []plan.Change {
	grades := []catalog.Grade{catalog.Proven, catalog.Published, catalog.Documented, catalog.Follows, catalog.Claimed}
	rank := func(c plan.Change) int {
		if i := slices.Index(grades, c.Evidence); i >= 0 {
			return i
		}
		return len(grades)
	}
	out := slices.Clone(changes)
	slices.SortStableFunc(out, func(a, b plan.Change) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), -cmp.Compare(stepSize(a), stepSize(b)))
	})
	return out
}

// stepSize is by how much a number changes, as a logarithm; of words 0.
func stepSize(c plan.Change) float64 {
	from, to := strings.Fields(cmp.Or(c.From, c.Default)), strings.Fields(c.To)
	largest := 0.0
	for i := range min(len(from), len(to)) {
		a, err := strconv.ParseFloat(from[i], 64)
		b, err2 := strconv.ParseFloat(to[i], 64)
		if err == nil && err2 == nil && a > 0 && b > 0 {
			largest = max(largest, math.Abs(math.Log(b/a)))
		}
	}
	return largest
}

// reasonColumns is the least room that a column of reasons is worth; below it
// they stand under their lines.
const reasonColumns = 36

// planTable prints the changes; its columns are as wide as the plan needs, and
// the reasons take what the terminal has left.
func planTable(out *page, changes []plan.Change) {
	const settingHead, stepHead, reasonHead = "setting", "now → planned", "why"
	name, step, boot := len(settingHead), ansi.StringWidth(stepHead), false
	for _, c := range changes {
		name, step = max(name, ansi.StringWidth(c.Setting)), max(step, ansi.StringWidth(stepWords(c)))
		boot = boot || c.Kind == catalog.Boot
	}
	name, step = min(name, 48), min(step, 44)
	indent := 2 + name + 2 + step + 2
	beside := out.width()-indent >= reasonColumns
	if beside {
		out.line("  %s  %s  %s", pad(settingHead, name, false), pad(stepHead, step, false), reasonHead)
	} else {
		out.line("  %s  %s", pad(settingHead, name, false), stepHead)
		indent = 6
	}
	for _, c := range changes {
		mark := " "
		if c.Kind == catalog.Boot {
			mark = "b"
		}
		line := fmt.Sprintf("%s %s  %s  ", mark, pad(c.Setting, name, false), pad(stepWords(c), step, false))
		if beside {
			out.wrap(line, strings.Repeat(" ", indent), c.Because)
			continue
		}
		out.line("%s", line)
		out.wrap(strings.Repeat(" ", indent), strings.Repeat(" ", indent), c.Because)
	}
	if boot {
		out.line("b active: from the next boot")
	}
}

// stepWords is what changes: of a triple, the first number that does.
func stepWords(c plan.Change) string {
	from, to := strings.Fields(cmp.Or(c.From, c.Default)), strings.Fields(c.To)
	if len(from) != len(to) || len(to) != 3 {
		return cmp.Or(c.From, c.Default, "?") + " → " + c.To
	}
	var steps []string
	for i := range to {
		if from[i] != to[i] {
			steps = append(steps, fmt.Sprintf("%s %s → %s", [3]string{"min", "mid", "max"}[i], from[i], to[i]))
		}
	}
	return strings.Join(steps, ", ")
}

// planReasons prints everything that speaks for and against each change.
func planReasons(out *page, changes []plan.Change) {
	for i, c := range changes {
		if i > 0 {
			out.blank()
		}
		out.wrap("", "    ", fmt.Sprintf("%s: %s → %s", c.Setting, cmp.Or(c.From, c.Default, "?"), c.To))
		out.field("why", c.Because)
		if !c.Constant() {
			out.field("formula", c.Formula)
			out.field("working", c.Working)
		}
		out.field("capped", c.Capped)
		out.field("default", cmp.Or(c.Default, c.DefaultNote))
		out.field("does", c.Does)
		out.field("active", kindWords(c.Kind))
		out.field("evidence", c.EvidenceWords())
		out.field("risk", c.Risk)
		out.field("undo", undoWords(c.Undo))
		label := "sources"
		for _, s := range c.Sources {
			out.field(label, s)
			label = ""
		}
	}
}

func planKept(out *page, kept []plan.Kept, why bool) {
	if len(kept) == 0 {
		return
	}
	if !why {
		out.heading(plural(len(kept), "other setting", "other settings") + " considered and kept as found; --why lists them.")
		if missing := undecided(kept); missing != "" {
			out.wrap("", "  ", "Some are not decided, as this is not known: "+missing+".")
		}
		return
	}
	out.heading("Considered and kept as found")
	for _, k := range kept {
		out.wrap("  ", "    ", fmt.Sprintf("%s = %s: %s", k.Setting, cmp.Or(k.Value, "?"), k.Because))
	}
}

// undecided names what a plan would have to know to decide about more.
func undecided(kept []plan.Kept) string {
	flags := map[string]string{"queues": "queues (--queues)", "ring_max": "largest ring (--ring-max)",
		"memory": "memory (--memory)", "cores": "processors (--cores)",
		"nic_rate": "speed of the interface (--nic-rate)", "disk_rate": "rate of the disks (--disk-rate)",
		"states": "firewall states (--states)"}
	var missing []string
	for _, k := range kept {
		for _, name := range k.Missing {
			if flag := flags[name]; flag != "" && !slices.Contains(missing, flag) {
				missing = append(missing, flag)
			}
		}
	}
	slices.Sort(missing)
	return strings.Join(missing, ", ")
}

// stateWords says what the firewall's states may take at worst.
func stateWords(b plan.Budget) string {
	if b.States <= 0 {
		return ""
	}
	s := fmt.Sprintf("%s firewall states, the limit, take at most %s with their table", units.Count(uint64(b.States)),
		sizeOf(b.StateMemory))
	if b.Memory > 0 {
		s += fmt.Sprintf(", %s of this host's %s", percent(b.StateMemory/b.Memory), sizeOf(b.Memory))
	}
	return s
}

// memoryWords says what the sockets may take at worst.
func memoryWords(b plan.Budget) string {
	if !(b.WorstCase > 0) {
		return ""
	}
	s := fmt.Sprintf("%s connections of up to %s each take at most %s together", units.Count(uint64(b.Connections)),
		sizeOf(b.PerSocket), sizeOf(b.WorstCase))
	if b.Memory > 0 {
		s += fmt.Sprintf(", %s of this host's %s", percent(b.WorstCase/b.Memory), sizeOf(b.Memory))
	}
	if b.Bound != "" {
		s += "; " + b.Bound + " bounds the sum"
	}
	return s
}
