// Package trial compares settings by designed experiments: randomised paired
// runs, planned looks, intervals and verdicts, and each setting's share of a
// gain.
package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// Design is how a trial is made; it is fixed before the first run.
type Design struct {
	Arms     []string // the first one is the reference
	MaxPairs int      // runs of each arm at most, an even number
	Looks    []int    // numbers of pairs at which the trial may stop
	Alpha    float64  // false-positive probability over all looks and arms
	Margin   float64  // smallest relative change worth having
	Seed     uint64   // of the order of runs
	Deadline time.Time
}

// Run is one run of one arm.
type Run struct {
	Arm   int `json:"-"`
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
}

// Result is a finished or interrupted trial.
type Result struct {
	Design      Design
	Runs        []Run // in the order in which they were made
	Comparisons []Comparison
	Lost        []string // runs that failed, and why
	Warnings    []stats.Warning
	Pairs       int // complete pairs
}

// Measure makes one run of an arm. An error that wraps workload.ErrTool costs
// that run; any other ends the trial.
type Measure func(ctx context.Context, arm int) (workload.Run, error)

// Progress is what a running trial knows.
type Progress struct {
	Stage     string // trial or attribution
	Done      int    // runs made
	Planned   int    // runs at most
	Left      time.Duration
	Estimate  *stats.Interval // of the last arm against the reference
	LastGood  float64         // goodput of the last run, bit/s
	LastLabel string          // what that run was
}

const maxLost = 3

// errLost ends a trial whose runs keep failing.
var errLost = errors.New("too many runs failed")

// Compare runs the trial. What was measured before an error is in the result.
func Compare(ctx context.Context, d Design, measure Measure, report func(Progress)) (Result, error) {
	result := Result{Design: d}
	// Every comparison with the reference may err; they share alpha equally.
	looks, err := stats.NewLooks(d.MaxPairs, d.Looks, d.Alpha/float64(max(1, len(d.Arms)-1)))
	if err != nil {
		return result, fmt.Errorf("trial: %w", err)
	}
	start := time.Now()
	blocks := stats.Schedule(len(d.Arms), (d.MaxPairs+1)/2, d.Seed)
	for _, block := range blocks {
		for half := range 2 {
			arms := block[half*len(d.Arms) : (half+1)*len(d.Arms)]
			if out := outOfTime(d.Deadline, start, len(result.Runs), len(d.Arms)); out && result.Pairs >= 2 {
				looks, err = looks.Truncate(result.Pairs)
				result.conclude(looks)
				return result, err
			}
			if err := result.pair(ctx, arms, start, measure, report); err != nil {
				result.conclude(looks)
				return result, err
			}
			if _, planned := looks.At(result.Pairs); planned {
				if result.conclude(looks); result.decided() {
					return result, nil
				}
			}
		}
	}
	return result, nil
}

// outOfTime tells whether another pair would end after the deadline, judged by
// the runs so far.
func outOfTime(deadline, start time.Time, runs, arms int) bool {
	if deadline.IsZero() || runs == 0 {
		return false
	}
	now := time.Now()
	each := now.Sub(start) / time.Duration(runs)
	return now.Add(each * time.Duration(arms)).After(deadline)
}

// pair runs every arm once, each again when its run is lost.
func (r *Result) pair(ctx context.Context, arms []int, start time.Time, measure Measure, report func(Progress)) error {
	for _, arm := range arms {
		run, err := r.attempt(ctx, arm, measure)
		if err != nil {
			r.dropIncomplete()
			return err
		}
		r.Runs = append(r.Runs, Run{Arm: arm, Order: len(r.Runs), Pair: r.Pairs, Run: run})
		report(r.progress(start, run, arm))
	}
	r.Pairs++
	return nil
}

func (r *Result) attempt(ctx context.Context, arm int, measure Measure) (workload.Run, error) {
	for {
		run, err := measure(ctx, arm)
		if err == nil {
			return run, nil
		}
		if ctx.Err() != nil {
			return run, ctx.Err()
		}
		if !errors.Is(err, workload.ErrTool) {
			return run, err
		}
		r.Lost = append(r.Lost, fmt.Sprintf("%s: %v", r.Design.Arms[arm], err))
		if len(r.Lost) > maxLost {
			return run, fmt.Errorf("%w: %w", errLost, err)
		}
	}
}

func (r *Result) dropIncomplete() {
	for len(r.Runs) > 0 && r.Runs[len(r.Runs)-1].Pair == r.Pairs {
		r.Runs = r.Runs[:len(r.Runs)-1]
	}
}

func (r *Result) progress(start time.Time, run workload.Run, arm int) Progress {
	planned := r.Design.MaxPairs * len(r.Design.Arms)
	each := time.Since(start) / time.Duration(len(r.Runs))
	p := Progress{Stage: "trial", Done: len(r.Runs), Planned: planned, LastGood: run.GoodputBPS, LastLabel: r.Design.Arms[arm],
		Left: each * time.Duration(planned-len(r.Runs))}
	if !r.Design.Deadline.IsZero() {
		p.Left = min(p.Left, time.Until(r.Design.Deadline))
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
	reference, other := r.goodput(0), r.goodput(arm)
	n := min(len(reference), len(other))
	return stats.LogRatios(reference[:n], other[:n])
}

// goodput returns the goodput of an arm's runs in the order of pairs.
func (r *Result) goodput(arm int) []float64 {
	var out []float64
	for _, run := range r.Runs {
		if run.Arm == arm {
			out = append(out, run.GoodputBPS)
		}
	}
	return out
}

// conclude computes the comparisons at the level of the look at hand; between
// looks, after an interruption, at the strictest level.
func (r *Result) conclude(looks stats.Looks) {
	level := looks.Plan[0].Level
	if look, ok := looks.At(r.Pairs); ok {
		level = look.Level
	}
	r.Comparisons = nil
	for arm := 1; arm < len(r.Design.Arms); arm++ {
		c := Comparison{Arm: arm, Verdict: stats.NotEnough, Wilcoxon: 1}
		logs, err := r.logRatios(arm)
		if err == nil {
			c.Interval, err = stats.PairedRatio(logs, 1-level)
		}
		if err == nil {
			c.Verdict = stats.Judge(c.Interval, r.Design.Margin, true)
			if p, err := stats.Wilcoxon(logs); err == nil {
				c.Wilcoxon = p
			}
		}
		r.Comparisons = append(r.Comparisons, c)
	}
	r.warn()
}

func (r *Result) decided() bool {
	for _, c := range r.Comparisons {
		if c.Verdict == stats.NotEnough {
			return false
		}
	}
	return true
}

// warn collects what weakens the conclusion.
func (r *Result) warn() {
	var logs []float64
	var arms []int
	for _, run := range r.Runs {
		logs, arms = append(logs, math.Log(run.GoodputBPS)), append(arms, run.Arm)
	}
	r.Warnings, _ = stats.CheckRuns(logs, arms)
	for arm := 1; arm < len(r.Design.Arms); arm++ {
		if ratios, err := r.logRatios(arm); err == nil {
			w, _ := stats.CheckPairs(ratios, r.Design.Margin, r.Design.Alpha, 0.8)
			r.Warnings = append(r.Warnings, w...)
		}
	}
}

// Median returns the median goodput of an arm in bit/s; 0 without runs.
func (r *Result) Median(arm int) float64 {
	if g := r.goodput(arm); len(g) > 0 {
		return stats.Median(g)
	}
	return 0
}
