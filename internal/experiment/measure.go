package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

// Measured are the runs of one workload, under what is running.
type Measured struct {
	Schema   int                `json:"schema"`
	ID       string             `json:"id,omitempty"` // in the history
	Workload string             `json:"workload"`
	Tool     string             `json:"tool"`
	Where    string             `json:"where,omitempty"`
	Metrics  []workload.Metric  `json:"metrics"`
	Median   map[string]float64 `json:"median"`
	// Intervals of the medians, of six runs or more.
	Intervals map[string]MedianInterval `json:"median_interval,omitempty"`
	Runs      []workload.Run            `json:"runs"`
	Warnings  []string                  `json:"warnings"`
}

// MeasuredSchema is the version of its JSON.
const MeasuredSchema = 1

// MedianInterval is bounded by two of the runs themselves.
type MedianInterval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

// Measure makes so many runs of a workload.
func Measure(ctx context.Context, c Config, runs int) (Measured, error) {
	return within(ctx, c, kindMeasure, func(s *session) (Measured, error) {
		spec, err := s.fullSpec(s.rtt)
		if err != nil {
			return Measured{}, wrong(err)
		}
		s.makeRun = func(ctx context.Context, _ trial.Values) (workload.Run, error) {
			seen := s.watchRun()
			run, err := workload.Measure(ctx, s.pair(), spec)
			if err == nil {
				err = seen(&run)
			}
			return run, err
		}
		return s.measure(ctx, spec.Workload, runs)
	})
}

// measure makes runs until there are so many, or too many were lost.
func (s *session) measure(ctx context.Context, name string, runs int) (Measured, error) {
	kind, err := workload.FindKind(name)
	if err != nil {
		return Measured{}, wrong(err)
	}
	record, err := s.startRecord(ctx, store.Trial{Workload: name, Metric: kind.Primary().Name}, nil)
	if err != nil {
		return Measured{}, err
	}
	defer record.close()
	m := Measured{Schema: MeasuredSchema, ID: record.id, Workload: name, Where: s.Place(), Warnings: []string{}}
	for lost, disturbed := 0, 0; len(m.Runs) < runs; {
		run, err := record.attempt(ctx, "current", func() (workload.Run, error) { return s.makeRun(ctx, trial.Values{}) })
		switch {
		case ctx.Err() != nil:
			return m, ctx.Err()
		case err == nil:
			m.Runs, m.Tool = append(m.Runs, run), run.Tool
			continue
		case errors.Is(err, workload.ErrDisturbed): // says nothing of the workload
			disturbed++
		default:
			lost++
		}
		if !errors.Is(err, workload.ErrTool) || errors.Is(err, workload.ErrMissing) ||
			lost > trial.MayLose(runs, len(m.Runs)) || disturbed > lostAtLeast+2*len(m.Runs) {
			record.finish(ctx, store.Stopped, "", m)
			return m, classified(err)
		}
		m.Warnings = append(m.Warnings, "a run was discarded and repeated: "+err.Error())
		s.note("a run was discarded and is repeated: %v", err)
	}
	record.finish(ctx, store.Done, "", m)
	m.summarize()
	return m, nil
}

// ReadOutput is what a tool measured that printed data; an empty tool is found
// out.
func ReadOutput(tool string, data []byte) (Measured, error) {
	if tool == "" {
		if tool = workload.DetectTool(data); tool == "" {
			return Measured{}, errors.New("no known tool printed this; name it with --tool")
		}
	}
	run, err := workload.ParseOutput(tool, data)
	if err != nil {
		return Measured{}, err
	}
	m := Measured{Schema: MeasuredSchema, Tool: tool, Runs: []workload.Run{run}, Warnings: []string{}}
	m.summarize()
	return m, nil
}

// summarize adds what follows from the runs.
func (m *Measured) summarize() {
	m.Median, m.Intervals = map[string]float64{}, map[string]MedianInterval{}
	for _, name := range MetricNames(m.Runs) {
		values := valuesOf(m.Runs, name)
		m.Median[name] = stats.Median(values)
		// Six runs are the fewest that have one; whatever their distribution.
		if q, err := stats.QuantileInterval(values, 0.5, 0.95); err == nil {
			m.Intervals[name] = MedianInterval{q.Low, q.High, q.Confidence}
		}
		m.Metrics = append(m.Metrics, workload.MetricOf(m.Workload, name))
	}
	seen := map[string]bool{}
	for i, r := range m.Runs {
		for _, w := range r.Warnings {
			if !seen[w.Code] {
				m.Warnings = append(m.Warnings, fmt.Sprintf("run %d: %s", i+1, w.Text))
			}
			seen[w.Code] = true
		}
	}
}

// Range is the lowest and the highest value of a metric; 0 and 0 where no run
// has it.
func (m *Measured) Range(metric string) (low, high float64) {
	values := valuesOf(m.Runs, metric)
	if len(values) == 0 {
		return 0, 0
	}
	return slices.Min(values), slices.Max(values)
}

func valuesOf(runs []workload.Run, metric string) (values []float64) {
	for _, r := range runs {
		if v, ok := r.Value(metric); ok {
			values = append(values, v)
		}
	}
	return values
}

// MetricNames lists the metrics that any of the runs has, goodput first.
func MetricNames(runs []workload.Run) []string {
	names := map[string]bool{}
	for _, r := range runs {
		for name := range r.Metrics {
			names[name] = true
		}
		for _, name := range workload.Beside()[:2] {
			if _, ok := r.Value(name); ok {
				names[name] = true
			}
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	if i := slices.Index(sorted, workload.Goodput); i > 0 {
		sorted = slices.Insert(slices.Delete(sorted, i, i+1), 0, workload.Goodput)
	}
	return sorted
}
