package stats

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v (±%v)", what, got, want, tolerance)
	}
}

// sleep holds the differences of Student's sleep data ("The Probable Error of a
// Mean", Biometrika 6, 1908); expected values are those of R's t.test(sleep).
var sleep = []float64{1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4}

func TestPairedAgainstSleepData(t *testing.T) {
	test, err := TTest(sleep)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mean", test.Mean, 1.58, 1e-12)
	near(t, "t", test.T, 4.0621, 5e-5)
	near(t, "p", test.P, 0.002833, 5e-7)
	near(t, "one-sided p", test.Greater, 0.002833/2, 5e-7)
	near(t, "other side", test.Less, 1-0.002833/2, 5e-7)

	interval, err := PairedRatio(sleep, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ratio", math.Log(interval.Ratio), 1.58, 1e-12)
	near(t, "low", math.Log(interval.Low), 0.7001142, 5e-8)
	near(t, "high", math.Log(interval.High), 2.4598858, 5e-8)
	if interval.Pairs != 10 || interval.Confidence != 0.95 {
		t.Errorf("interval is %+v", interval)
	}
}

func TestPairedRatioErrors(t *testing.T) {
	for name, c := range map[string]struct {
		values     []float64
		confidence float64
	}{
		"none":          {nil, 0.95},
		"one pair":      {[]float64{0.5}, 0.95},
		"not a number":  {[]float64{0.5, math.NaN()}, 0.95},
		"infinite":      {[]float64{0.5, math.Inf(-1)}, 0.95},
		"confidence 1":  {[]float64{0.5, 0.6}, 1},
		"confidence 0":  {[]float64{0.5, 0.6}, 0},
		"no confidence": {[]float64{0.5, 0.6}, math.NaN()},
	} {
		if got, err := PairedRatio(c.values, c.confidence); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

func TestEqualRatiosHaveNoWidth(t *testing.T) {
	interval, err := PairedRatio([]float64{0, 0, 0}, 0.95)
	if err != nil || interval.Low != 1 || interval.High != 1 {
		t.Errorf("got %+v, %v", interval, err)
	}
	test, _ := TTest([]float64{0, 0})
	near(t, "p of zeros", test.P, 1, 0)
	test, _ = TTest([]float64{2, 2})
	near(t, "p of equal values", test.P, 0, 0)
}

func TestLogRatios(t *testing.T) {
	got, err := LogRatios([]float64{100, 200}, []float64{110, 180})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "first", got[0], math.Log(1.1), 1e-12)
	near(t, "second", got[1], math.Log(0.9), 1e-12)
	for _, bad := range [][2][]float64{
		{{1}, {1, 2}}, {{0}, {1}}, {{1}, {0}}, {{-1}, {1}}, {{math.NaN()}, {1}}, {{1}, {math.Inf(1)}},
	} {
		if _, err := LogRatios(bad[0], bad[1]); err == nil {
			t.Errorf("%v against %v: want an error", bad[1], bad[0])
		}
	}
}

func TestSwappingArmsInvertsTheRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 30).Draw(t, "log-ratios")
		negative := make([]float64, len(d))
		for i, v := range d {
			negative[i] = -v
		}
		a, errA := PairedRatio(d, 0.9)
		b, errB := PairedRatio(negative, 0.9)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if math.Abs(a.Ratio*b.Ratio-1) > 1e-9 || math.Abs(a.Low*b.High-1) > 1e-9 {
			t.Fatalf("%+v is not the inverse of %+v", a, b)
		}
		if !(a.Low <= a.Ratio && a.Ratio <= a.High) {
			t.Fatalf("%+v is out of order", a)
		}
		for _, higher := range []bool{true, false} {
			if Judge(a, 0.02, higher) != Judge(b, 0.02, !higher) {
				t.Fatalf("the verdict on %+v changes when the arms and the direction do", a)
			}
		}
	})
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name             string
		low, ratio, high float64
		higher           bool
		want             Verdict
	}{
		{"clear gain", 1.03, 1.05, 1.07, true, Helps},
		{"the same for latency", 1.03, 1.05, 1.07, false, Hurts},
		{"clear loss", 0.90, 0.92, 0.94, true, Hurts},
		{"lower latency", 0.90, 0.92, 0.94, false, Helps},
		{"within the margin", 0.985, 1.001, 1.015, true, NoDifference},
		{"within the margin and not 1", 1.005, 1.01, 1.015, true, NoDifference},
		{"just beyond the margin", 1.005, 1.021, 1.04, true, Helps},
		{"gain below the margin, unsure", 1.005, 1.015, 1.03, true, NotEnough},
		{"wide", 0.9, 1.05, 1.2, true, NotEnough},
		{"never measured", 0, 0, 0, true, NotEnough},
		{"not a number", math.NaN(), 1, 1, true, NotEnough},
	} {
		i := Interval{Ratio: c.ratio, Low: c.low, High: c.high, Confidence: 0.95, Pairs: 10}
		if got := Judge(i, 0.02, c.higher); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	one := Interval{Ratio: 2, Low: 1.9, High: 2.1, Confidence: 0.95, Pairs: 1}
	if got := Judge(one, 0.02, true); got != NotEnough {
		t.Errorf("one pair: %s", got)
	}
}

