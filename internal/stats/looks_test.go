package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// TestLooksAreExact simulates t-tests without an effect at every planned look.
// The rate of any crossing must be what the plan spends within four standard
// errors.
func TestLooksAreExact(t *testing.T) {
	const trials = 60_000
	for _, at := range [][]int{{12}, {4, 8, 12}, {2, 3, 4}, {2, 4, 6, 8, 10}, {6, 13, 20}, {30, 70}} {
		looks, err := NewLooks(at[len(at)-1], at, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		rate := crossings(looks, trials, 11)
		near(t, "false-positive rate", rate, 0.04, 4*math.Sqrt(0.04*0.96/trials))
	}
}

// crossings is the share of null trials in which any look rejects.
func crossings(looks Looks, trials int, seed uint64) float64 {
	critical := make([]float64, len(looks.Plan))
	for i, look := range looks.Plan {
		critical[i] = tQuantile(look.Pairs-1, 1-look.Level/2)
	}
	rng := newRand(seed)
	crossed := 0
	for range trials {
		var n, sum, squares float64
		for i, look := range looks.Plan {
			for ; int(n) < look.Pairs; n++ {
				x := rng.NormFloat64()
				sum += x
				squares += x * x
			}
			variance := (squares - sum*sum/n) / (n - 1)
			if math.Abs(sum)/math.Sqrt(n*variance) > critical[i] {
				crossed++
				break
			}
		}
	}
	return float64(crossed) / float64(trials)
}

// TestLooksMeetNormalTheory compares with the large-sample boundary of the
// second look, found here by integrating the bivariate normal distribution.
func TestLooksMeetNormalTheory(t *testing.T) {
	looks, err := NewLooks(600, []int{300, 600}, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	first := -normalQuantile(looks.Plan[0].Spent / 2)
	// Correlation of the statistics at half and all of the pairs.
	rho := math.Sqrt(0.5)
	crossing := func(c float64) float64 {
		total, step := 0.0, 2*first/4000
		for i := range 4000 {
			z := -first + (float64(i)+0.5)*step
			sd := math.Sqrt(1 - rho*rho)
			tail := 0.5*math.Erfc((c-rho*z)/sd/math.Sqrt2) + 0.5*math.Erfc((c+rho*z)/sd/math.Sqrt2)
			total += math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * tail * step
		}
		return total
	}
	low, high := 1.0, 4.0
	for range 60 {
		if c := (low + high) / 2; crossing(c) > 0.04-looks.Plan[0].Spent {
			low = c
		} else {
			high = c
		}
	}
	near(t, "level of the last look", looks.Plan[1].Level, math.Erfc(low/math.Sqrt2), 0.0005)
}

func TestNewLooksErrors(t *testing.T) {
	for _, c := range []struct {
		pairs int
		looks []int
		alpha float64
	}{
		{1, nil, 0.05}, {0, nil, 0.05}, {10, []int{1}, 0.05}, {10, []int{4, 4}, 0.05},
		{10, []int{6, 4}, 0.05}, {10, []int{12}, 0.05}, {10, nil, 0}, {10, nil, 1},
		{10, nil, math.NaN()}, {100_000, nil, 0.05},
	} {
		if got, err := NewLooks(c.pairs, c.looks, c.alpha); err == nil {
			t.Errorf("%+v: got %+v, want an error", c, got)
		}
	}
}

func TestLooksPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.IntRange(2, 24).Draw(t, "pairs")
		var at []int
		for n := 2; n < pairs; n++ {
			if rapid.IntRange(0, 5).Draw(t, "look") == 0 {
				at = append(at, n)
			}
		}
		looks, err := NewLooks(pairs, at, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if len(looks.Plan) != len(at)+1 || math.Abs(looks.Plan[len(at)].Spent-0.04) > 1e-12 {
			t.Fatalf("%+v", looks)
		}
		for i, look := range looks.Plan {
			// A look's level is at least what it newly spends and at most all
			// that is spent so far.
			newly := look.Spent
			if i > 0 {
				newly -= looks.Plan[i-1].Spent
			}
			if look.Level < newly-1e-9 || look.Level > look.Spent+1e-6 {
				t.Fatalf("look %+v of %+v", look, looks)
			}
			if got, ok := looks.At(look.Pairs); !ok || got != look {
				t.Fatalf("no look at %d", look.Pairs)
			}
		}
		if _, ok := looks.At(pairs + 1); ok {
			t.Fatal("a look beyond the plan")
		}
	})
}

