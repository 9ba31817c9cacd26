// Package trial compares settings by designed experiments: randomised paired
// runs, planned looks, intervals and verdicts, and each setting's share of a
// gain.
package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// Design is how a trial is made; it is fixed before the first run.
type Design struct {
	Arms     []string // the first one is the reference
	MaxPairs int      // runs of each arm at most
	Looks    []int    // numbers of pairs at which the trial may stop
	Alpha    float64  // false-positive probability over all looks and arms
	Margin   float64  // smallest relative change worth having
	Metric   string   // that decides, of workload.Run.Value; empty means goodput
	Lower    bool     // whether a smaller value of it is better
	Seed     uint64   // of the order of runs
	Deadline time.Time
	// Resumed is how many of the first runs measure answers from its records,
	// which take no time.
	Resumed int
}

// Run is one run of one arm.
type Run struct {
	Arm   int `json:"arm"`
	Order int `json:"order"` // position among all runs, from 0
	Pair  int `json:"pair"`
	workload.Run
}

// Comparison is one arm against the reference.
type Comparison struct {
	Arm      int
	Interval stats.Interval
	Verdict  stats.Verdict
	Wilcoxon float64 // two-sided p of the signed-rank test, the cross-check
	// Decided is the number of pairs at which helps or hurts was found, which
	// stands from then on; 0 when it was not.
	Decided int
	// Undone: the interval alone says helps or hurts, which does not stand
	// when the runs that were lost are counted against it.
	Undone bool
	// Unsteady: the same, because runs resemble their neighbours so much that
	// the pairs of one block are no two observations.
	Unsteady bool
}

// Lost is a run that gave no value.
type Lost struct {
	Arm int
	Err error // why
}

// Result is a finished or interrupted trial.
type Result struct {
	Design      Design
	Runs        []Run // in the order in which they were made
	Comparisons []Comparison
	Lost        []Lost
	Warnings    []stats.Warning
	Pairs       int    // complete pairs
	Noise       *Noise // nil with fewer than two pairs
}

// Noise is what this trial could have seen.
type Noise struct {
	// SD is the standard deviation of the log-ratios of pairs, pooled over the
	// arms: about the relative scatter of a pair.
	SD float64 `json:"pair_sd"`
	// MinDetectable is the effect (ratio - 1) that as many pairs as were made
	// see with a probability of 0.8.
	MinDetectable float64 `json:"min_detectable"`
	Pairs         int     `json:"pairs"`
}

// Measure makes one run of an arm. An error that wraps workload.ErrTool costs
// that run; any other ends the trial.
type Measure func(ctx context.Context, arm int) (workload.Run, error)

// Progress is what a running trial knows.
type Progress struct {
	Stage   string // trial or attribution
	Done    int    // runs made
	Planned int    // runs at most
	Left    time.Duration
	// AllDone, AllPlanned and AllLeft are of the whole experiment, which may have
	// more stages; its owner fills them.
	AllDone, AllPlanned int
	AllLeft             time.Duration
	Estimate            *stats.Interval // of the last arm against the reference
	Metric              string          // that decides
	LastValue           float64         // of it in the last run
}

const power = 0.8

// errLost ends a trial whose runs keep failing.
var errLost = errors.New("too many runs failed")

// errLate ends a trial that has pairs in hand when its time is up.
var errLate = errors.New("time is up")

// clock tells how long runs take, those from records left out.
type clock struct {
	start    time.Time
	attempts int // made now
	skip     int // answered from records
}

func (c *clock) tick() {
	if c.skip > 0 {
		c.skip--
		c.start = time.Now()
		return
	}
	c.attempts++
}

func (c *clock) each() time.Duration {
	if c.attempts == 0 {
		return 0
	}
	return time.Since(c.start) / time.Duration(c.attempts)
}

// tooLate tells whether so many more runs would end after the deadline,
// judged by the runs so far.
func (c *clock) tooLate(deadline time.Time, runs int) bool {
	if deadline.IsZero() || c.attempts == 0 {
		return false
	}
	return time.Now().Add(c.each() * time.Duration(runs)).After(deadline)
}

