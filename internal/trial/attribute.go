package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// AttributionDesign is how an attribution is made.
type AttributionDesign struct {
	Settings []string // what is switched on and off
	MaxRuns  int      // 0: four times as many as the design needs
	Alpha    float64
	Margin   float64
	Seed     uint64
	Deadline time.Time
	Metric   string // that decides; empty means goodput
	Lower    bool   // whether a smaller value of it is better
	Resumed  int    // how many of the first runs come from records
}

// Attribution is each setting's share of a gain.
type Attribution struct {
	Settings []string
	stats.Attribution
	Order    []AttributedRun
	Failures []string // of lost runs
}

// AttributedRun is one run of an attribution with the settings that were on.
type AttributedRun struct {
	On []bool
	workload.Run
}

// MeasureSetup makes one run with some settings on and the others off.
type MeasureSetup func(ctx context.Context, on []bool) (workload.Run, error)

// Attribute finds which settings make the difference.
func Attribute(ctx context.Context, d AttributionDesign, measure MeasureSetup, report func(Progress)) (Attribution, error) {
	result := Attribution{Settings: d.Settings}
	need := stats.MinRuns(len(d.Settings))
	planned := d.MaxRuns
	if planned < need {
		planned = max(need, min(4*need, need+40))
	}
	c := &clock{start: time.Now(), skip: d.Resumed}
	var broken error
	one := func(on []bool) float64 {
		run, err := measure(ctx, on)
		c.tick()
		v, ok := run.Value(d.Metric)
		if err == nil && !(ok && v > 0) {
			err = fmt.Errorf("%w: the run has no %s above 0", workload.ErrTool, d.Metric)
		}
		if err != nil {
			if ctx.Err() != nil || !errors.Is(err, workload.ErrTool) || len(result.Failures) >= max(maxLost, planned/10) {
				broken = err
			}
			result.Failures = append(result.Failures, err.Error())
			return 0
		}
		result.Order = append(result.Order, AttributedRun{On: on, Run: run})
		n := len(result.Order)
		left := c.each() * time.Duration(max(0, planned-n))
		if !d.Deadline.IsZero() {
			left = min(left, max(0, time.Until(d.Deadline)))
		}
		report(Progress{Stage: "attribution", Done: n, Planned: planned, Left: left, LastGood: run.GoodputBPS, LastValue: v, LastLabel: "settings on and off"})
		return v
	}
	block := func(b stats.Block) ([2]float64, error) {
		var values [2]float64
		if c.tooLate(d.Deadline, 2) {
			return values, stats.ErrStop
		}
		for i, setup := range b.Setups {
			if values[i] = one(setup); broken != nil {
				return values, broken
			}
		}
		return values, nil
	}
	var err error
	result.Attribution, err = stats.Attribute(stats.AttributionPlan{Settings: len(d.Settings), Runs: planned, Seed: d.Seed,
		Alpha: d.Alpha, Margin: d.Margin, HigherIsBetter: !d.Lower}, block)
	if broken != nil {
		err = broken
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return result, err
}
