package report

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/terminal"
)

// Suite writes the table of a suite: the median of each arm, and the ratio of
// each with its interval. again is the command that makes it again.
func Suite(to Screen, rows []experiment.Row, again string) {
	to.Printf("%-20s %-24s %13s %9s  %-16s %s\n", "test", "arm", "median", "change", "interval", "verdict")
	for _, row := range rows {
		if row.Result == nil {
			to.Printf("%-20s not measured: %s\n", row.Title, row.Why)
			continue
		}
		suiteLines(to, row)
	}
	for _, row := range rows {
		if row.Result == nil {
			continue
		}
		for _, w := range row.Result.Warnings {
			to.Wrap("! ", "  ", row.Title+": "+w)
		}
	}
	to.Printf("again: %s\n", again)
}

func suiteLines(to Screen, row experiment.Row) {
	r := row.Result
	comparisons := r.Comparisons
	if comparisons == nil {
		comparisons = []Comparison{{Verdict: r.Verdict, Effect: r.Effect}}
	}
	q := quantityOf(row.Metric.Name)
	for i, a := range r.Arms {
		title := row.Title
		if i > 0 {
			title = ""
		}
		line := fmt.Sprintf("%-20s %-24s %13s", title, terminal.Clip(a.Name, 24), q.print(a.Median.Values[row.Metric.Name]))
		if i > 0 && i <= len(comparisons) {
			c := comparisons[i-1]
			if c.Effect != nil {
				line += fmt.Sprintf(" %+8.1f%%  %-16s", 100*(c.Effect.Ratio-1), fmt.Sprintf("%+.1f%% to %+.1f%%", 100*(c.Effect.Low-1), 100*(c.Effect.High-1)))
			}
			line += " " + string(c.Verdict)
		}
		to.Printf("%s\n", line)
	}
}