// Compare runs the trial. What was measured before an error is in the result.
func Compare(ctx context.Context, d Design, measure Measure, report func(Progress)) (Result, error) {
	family, err := newFamily(d)
	if err != nil {
		return Result{Design: d}, fmt.Errorf("trial: %w", err)
	}
	return compare(ctx, d, family, measure, report)
}

func compare(ctx context.Context, d Design, family *family, measure Measure, report func(Progress)) (result Result,
	err error) {
	result.Design = d
	defer func() { result.finish(family) }()
	c := &clock{start: time.Now(), skip: d.Resumed}
	for _, block := range stats.Schedule(len(d.Arms), (d.MaxPairs+1)/2, d.Seed) {
		for half := range 2 {
			arms := block[half*len(d.Arms) : (half+1)*len(d.Arms)]
			if result.Pairs == d.MaxPairs {
				break
			}
			if result.Pairs >= 2 && c.tooLate(d.Deadline, len(d.Arms)) {
				return result, family.truncate(result.Pairs)
			}
			err := result.pair(ctx, arms, c, measure, report)
			if errors.Is(err, errLate) {
				return result, family.truncate(result.Pairs)
			}
			if err != nil {
				return result, err
			}
			if family.look(result.Pairs) {
				if result.conclude(family); result.decided() {
					return result, nil
				}
			}
		}
	}
	return result, nil
}

// pair runs every arm once, each again when its run is lost.
func (r *Result) pair(ctx context.Context, arms []int, c *clock, measure Measure, report func(Progress)) error {
	for _, arm := range arms {
		run, err := r.attempt(ctx, arm, c, measure)
		if err != nil {
			r.dropIncomplete()
			return err
		}
		r.Runs = append(r.Runs, Run{Arm: arm, Order: len(r.Runs), Pair: r.Pairs, Run: run})
		report(r.progress(c, run))
	}
	r.Pairs++
	return nil
}

func (r *Result) attempt(ctx context.Context, arm int, c *clock, measure Measure) (workload.Run, error) {
	for {
		run, err := measure(ctx, arm)
		c.tick()
		if err == nil {
			if v, ok := run.Value(r.Design.Metric); ok && v > 0 {
				return run, nil
			}
			err = withoutMetric(run, r.Design.Metric)
		}
		if ctx.Err() != nil {
			return run, ctx.Err()
		}
		if !errors.Is(err, workload.ErrTool) || errors.Is(err, workload.ErrMissing) {
			return run, err
		}
		r.Lost = append(r.Lost, Lost{arm, err})
		// Runs that others disturbed are made again until time is up; what was
		// measured by then is concluded.
		if errors.Is(err, workload.ErrDisturbed) && r.Pairs >= 2 && c.tooLate(r.Design.Deadline, 1) {
			return run, errLate
		}
		if disturbed := errors.Is(err, workload.ErrDisturbed); disturbed && c.tooLate(r.Design.Deadline, 1) ||
			!disturbed && r.failures() > MayLose(r.Design.MaxPairs*len(r.Design.Arms), len(r.Runs)) {
			return run, fmt.Errorf("%w (%s): %w", errLost, r.lostWords(), err)
		}
	}
}

// MayLose is how many of the runs that are planned may be lost: a tenth, and three at least; one where none has worked
// yet, since what has never worked is not tried for long.
func MayLose(planned, worked int) int {
	if worked == 0 {
		return 1
	}
	return max(3, planned/10)
}

// failures are the lost runs that nothing outside disturbed.
func (r *Result) failures() (n int) {
	for arm := range r.Design.Arms {
		n += r.failuresOf(arm)
	}
	return n
}

func (r *Result) failuresOf(arm int) (n int) {
	for _, l := range r.Lost {
		if l.Arm == arm && !errors.Is(l.Err, workload.ErrDisturbed) {
			n++
		}
	}
	return n
}

// lostWords counts the lost runs of each arm.
func (r *Result) lostWords() string {
	var parts []string
	for arm, name := range r.Design.Arms {
		if slices.Contains(r.Design.Arms[:arm], name) { // of an A/A trial
			name = "the second " + name
		}
		if n := r.lostOf(arm); n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", n, name))
		}
	}
	return strings.Join(parts, ", ")
}