func TestTruncatedPlanSpendsAll(t *testing.T) {
	looks, err := NewLooks(20, []int{6, 13, 20}, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	short, err := looks.Truncate(9)
	if err != nil {
		t.Fatal(err)
	}
	if len(short.Plan) != 2 || short.Plan[0] != looks.Plan[0] || short.Plan[1].Pairs != 9 {
		t.Fatalf("plan %+v", short.Plan)
	}
	near(t, "false-positive rate", crossings(short, 60_000, 3), 0.04, 0.0032)
	for _, n := range []int{1, 21} {
		if _, err := looks.Truncate(n); err == nil {
			t.Errorf("truncated at %d", n)
		}
	}
	if _, err := (Looks{}).Truncate(5); err == nil {
		t.Error("truncated an empty plan")
	}
}

// trial runs one simulated comparison with looks and returns its verdict and
// last interval.
func trial(looks Looks, next func() float64, margin float64) (Verdict, Interval) {
	var d []float64
	var last Interval
	for _, look := range looks.Plan {
		for len(d) < look.Pairs {
			d = append(d, next())
		}
		last, _ = PairedRatio(d, 1-look.Level)
		if verdict := Judge(last, margin, true); verdict != NotEnough {
			return verdict, last
		}
	}
	return NotEnough, last
}

// TestTrialOperatingCharacteristics holds the figures that verdicts promise:
// false positives, coverage and power, with looks, a margin and Holm.
func TestTrialOperatingCharacteristics(t *testing.T) {
	looks, err := NewLooks(12, []int{4, 8, 12}, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	rng := newRand(2024)
	const trials = 2000
	for _, sd := range []float64{0.01, 0.03, 0.07} {
		wrong, covered := 0, 0
		for range trials {
			verdict, interval := trial(looks, func() float64 { return sd * rng.NormFloat64() }, 0.02)
			if verdict == Helps || verdict == Hurts {
				wrong++
			}
			if interval.Low <= 1 && 1 <= interval.High {
				covered++
			}
		}
		if rate := float64(wrong) / trials; rate > 0.05 {
			t.Errorf("sd %v: %.3f of null trials have a verdict", sd, rate)
		}
		if rate := float64(covered) / trials; rate < 0.93 {
			t.Errorf("sd %v: intervals cover in %.3f of trials", sd, rate)
		}
	}

	for _, sd := range []float64{0.01, 0.02, 0.03, 0.05, 0.1} {
		effect := MinWorthwhile(12, sd, looks.Plan[2].Level, 0.8, 0.02)
		seen := 0
		for range trials {
			verdict, _ := trial(looks, func() float64 { return math.Log1p(effect) + sd*rng.NormFloat64() }, 0.02)
			if verdict == Helps {
				seen++
			}
		}
		// Early looks add chances to pass the margin where the noise is small.
		if power := float64(seen) / trials; power < 0.75 || power > 0.9 {
			t.Errorf("sd %v: power %v, want 0.8", sd, power)
		}
	}

	families := 0
	const samples = 10_000
	for range samples {
		p := make([]float64, 5)
		for i := range p {
			d := make([]float64, 8)
			for j := range d {
				d[j] = rng.NormFloat64()
			}
			test, _ := TTest(d)
			p[i] = test.P
		}
		for _, adjusted := range HolmAdjusted(p) {
			if adjusted <= 0.05 {
				families++
				break
			}
		}
	}
	near(t, "rate of null families with a rejection", float64(families)/samples, 0.05, 0.0065)
}

func TestCoverageOfIntervals(t *testing.T) {
	rng := newRand(7)
	for _, pairs := range []int{2, 4, 12} {
		covered := 0
		const trials = 4000
		for range trials {
			d := make([]float64, pairs)
			for i := range d {
				d[i] = 0.1 + 0.05*rng.NormFloat64()
			}
			interval, _ := PairedRatio(d, 0.95)
			if interval.Low <= math.Exp(0.1) && math.Exp(0.1) <= interval.High {
				covered++
			}
		}
		near(t, "coverage", float64(covered)/trials, 0.95, 0.02)
	}
}

func BenchmarkNewLooks(b *testing.B) {
	for b.Loop() {
		if _, err := NewLooks(20, []int{6, 13, 20}, 0.05); err != nil {
			b.Fatal(err)
		}
	}
}

func normalQuantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }
