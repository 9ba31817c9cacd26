package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/workload"
)

// Row is one workload of a suite.
type Row struct {
	Title  string          `json:"title"`
	Metric workload.Metric `json:"metric"`
	Result *Result         `json:"result"` // null when it was not measured
	Why    string          `json:"not_measured,omitempty"`
	// Arms are the lines of the table: what the first arm measures, and how each
	// other differs.
	Arms []RowArm `json:"arms"`
}

// RowArm is one arm of a row.
type RowArm struct {
	Arm    string          `json:"arm"`
	Median float64         `json:"median"` // of the row's metric
	Limit  *workload.Limit `json:"limit"`  // null where it is not known
	Runs   int             `json:"runs"`
	// Effect and Verdict compare it with the first arm; null and empty there.
	Effect  *Effect       `json:"effect"`
	Verdict stats.Verdict `json:"verdict,omitempty"`
}

// fill makes the lines of a row of its result.
func (r *Row) fill() {
	r.Arms = []RowArm{}
	if r.Result == nil {
		return
	}
	comparisons := r.Result.Comparisons
	if comparisons == nil {
		comparisons = []Comparison{{Verdict: r.Result.Verdict, Effect: r.Result.Effect}}
	}
	for i, a := range r.Result.Arms {
		line := RowArm{Arm: a.Name, Median: a.Median.Values[r.Metric.Name], Limit: a.Limit, Runs: len(a.Runs)}
		if i > 0 && i <= len(comparisons) {
			line.Effect, line.Verdict = comparisons[i-1].Effect, comparisons[i-1].Verdict
		}
		r.Arms = append(r.Arms, line)
	}
}

// rowBefore is a row that was measured before an interruption, in part or
// whole.
type rowBefore struct {
	trial store.Trial
	setup setup
}

// CompareSuite runs a trial for each row of a suite; they share the time
// equally. A row that cannot be measured says why and costs the others nothing.
// Rows that were finished before an interruption are taken from the history.
func CompareSuite(ctx context.Context, c Config) ([]Row, error) {
	return withArms(ctx, c, kindTrial, func(s *session, arms []*armValues) ([]Row, error) { return s.suite(ctx, arms) })
}

func (s *session) suite(ctx context.Context, arms []*armValues) (rows []Row, err error) {
	c := s.Config
	suite, err := workload.Suite(c.Suite)
	if err != nil {
		return nil, wrong(err)
	}
	before, err := c.rowsBefore(ctx)
	if err != nil {
		return nil, err
	}
	until, group := time.Now().Add(c.Budget), c.Resumed
	for _, row := range before {
		if row.trial.State == store.Done {
			until = until.Add(row.trial.Started.Sub(row.trial.Ended))
		}
	}
	for i, row := range suite {
		one, r, done, err := c.rowConfig(row, before[i])
		if err != nil {
			return nil, err
		}
		if !done {
			one.group, one.row = group, i
			one.Budget = max(time.Until(until)/time.Duration(len(suite)-i), 10*time.Second)
			one.rowsLeft = one.Budget * time.Duration(len(suite)-i-1)
			s.Config = one
			id, err := s.measureRow(ctx, arms, &r)
			if err != nil {
				return nil, err
			}
			if group == "" {
				group = id
			}
		}
		r.fill()
		rows = append(rows, r)
	}
	return rows, nil
}

// rowsBefore finds the rows of the suite that this run goes on with.
func (c *Config) rowsBefore(ctx context.Context) (map[int]rowBefore, error) {
	rows := map[int]rowBefore{}
	if c.Resumed == "" {
		return rows, nil
	}
	history, err := OpenHistory(ctx, c.History)
	if err != nil {
		return nil, err
	}
	defer history.Close()
	all, err := history.Trials(ctx, 0)
	if err != nil {
		return nil, failed(err)
	}
	for _, t := range all {
		var saved setup
		if json.Unmarshal(t.Setup, &saved) != nil || !saved.ofSuite() || t.ID != c.Resumed && saved.Suite != c.Resumed {
			continue
		}
		if _, newer := rows[saved.Row]; !newer {
			rows[saved.Row] = rowBefore{t, saved}
		}
	}
	return rows, nil
}

// rowConfig is what to do for a row; done tells that the history has it.
func (c Config) rowConfig(row workload.SuiteRow, before rowBefore) (one Config, r Row, done bool, err error) {
	kind, err := workload.FindKind(row.Spec.Workload)
	if err != nil {
		return c, r, false, wrong(err)
	}
	one, r = c, Row{Title: row.Title, Metric: kind.Primary()}
	spec := row.Spec
	spec.Duration, spec.Omit, spec.Port = c.Spec.Duration, c.Spec.Omit, c.Spec.Port
	one.Resumed = ""
	switch before.trial.State {
	case "":
	case store.Done:
		if result, err := ReadResult(before.trial.Result); err == nil {
			r.Result = &result
			return one, r, true, nil
		}
	default:
		one.Resumed, one.Pairs, spec.Duration, spec.Omit = before.trial.ID, before.setup.Pairs, before.setup.Run,
			before.setup.Omit
	}
	one.Spec = spec
	return one, r, false, nil
}

// measureRow runs one row's trial and returns its ID.
func (s *session) measureRow(ctx context.Context, arms []*armValues, r *Row) (string, error) {
	result, err := s.compare(ctx, arms)
	switch {
	case err == nil:
		r.Result = &result
		return result.ID, nil
	case ctx.Err() == nil && (errors.Is(err, workload.ErrTool) || errors.Is(err, errTooShort)):
		r.Why = err.Error()
		return "", nil
	}
	return "", err
}
