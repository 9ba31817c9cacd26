package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/terminal"
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

// suitePlace is which row of which suite a trial is; group is the first row's
// trial.
type suitePlace struct {
	group  string
	number int
}

// ofSuite tells whether the experiment was a row of a suite.
func (s setup) ofSuite() bool {
	return slices.ContainsFunc(s.Args, func(a string) bool { return a == "--suite" || strings.HasPrefix(a, "--suite=") })
}

// suiteRowBefore is a row that was measured before an interruption, in part or
// whole.
type suiteRowBefore struct {
	trial store.Trial
	setup setup
}

// suiteBefore finds the rows of the suite that this run goes on with.
func (f *trialFlags) suiteBefore(ctx context.Context) (map[int]suiteRowBefore, error) {
	rows := map[int]suiteRowBefore{}
	if f.resumeID == "" {
		return rows, nil
	}
	history, err := f.openStore(ctx)
	if err != nil {
		return nil, err
	}
	defer history.Close()
	all, err := history.Trials(ctx, 0)
	if err != nil {
		return nil, failure(err)
	}
	for _, t := range all {
		var saved setup
		if json.Unmarshal(t.Setup, &saved) != nil || !saved.ofSuite() || t.ID != f.resumeID && saved.Suite != f.resumeID {
			continue
		}
		if _, newer := rows[saved.Row]; !newer {
			rows[saved.Row] = suiteRowBefore{t, saved}
		}
	}
	return rows, nil
}

// runSuite runs a trial for each row; they share the time equally. A row that
// cannot be measured says why and costs the others nothing. Rows that were
// finished before an interruption are taken from the history.
func (s *benchSession) runSuite(ctx context.Context, f trialFlags, arms []*armValues, bench *trial.Bench) ([]suiteRow, error) {
	suite, err := workload.Suite(f.suite)
	if err != nil {
		return nil, usage(err)
	}
	before, err := f.suiteBefore(ctx)
	if err != nil {
		return nil, err
	}
	until, group := time.Now().Add(f.budget), f.resumeID
	for _, row := range before {
		if row.trial.State == store.Done {
			until = until.Add(row.trial.Started.Sub(row.trial.Ended))
		}
	}
	var rows []suiteRow
	for i, row := range suite {
		one, r, done, err := f.suiteRow(row, before[i])
		if err != nil {
			return nil, err
		}
		if !done {
			one.row = suitePlace{group, i}
			one.budget = max(time.Until(until)/time.Duration(len(suite)-i), 10*time.Second)
			s.flags = one.benchFlags
			var id string
			if id, err = s.measureRow(ctx, one, arms, bench, &r); err != nil {
				return nil, err
			}
			if group == "" {
				group = id
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// suiteRow is what to do for a row; done tells that the history has it.
func (f trialFlags) suiteRow(row workload.SuiteRow, before suiteRowBefore) (one trialFlags, r suiteRow, done bool, err error) {
	kind, err := workload.FindKind(row.Spec.Workload)
	if err != nil {
		return f, r, false, usage(err)
	}
	one, r = f, suiteRow{Title: row.Title, Metric: kind.Primary()}
	spec := row.Spec
	spec.Duration, spec.Omit, spec.Port = f.spec.Duration, f.spec.Omit, f.spec.Port
	one.resumeID = ""
	switch before.trial.State {
	case "":
	case store.Done:
		if result, ok := resultOf(before.trial); ok {
			r.Result = &result
			return one, r, true, nil
		}
	default:
		one.resumeID, one.pairs, spec.Duration, spec.Omit = before.trial.ID, before.setup.Pairs, before.setup.Run, before.setup.Omit
	}
	one.spec, one.workload = spec, spec.Workload
	return one, r, false, nil
}

// measureRow runs one row's trial and returns its ID.
func (s *benchSession) measureRow(ctx context.Context, f trialFlags, arms []*armValues, bench *trial.Bench, r *suiteRow) (string, error) {
	o, err := s.compareArms(ctx, f, arms, bench)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		result := o.toResult(f)
		r.Result = &result
		return o.id, nil
	case errors.Is(err, workload.ErrTool):
		r.Why = err.Error()
		return "", nil
	}
	return "", err
}

// writeSuite writes the table, and each row's own result and report in a
// folder of its name.
func (e *Env) writeSuite(f trialFlags, rows []suiteRow) error {
	data, err := indentedJSON(suiteJSON(f, rows))
	if err != nil {
		return err
	}
	var table bytes.Buffer
	to := *e
	to.Stdout = &table
	to.suiteTable(f, rows)
	files := []outdir.File{{Name: "suite.json", Data: data}, {Name: "suite.txt", Data: table.Bytes()}}
	for _, row := range rows {
		if row.Result == nil {
			continue
		}
		own, err := trialFiles(*row.Result)
		if err != nil {
			return err
		}
		for _, file := range own {
			file.Name = strings.ReplaceAll(strings.ToLower(row.Title), " ", "-") + "/" + file.Name
			files = append(files, file)
		}
	}
	return f.out.write(files...)
}

func suiteJSON(f trialFlags, rows []suiteRow) map[string]any {
	return map[string]any{"schema": 1, "suite": f.suite, "seed": f.seed, "command": f.command, "trials": rows}
}

// showSuite prints the table: the median of each arm, and the ratio of each
// with its interval.
func (e *Env) showSuite(f trialFlags, rows []suiteRow, format string) error {
	hurts := false
	for _, row := range rows {
		if row.Result != nil && f.resumeID != "" {
			f.command = row.Result.Command // not the one that went on with it
		}
		hurts = hurts || row.Result != nil && row.Result.Verdict == stats.Hurts
	}
	if f.out.dir != "" {
		if err := e.writeSuite(f, rows); err != nil {
			return failure(err)
		}
		e.note("written: %s, suite.txt and a report.html for each row", filepath.Join(f.out.dir, "suite.json"))
	}
	if format == "json" {
		if err := e.printJSON(suiteJSON(f, rows)); err != nil {
			return err
		}
	} else {
		e.suiteTable(f, rows)
	}
	if hurts {
		return negative()
	}
	return nil
}

func (e *Env) suiteTable(f trialFlags, rows []suiteRow) {
	e.printf("%-20s %-24s %13s %9s  %-16s %s\n", "test", "arm", "median", "change", "interval", "verdict")
	for _, row := range rows {
		if row.Result == nil {
			e.printf("%-20s not measured: %s\n", row.Title, row.Why)
			continue
		}
		e.suiteLines(row)
	}
	for _, row := range rows {
		if row.Result == nil {
			continue
		}
		for _, w := range row.Result.Warnings {
			e.wrap("! ", "  ", row.Title+": "+w)
		}
	}
	e.printf("again: %s --seed %d\n", f.command, f.seed)
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
		line := fmt.Sprintf("%-20s %-24s %13s", title, terminal.Clip(a.Name, 24), report.Amount(row.Metric.Name, a.Median.Values[row.Metric.Name]))
		if i > 0 && i <= len(comparisons) {
			c := comparisons[i-1]
			if c.Effect != nil {
				line += fmt.Sprintf(" %+8.1f%%  %-16s", 100*(c.Effect.Ratio-1), fmt.Sprintf("%+.1f%% to %+.1f%%", 100*(c.Effect.Low-1), 100*(c.Effect.High-1)))
			}
			line += " " + string(c.Verdict)
		}
		e.printf("%s\n", line)
	}
}