func TestWilcoxon(t *testing.T) {
	for _, c := range []struct {
		name string
		d    []float64
		want float64
	}{
		// Hollander and Wolfe (1973), page 29, depression scale; R's
		// wilcox.test gives V = 40 and a one-sided p of 0.01953.
		{"depression scale", []float64{
			1.83 - 0.878, 0.50 - 0.647, 1.62 - 0.598, 2.48 - 2.05, 1.68 - 1.06,
			1.88 - 1.29, 1.55 - 1.06, 3.06 - 3.14, 1.30 - 1.29,
		}, 0.0390625},
		{"six alike are the fewest below 0.05", []float64{1, 2, 3, 4, 5, 6}, 2.0 / 64},
		{"five are not enough", []float64{1, 2, 3, 4, 5}, 2.0 / 32},
		{"zeros only", []float64{0, 0}, 1},
		{"one", []float64{3}, 1},
		// Pratt: the zero takes rank 1, so the signed ranks are 2 and 3; all
		// four sign patterns differ and the observed one is the most extreme.
		{"zeros are ranked", []float64{0, 1, 2}, 0.5},
		// Tied ranks 1.5, 1.5, 3: sums of positive ranks are 0, 1.5 (twice), 3
		// (twice), 4.5 (twice), 6; the observed 4.5 or more has 3 of 8.
		{"ties", []float64{1, -1, 2}, 0.75},
		// Ranks 2, 2, 2, 4: the observed 6 is reached or passed by 8 of 16 sums.
		{"ties share their mean rank", []float64{1, 1, 1, -2}, 1},
	} {
		got, err := Wilcoxon(c.d)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		near(t, c.name, got, c.want, 1e-12)
	}
	for _, bad := range [][]float64{nil, {math.NaN()}} {
		if _, err := Wilcoxon(bad); err == nil {
			t.Errorf("%v: want an error", bad)
		}
	}
}

func TestWilcoxonApproximationMeetsExact(t *testing.T) {
	rng := newRand(5)
	for range 20 {
		d := make([]float64, exactWilcoxon)
		for i := range d {
			d[i] = 0.3 + rng.NormFloat64()
		}
		ranks, plus := signedRanks(d)
		near(t, "normal p", wilcoxonNormal(ranks, plus), wilcoxonExact(ranks, plus), 0.005)
	}
	long := make([]float64, 200)
	for i := range long {
		long[i] = 1 + float64(i%7) - 3.5
	}
	if p, err := Wilcoxon(long); err != nil || !(p > 0 && p < 0.01) {
		t.Errorf("p %v, %v", p, err)
	}
}

func TestHolm(t *testing.T) {
	// R: p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm")
	p := []float64{0.04, 0.01, 0.03, 0.02}
	want := []float64{0.06, 0.04, 0.06, 0.06}
	for i, got := range HolmAdjusted(p) {
		near(t, "adjusted p", got, want[i], 1e-12)
	}
	if got := HolmAdjusted([]float64{math.NaN(), 0.01}); got[0] != 1 || math.Abs(got[1]-0.02) > 1e-12 {
		t.Errorf("with a value missing: %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "p")
		adjusted := HolmAdjusted(p)
		for i := range p {
			if adjusted[i] < p[i] || adjusted[i] > math.Min(1, p[i]*float64(len(p)))+1e-12 && adjusted[i] != maxBelow(adjusted, p, i) {
				t.Fatalf("p %v adjusted %v", p, adjusted)
			}
			for j := range p {
				if p[i] < p[j] && adjusted[i] > adjusted[j] {
					t.Fatalf("order lost: %v, %v", p, adjusted)
				}
			}
		}
	})
}

