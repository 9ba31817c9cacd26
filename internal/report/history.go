package report

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/store"
)

// History writes past experiments, one a line.
func History(to Screen, all []store.Trial) {
	to.Printf("%-21s %-12s %-14s %-8s %5s  %s\n", "id", "kind", "workload", "state", "runs", "result")
	for _, t := range all {
		result := t.Verdict
		if r, err := experiment.ReadResult(t.Result); err == nil && r.Effect != nil {
			result += fmt.Sprintf(" x%.3f (%.3f to %.3f)", r.Effect.Ratio, r.Effect.Low, r.Effect.High)
		}
		to.Wrap(fmt.Sprintf("%-21s %-12s %-14s %-8s %5d  ", t.ID, t.Kind, t.Workload, t.State, t.Runs), "    ",
			strings.TrimSpace(result)+"  "+t.Where)
	}
}

// ComparedTrials writes two past trials side by side.
func ComparedTrials(to Screen, c experiment.Compared) {
	for i, t := range c.Trials {
		to.Printf("%s  %s %s, %s: %s", t.ID, t.Kind, t.Workload, t.Where, t.Verdict)
		if x := c.Effects[i]; x != nil {
			to.Printf(", %s x%.3f (%.3f to %.3f, %d pairs)", x.Metric, x.Ratio, x.Low, x.High, x.Pairs)
		}
		to.Printf("\n")
	}
	switch {
	case c.Ratio == 0:
		to.Printf("the effects cannot be compared: one is missing, or they are of different metrics\n")
	case c.Low <= 1 && c.High >= 1:
		to.Printf("the effects agree: second over first x%.3f (%.3f to %.3f)\n", c.Ratio, c.Low, c.High)
	default:
		to.Printf("the effects differ: second over first x%.3f (%.3f to %.3f)\n", c.Ratio, c.Low, c.High)
	}
	for _, d := range c.Differs {
		to.Printf("not the same: %s\n", d)
	}
}
