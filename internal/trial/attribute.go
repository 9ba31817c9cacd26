package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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
	LostOn   [][]bool // the settings that were on in them
}

// AttributedRun is one run of an attribution with the settings that were on.
type AttributedRun struct {
	On []bool
	workload.Run
}

// MeasureSetup makes one run with some settings on and the others off.
type MeasureSetup func(ctx context.Context, on []bool) (workload.Run, error)

// Attribute finds which settings make the difference.
func Attribute(ctx context.Context, d AttributionDesign, measure MeasureSetup, report func(Progress)) (Attribution,
	error) {
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
			err = withoutMetric(run, d.Metric)
		}
		if err != nil {
			if ctx.Err() != nil || !errors.Is(err, workload.ErrTool) ||
				len(result.Failures) >= MayLose(planned, len(result.Order)) {
				broken = err
			}
			result.Failures, result.LostOn = append(result.Failures, err.Error()), append(result.LostOn, on)
			return 0
		}
		result.Order = append(result.Order, AttributedRun{On: on, Run: run})
		n := len(result.Order)
		left := c.each() * time.Duration(max(0, planned-n))
		if !d.Deadline.IsZero() {
			left = min(left, max(0, time.Until(d.Deadline)))
		}
		report(Progress{Stage: "attribution", Done: n, Planned: planned, Left: left, Metric: d.Metric, LastValue: v})
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
	result.Attribution, err = stats.Attribute(stats.AttributionPlan{Settings: len(d.Settings), Runs: planned,
		Seed:  d.Seed,
		Alpha: d.Alpha, Margin: d.Margin, HigherIsBetter: !d.Lower}, block)
	if broken != nil {
		err = broken
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	result.Warnings = append(result.Warnings, result.orderWarnings(d.Metric)...)
	result.Warnings = append(result.Warnings, result.lostWarnings()...)
	return result, err
}

// orderWarnings looks for drift and for runs that resemble their neighbours, in
// the blocks of two runs of which the second is the first with everything
// switched: the settings hardly show in their mean.
func (a *Attribution) orderWarnings(metric string) []stats.Warning {
	var blocks []float64
	for i := 1; i < len(a.Order); i++ {
		one, other := a.Order[i-1], a.Order[i]
		if !mirrored(one.On, other.On) {
			continue
		}
		v, _ := one.Value(metric)
		w, _ := other.Value(metric)
		blocks = append(blocks, (math.Log(v)+math.Log(w))/2)
		i++
	}
	all, err := stats.CheckRuns(blocks, make([]int, len(blocks)))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(w stats.Warning) bool {
		return w.Code != stats.CodeDrift && w.Code != stats.CodeAutocorrelation
	})
}

func mirrored(a, b []bool) bool {
	for i := range a {
		if a[i] == b[i] {
			return false
		}
	}
	return true
}

// lostWarnings names the settings that were on, or off, in every lost run: what
// such runs would have shown is not in the shares.
func (a *Attribution) lostWarnings() []stats.Warning {
	var out []stats.Warning
	if len(a.LostOn) < 3 {
		return nil
	}
	for i, name := range a.Settings {
		on := 0
		for _, setup := range a.LostOn {
			if setup[i] {
				on++
			}
		}
		state := "on"
		if on == 0 {
			state = "off"
		}
		// As many runs on one side by chance alone: 2^(1-n), over all settings.
		if (on == 0 || on == len(a.LostOn)) && float64(len(a.Settings))*math.Pow(0.5, float64(len(a.LostOn)-1)) < 0.3 {
			out = append(out, stats.Warning{Code: CodeLost, Value: float64(len(a.LostOn)), Run: -1,
				Text: fmt.Sprintf("%s was %s in all %d lost runs: it may be why, and the shares do not count that",
					name, state, len(a.LostOn))})
		}
	}
	return out
}
