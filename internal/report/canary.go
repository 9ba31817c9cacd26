package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/canary"
	"github.com/wirerate/wirerate/internal/units"
)

// CanaryDesign writes what a canary will do and see.
func CanaryDesign(to Screen, s *canary.State) {
	d := s.Design
	better := "lower"
	if d.Metric.HigherIsBetter {
		better = "higher"
	}
	to.Printf("%d hosts, %d steps, each judged after %s\n", len(s.Hosts), len(s.Steps),
		units.Duration(time.Duration(d.Window*float64(time.Second))))
	to.Wrap("metric  ", "        ", fmt.Sprintf("%s (%s is better); hosts scatter by %s%%",
		d.Metric.Query, better, units.Digits(100*d.Metric.SD, 2)))
	for _, g := range d.Guards {
		to.Wrap("guard   ", "        ", fmt.Sprintf("%s; hosts scatter by %s%%", g.Query, units.Digits(100*g.SD, 2)))
	}
	to.Printf("\n%4s %8s  %s\n", "step", "changed", fmt.Sprintf("a change of the metric that it sees "+
		"with a probability of %g%%", 100*d.Power))
	for i, step := range s.Steps {
		sees := "nothing: no host is left to compare with"
		if step.Level > 0 {
			sees = seen(step.Sees)
		}
		if step.Decides {
			sees += "; decides"
		}
		to.Printf("%4d %8d  %s\n", i+1, step.Changed, sees)
	}
	for _, note := range s.Notes {
		to.Wrap("note: ", "      ", note)
	}
}

func seen(change *float64) string {
	if change == nil {
		return "none"
	}
	return fmt.Sprintf("%s%%", units.Digits(100**change, 2))
}

// CanaryLook writes what a step's judgement found.
func CanaryLook(to Screen, step int, l *canary.Look) {
	to.Wrap(fmt.Sprintf("step %d: %s", step+1, l.Action), "  ", canaryNext[l.Action])
	for _, why := range l.Because {
		to.Wrap("  because ", "          ", why)
	}
	if l.Metric != nil {
		canaryLine(to, "metric", *l.Metric)
	}
	for _, g := range l.Guards {
		canaryLine(to, "guard", g)
	}
	for _, p := range l.Parts {
		if what := p.Of; p.Verdict.Decided() {
			if l.Metric != nil && p.Query != l.Metric.Query {
				what = "guard " + p.Query + " of " + what
			}
			canaryLine(to, what, p)
		}
	}
	canaryHosts(to, "missing", l.Missing)
	canaryHosts(to, "started anew", l.Restarts)
	canaryHosts(to, "far worse", l.Fallen)
	for _, note := range l.Notes {
		to.Wrap("  note: ", "        ", note)
	}
}

// canaryNext says what to do after each action.
var canaryNext = map[canary.Action]string{
	canary.Proceed:   "; keep the change on trial (wirerate extend) and begin the next step",
	canary.Promote:   "; it has proved itself: confirm the hosts that are changed and begin the next step",
	canary.Stop:      "; it harms: roll back every host that is changed",
	canary.Undecided: "; it did not prove itself: roll back every host that is changed",
	canary.Done:      "; every step is made: confirm the hosts that are changed",
}

func canaryLine(to Screen, what string, c canary.Compared) {
	effect := ""
	if c.Effect != nil {
		effect = fmt.Sprintf(", x%.3f (%.3f to %.3f)", c.Effect.Ratio, c.Effect.Low, c.Effect.High)
	}
	to.Wrap("  "+what+": ", "    ", fmt.Sprintf("%s%s; %d changed hosts beside %d",
		c.Verdict.Words(), effect, c.Changed, c.Others))
}

// canaryHosts writes the first of some hosts.
func canaryHosts(to Screen, what string, names []string) {
	const most = 10
	if len(names) == 0 {
		return
	}
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	to.Wrap("  "+what+": ", "    ", strings.Join(names, ", ")+more)
}
