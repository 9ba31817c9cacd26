package report

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// An axis keeps the order of values, its ends inside the picture, and few ticks.
func TestAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e12), 1, 20).Draw(t, "values")
		a := newAxis(rapid.Bool().Draw(t, "log"), values...)
		slices.Sort(values)
		last := 0.0
		for _, v := range values {
			x := a.at(v)
			if !(x >= inset-1e-9 && x <= 1-inset+1e-9) || x < last {
				t.Fatalf("%g lies at %g after %g on %+v", v, x, last, a)
			}
			last = x
		}
		ticks := a.widen(0.05).ticks(shortBits)
		if len(ticks) > 9 {
			t.Fatalf("%d ticks on %+v", len(ticks), a)
		}
		for _, tick := range ticks {
			if math.IsNaN(tick.value) || tick.label == "" {
				t.Fatalf("tick %+v", tick)
			}
		}
	})
}

func TestAxisPositions(t *testing.T) {
	a := axis{log: true, min: 1e8, max: 1e10}
	if x := a.at(1e9); math.Abs(x-0.5) > 1e-9 {
		t.Errorf("the middle of two decades lies at %g", x)
	}
	if x := (axis{min: 2, max: 4}).at(3); math.Abs(x-0.5) > 1e-9 {
		t.Errorf("the middle of a linear axis lies at %g", x)
	}
}

func TestMove(t *testing.T) {
	for _, c := range []struct {
		before, after float64
		want          string
	}{
		{6.61e8, 2.96e10, "0.661 → 29.6 Gbit/s"}, {3.3e8, 9.91e8, "330 → 991 Mbit/s"}, {9.414e9, 9.414e9, "9.41 Gbit/s"},
		{0, 5e6, "5.00 Mbit/s"}, {5e6, 0, "5.00 Mbit/s"}, {0, 0, notKnown}, {120, 900, "120 → 900 bit/s"},
	} {
		if got := move(c.before, c.after); got != c.want {
			t.Errorf("move(%g, %g) = %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

func TestPairRatios(t *testing.T) {
	r := Result{Arms: []Arm{
		{Runs: []Run{{Pair: 0, Metrics: Metrics{GoodputBPS: 1e9}}, {Pair: 1, Metrics: Metrics{GoodputBPS: 2e9}}, {Pair: 2}}},
		{Runs: []Run{{Pair: 1, Metrics: Metrics{GoodputBPS: 3e9}}, {Pair: 0, Metrics: Metrics{GoodputBPS: 2e9}}, {Pair: 2, Metrics: Metrics{GoodputBPS: 1}}, {Pair: 7, Metrics: Metrics{GoodputBPS: 1}}}},
	}}
	if got := pairRatios(r, 1); !slices.Equal(got, []float64{1.5, 2}) {
		t.Errorf("got %v", got)
	}
}

func TestShiftEstimate(t *testing.T) {
	ends := []float64{0.19, 0.21, 0.145, 0.155}
	e := shiftEstimate(weblog.Shift{Percentile: "95", Verdict: stats.Helps,
		Before: latency.Estimate{Value: 0.2, Low: &ends[0], High: &ends[1]}, After: latency.Estimate{Value: 0.15, Low: &ends[2], High: &ends[3]}})
	for _, c := range [][2]float64{{e.ratio, 0.75}, {e.low, 0.7067147336}, {e.high, 0.7970446649}} { // the formula worked out by hand
		if math.Abs(c[0]-c[1]) > 1e-9 {
			t.Errorf("got %g, want %g in %+v", c[0], c[1], e)
		}
	}
	if e.words != "−25.0% (−29.3% to −20.3%)" {
		t.Errorf("got %q", e.words)
	}
	if e := shiftEstimate(weblog.Shift{Percentile: "50", After: latency.Estimate{Value: 1}}); e.ratio != 0 {
		t.Errorf("a ratio to nothing: %+v", e)
	}
}

func TestRows(t *testing.T) {
	table := rows(sampleHelps())
	if len(table) != 6 || table[4].Name != "ports of client" || !table[1].Binds || table[1].BindsA || table[0].Binds || !table[0].BindsA {
		t.Errorf("the send window binds as found and the link with the plan; got %+v", table)
	}
}