// maxBelow is the largest adjusted value among smaller p-values.
func maxBelow(adjusted, p []float64, i int) float64 {
	highest := 0.0
	for j := range p {
		if j != i && p[j] <= p[i] {
			highest = math.Max(highest, adjusted[j])
		}
	}
	return highest
}

// TestPowerTables compares with G*Power 3.1 (t tests, two dependent means,
// two-sided 0.05): dz 0.5 needs 34 pairs with power 0.8078, dz 0.8 needs 15
// with power 0.8213; and with the design table for independent runs.
func TestPowerTables(t *testing.T) {
	near(t, "power at 34", Power(34, math.Expm1(0.5), 1, 0.05), 0.8077775, 1e-6)
	near(t, "power at 15", Power(15, math.Expm1(0.8), 1, 0.05), 0.8213105, 1e-6)
	if got := PairsNeeded(math.Expm1(0.5), 1, 0.05, 0.8); got != 34 {
		t.Errorf("%d pairs, want 34", got)
	}
	want := map[float64][3]int{0.02: {10, 5, 3}, 0.05: {47, 19, 7}, 0.10: {182, 68, 20}}
	for cv, pairs := range want {
		for i, effect := range []float64{0.03, 0.05, 0.10} {
			if got := PairsNeeded(effect, cv*math.Sqrt2, 0.05, 0.8); got != pairs[i] {
				t.Errorf("cv %v, effect %v: %d pairs, want %d", cv, effect, got, pairs[i])
			}
		}
	}
}

func TestMinDetectableInvertsPower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.IntRange(2, 200).Draw(t, "pairs")
		sd := rapid.Float64Range(0.001, 0.3).Draw(t, "sd")
		effect := MinDetectable(pairs, sd, 0.05, 0.8)
		if got := Power(pairs, effect, sd, 0.05); math.Abs(got-0.8) > 1e-6 {
			t.Fatalf("power at %v is %v", effect, got)
		}
		if need := PairsNeeded(effect*(1+1e-6), sd, 0.05, 0.8); need > pairs {
			t.Fatalf("%d pairs needed for what %d detect", need, pairs)
		}
	})
}

func TestPowerOutOfRange(t *testing.T) {
	for name, got := range map[string]float64{
		"one pair":     MinDetectable(1, 0.1, 0.05, 0.8),
		"no sd":        MinDetectable(10, math.NaN(), 0.05, 0.8),
		"power 1":      MinDetectable(10, 0.1, 0.05, 1),
		"alpha 0":      MinDetectable(10, 0.1, 0, 0.8),
		"negative sd":  MinDetectable(10, -0.1, 0.05, 0.8),
		"power as low": MinDetectable(10, 0.1, 0.05, 0.05),
	} {
		if !math.IsInf(got, 1) {
			t.Errorf("%s: %v, want +Inf", name, got)
		}
	}
	near(t, "no noise", MinDetectable(10, 0, 0.05, 0.8), 0, 0)
	if got := PairsNeeded(0, 0.1, 0.05, 0.8); got != math.MaxInt {
		t.Errorf("no effect needs %d pairs", got)
	}
	if got := PairsNeeded(0.05, 0, 0.05, 0.8); got != 2 {
		t.Errorf("no noise needs %d pairs", got)
	}
	if got := PairsNeeded(-0.05, 0.1, 0.05, 0.8); got != PairsNeeded(1/0.95-1, 0.1, 0.05, 0.8) {
		t.Errorf("a loss needs %d pairs, its inverse gain another number", got)
	}
	if got := PairsNeeded(1e-9, 1, 0.05, 0.8); got != math.MaxInt {
		t.Errorf("an infeasible effect needs %d pairs", got)
	}
}

// TestWildPairs: limits beyond all bounds are still numbers, which JSON holds.
func TestWildPairs(t *testing.T) {
	for _, logs := range [][]float64{{3, -3}, {50, -50}, {690, 700}, {-700, 700, 700}} {
		i, err := PairedRatio(logs, 0.999)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(i); err != nil || !(i.Low > 0) || i.Low > i.Ratio || i.Ratio > i.High {
			t.Errorf("%v: %+v, %v", logs, i, err)
		}
	}
}