func (r *Result) lostOf(arm int) (n int) {
	for _, l := range r.Lost {
		if l.Arm == arm {
			n++
		}
	}
	return n
}

func (r *Result) dropIncomplete() {
	for len(r.Runs) > 0 && r.Runs[len(r.Runs)-1].Pair == r.Pairs {
		r.Runs = r.Runs[:len(r.Runs)-1]
	}
}

func (r *Result) progress(c *clock, run workload.Run) Progress {
	planned := r.Design.MaxPairs * len(r.Design.Arms)
	p := Progress{Stage: "trial", Done: len(r.Runs), Planned: planned, Metric: r.Design.Metric,
		Left: c.each() * time.Duration(planned-len(r.Runs))}
	p.LastValue, _ = run.Value(r.Design.Metric)
	if !r.Design.Deadline.IsZero() {
		p.Left = min(p.Left, max(0, time.Until(r.Design.Deadline)))
	}
	if logs, err := r.logRatios(len(r.Design.Arms) - 1); err == nil {
		if i, err := stats.PairedRatio(logs, 1-r.Design.Alpha); err == nil {
			p.Estimate = &i
		}
	}
	return p
}

// logRatios are the complete pairs of an arm against the reference.
func (r *Result) logRatios(arm int) ([]float64, error) {
	reference, other := r.values(0, r.Design.Metric), r.values(arm, r.Design.Metric)
	n := min(len(reference), len(other))
	return stats.LogRatios(reference[:n], other[:n])
}

// values returns a metric of an arm's runs in the order of pairs; runs that
// do not have it are left out.
func (r *Result) values(arm int, metric string) []float64 {
	var out []float64
	for _, run := range r.Runs {
		if run.Arm != arm {
			continue
		}
		if v, ok := run.Value(metric); ok {
			out = append(out, v)
		}
	}
	return out
}

// withoutMetric says why a run does not count.
func withoutMetric(run workload.Run, metric string) error {
	if why := run.Unknown[metric]; why != "" {
		return fmt.Errorf("%w: %s is not known: %s", workload.ErrTool, metric, why)
	}
	return fmt.Errorf("%w: the run has no %s above 0", workload.ErrTool, metric)
}

// Ratio compares another metric of an arm with the reference's by the same
// pairs: the cost in latency or retransmissions beside a gain. It is nil when
// too few runs have that metric above 0.
func (r *Result) Ratio(arm int, metric string, confidence float64) *stats.Interval {
	return intervalOf(r.values(0, metric), r.values(arm, metric), confidence)
}

// RatioPer is Ratio of a metric divided by another one of the same run: what a
// unit of work costs.
func (r *Result) RatioPer(arm int, metric, per string, confidence float64) *stats.Interval {
	divided := func(arm int) []float64 {
		values, work := r.values(arm, metric), r.values(arm, per)
		if len(values) != len(work) {
			return nil
		}
		for i := range values {
			values[i] /= work[i]
		}
		return values
	}
	return intervalOf(divided(0), divided(arm), confidence)
}

func intervalOf(reference, other []float64, confidence float64) *stats.Interval {
	if len(reference) != len(other) {
		return nil
	}
	logs, err := stats.LogRatios(reference, other)
	if err != nil {
		return nil
	}
	i, err := stats.PairedRatio(logs, confidence)
	if err != nil {
		return nil
	}
	return &i
}

// resampled is how few pairs are not worth resampling.
const resampled = 8

// Resampled are the limits of an arm's ratio by resampling its pairs, which
// supposes nothing of their distribution and is a little narrow with few of
// them; nil with fewer than eight.
func (r *Result) Resampled(arm int, confidence float64) *[2]float64 {
	logs, err := r.logRatios(arm)
	if err != nil || len(logs) < resampled {
		return nil
	}
	mean := func(values []float64) float64 {
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		return sum / float64(len(values))
	}
	low, high, err := stats.Bootstrap(logs, mean, confidence, 20_000, r.Design.Seed)
	if err != nil {
		return nil
	}
	return &[2]float64{math.Exp(low), math.Exp(high)}
}
