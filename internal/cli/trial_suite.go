package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

// suiteRow is one line of a suite's table.
type suiteRow struct {
	Title  string          `json:"title"`
	Metric workload.Metric `json:"metric"`
	Result *report.Result  `json:"result"` // null when it was not measured
	Why    string          `json:"not_measured,omitempty"`
}

// runSuite runs a trial for each row; they share the time equally. A row that
// cannot be measured says why and costs the others nothing.
func (s *benchSession) runSuite(ctx context.Context, f trialFlags, arms []*armValues, bench *trial.Bench) ([]suiteRow, error) {
	suite, err := workload.Suite(f.suite)
	if err != nil {
		return nil, usage(err)
	}
	until := time.Now().Add(f.budget)
	var rows []suiteRow
	for i, row := range suite {
		one := f
		spec := row.Spec
		spec.Duration, spec.Omit, spec.Port = f.spec.Duration, f.spec.Omit, f.spec.Port
		one.spec, one.workload = spec, spec.Workload
		one.budget = max(time.Until(until)/time.Duration(len(suite)-i), 10*time.Second)
		s.flags = one.benchFlags
		kind, err := workload.FindKind(spec.Workload)
		if err != nil {
			return nil, usage(err)
		}
		r := suiteRow{Title: row.Title, Metric: kind.Primary()}
		o, err := s.compareArms(ctx, one, arms, bench)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			result := o.toResult(one)
			r.Result = &result
		case errors.Is(err, workload.ErrTool):
			r.Why = err.Error()
		default:
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// showSuite prints the table: the median of each arm, and the ratio of each
// with its interval.
func (e *Env) showSuite(f trialFlags, rows []suiteRow, format string) error {
	hurts := false
	for _, row := range rows {
		hurts = hurts || row.Result != nil && row.Result.Verdict == stats.Hurts
	}
	if format == "json" {
		err := e.printJSON(map[string]any{"schema": 1, "suite": f.suite, "seed": f.seed, "command": f.command, "trials": rows})
		if err != nil || !hurts {
			return err
		}
		return negative()
	}
	fmt.Fprintf(e.Stdout, "%-20s %-24s %12s %9s  %-16s %s\n", "test", "arm", "median", "change", "interval", "verdict")
	for _, row := range rows {
		if row.Result == nil {
			fmt.Fprintf(e.Stdout, "%-20s not measured: %s\n", row.Title, row.Why)
			continue
		}
		e.suiteLines(row)
	}
	for _, row := range rows {
		if row.Result == nil {
			continue
		}
		for _, w := range row.Result.Warnings {
			fmt.Fprintf(e.Stdout, "! %s: %s\n", row.Title, w)
		}
	}
	fmt.Fprintf(e.Stdout, "again: %s --seed %d\n", f.command, f.seed)
	if hurts {
		return negative()
	}
	return nil
}

func (e *Env) suiteLines(row suiteRow) {
	r := row.Result
	comparisons := r.Comparisons
	if comparisons == nil {
		comparisons = []report.Comparison{{Verdict: r.Verdict, Effect: r.Effect}}
	}
	for i, a := range r.Arms {
		title := row.Title
		if i > 0 {
			title = ""
		}
		line := fmt.Sprintf("%-20s %-24s %12s", title, report.Clip(a.Name, 24), amount(row.Metric, a.Median.Values[row.Metric.Name]))
		if i > 0 && i <= len(comparisons) {
			c := comparisons[i-1]
			if c.Effect != nil {
				line += fmt.Sprintf(" %+8.1f%%  %-16s", 100*(c.Effect.Ratio-1), fmt.Sprintf("%+.1f%% to %+.1f%%", 100*(c.Effect.Low-1), 100*(c.Effect.High-1)))
			}
			line += " " + string(c.Verdict)
		}
		fmt.Fprintln(e.Stdout, line)
	}
}
