package stats

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestQuantiles(t *testing.T) {
	ten := []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	near(t, "median", Median(ten), 5.5, 0)
	near(t, "odd median", Median(ten[:3]), 9, 0)
	near(t, "R's quantile(1:10, 0.25)", Quantile(ten, 0.25), 3.25, 1e-12)
	near(t, "lowest", Quantile(ten, 0), 1, 0)
	near(t, "highest", Quantile(ten, 1), 10, 0)
	if ten[0] != 10 {
		t.Error("the values were reordered")
	}
	for _, got := range []float64{Median(nil), Quantile(ten, -0.1), Quantile(ten, 1.1), Quantile(ten, math.NaN())} {
		if !math.IsNaN(got) {
			t.Errorf("got %v, want NaN", got)
		}
	}
}

// TestQuantileInterval compares with binomial tables: for the median of 20
// values ranks 6 and 15 cover 95.86%, and 6 values are the fewest for 95%.
func TestQuantileInterval(t *testing.T) {
	values := make([]float64, 20)
	for i := range values {
		values[i] = float64(20 - i)
	}
	got, err := QuantileInterval(values, 0.5, 0.95)
	if err != nil || got.Low != 6 || got.High != 15 || got.Value != 10.5 {
		t.Errorf("got %+v, %v", got, err)
	}
	near(t, "coverage", got.Confidence, 0.9586, 5e-5)
	six, err := QuantileInterval(values[:6], 0.5, 0.95)
	if err != nil || six.Low != 15 || six.High != 20 {
		t.Errorf("got %+v, %v", six, err)
	}
	if _, err := QuantileInterval(values[:5], 0.5, 0.95); err == nil || !strings.Contains(err.Error(), "6 are needed") {
		t.Errorf("five values: %v", err)
	}
	if _, err := QuantileInterval(values, 0.99, 0.95); err == nil || !strings.Contains(err.Error(), "299 are needed") {
		t.Errorf("99th percentile of 20 values: %v", err)
	}
	for _, q := range []float64{0, 1, math.NaN()} {
		if _, err := QuantileInterval(values, q, 0.95); err == nil {
			t.Errorf("quantile %v: want an error", q)
		}
	}
}

func TestQuantileIntervalCovers(t *testing.T) {
	rng := newRand(23)
	covered := 0
	const trials = 3000
	for range trials {
		values := make([]float64, 60)
		for i := range values {
			values[i] = rng.ExpFloat64()
		}
		got, err := QuantileInterval(values, 0.9, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if truth := -math.Log(0.1); got.Low <= truth && truth <= got.High {
			covered++
		}
	}
	near(t, "coverage", float64(covered)/trials, 0.955, 0.015)
}

func TestBootstrap(t *testing.T) {
	rng := newRand(3)
	values := make([]float64, 101)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	low, high, err := Bootstrap(values, mean, 0.95, 20_000, 9)
	if err != nil {
		t.Fatal(err)
	}
	half := 1.96 * stat.PopStdDev(values, nil) / math.Sqrt(101)
	near(t, "low", low, mean(values)-half, 0.01)
	near(t, "high", high, mean(values)+half, 0.01)
	again, _, _ := Bootstrap(values, mean, 0.95, 20_000, 9)
	other, _, _ := Bootstrap(values, mean, 0.95, 20_000, 10)
	if again != low || other == low {
		t.Error("the interval does not follow from the seed")
	}
	for _, bad := range [][]float64{nil, {1}, {1, math.NaN()}} {
		if _, _, err := Bootstrap(bad, mean, 0.95, 1000, 1); err == nil {
			t.Errorf("%v: want an error", bad)
		}
	}
	if _, _, err := Bootstrap(values, mean, 0.95, 10, 1); err == nil {
		t.Error("10 resamples: want an error")
	}
}

// BenchmarkBootstrap reports resamples of 12 values a second.
func BenchmarkBootstrap(b *testing.B) {
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	const resamples = 100_000
	for b.Loop() {
		if _, _, err := Bootstrap(values, mean, 0.95, resamples, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*resamples/b.Elapsed().Seconds(), "resamples/s")
}

func TestMSER5(t *testing.T) {
	rng := newRand(8)
	samples := make([]float64, 100)
	for i := range samples {
		samples[i] = 100 + rng.NormFloat64()
		if i < 12 {
			samples[i] -= 60 * (1 - float64(i)/12)
		}
	}
	omit, settled, err := MSER5(samples)
	if err != nil || !settled || omit < 10 || omit > 20 {
		t.Errorf("omit %d, settled %v, %v", omit, settled, err)
	}
	if w, found := CheckStartUp(samples, 5); !found || w.Code != CodeStartUp {
		t.Errorf("a short omission passes: %+v", w)
	}
	if w, found := CheckStartUp(samples, omit); found {
		t.Errorf("the right omission does not pass: %+v", w)
	}
	for i := range samples {
		samples[i] = float64(i)
	}
	if _, settled, _ := MSER5(samples); settled {
		t.Error("a ramp is said to settle")
	}
	if _, _, err := MSER5(samples[:19]); err == nil {
		t.Error("19 samples: want an error")
	}
}

// session returns logs of n alternating runs of two arms.
func session(n int, value func(i int) float64) (logs []float64, arms []int) {
	for i := range n {
		logs = append(logs, value(i)+0.3*float64(i%2))
		arms = append(arms, i%2)
	}
	return logs, arms
}

func codes(warnings []Warning) []string {
	var out []string
	for _, w := range warnings {
		out = append(out, w.Code)
	}
	return out
}

func TestCheckRunsFindsTrouble(t *testing.T) {
	rng := newRand(31)
	noise := func() float64 { return 0.02 * rng.NormFloat64() }
	level := 0.0
	for code, value := range map[string]func(i int) float64{
		CodeDrift: func(i int) float64 { return noise() + 0.004*float64(i) },
		CodeAutocorrelation: func(i int) float64 {
			level = 0.8*level + noise()
			return level
		},
		CodeBimodal: func(i int) float64 { return noise() + 0.3*float64((i/2*7)%2) },
		CodeOutlier: func(i int) float64 { return noise() - 0.5*math.Floor(float64((i+20)%40)/39) },
		CodeNoisy:   func(i int) float64 { return 10 * noise() },
	} {
		warnings, err := CheckRuns(session(40, value))
		if err != nil || !slices.Contains(codes(warnings), code) {
			t.Errorf("%s is not among %v, %v", code, codes(warnings), err)
		}
		for _, w := range warnings {
			if w.Text == "" || (w.Code == CodeOutlier) != (w.Run >= 0) {
				t.Errorf("warning %+v", w)
			}
		}
	}
	// A change in the middle of a session is a drift.
	warnings, _ := CheckRuns(session(24, func(i int) float64 { return noise() + 0.08*float64(i/12) }))
	if !slices.Contains(codes(warnings), CodeDrift) {
		t.Errorf("a step in the middle gives %v", codes(warnings))
	}
}

func TestCheckRunsStaysQuiet(t *testing.T) {
	rng := newRand(37)
	const sessions = 2000
	for _, n := range []int{8, 24, 100} {
		alarms := map[string]int{}
		for range sessions {
			warnings, _ := CheckRuns(session(n, func(int) float64 { return 0.05 * rng.NormFloat64() }))
			for _, code := range codes(warnings) {
				alarms[code]++
			}
		}
		for code, count := range alarms {
			if rate := float64(count) / sessions; rate > 0.02 {
				t.Errorf("%d runs: false %s in %.3f of sessions", n, code, rate)
			}
		}
	}
	for _, logs := range [][]float64{nil, {1}, {1, 1, 1, 1}} {
		if got, err := CheckRuns(logs, make([]int, len(logs))); err != nil || got != nil {
			t.Errorf("%v: %v, %v", logs, got, err)
		}
	}
	if _, err := CheckRuns([]float64{1, 2}, []int{0}); err == nil {
		t.Error("a run without an arm: want an error")
	}
	if _, err := CheckRuns([]float64{1, math.Inf(1)}, []int{0, 1}); err == nil {
		t.Error("an infinite value: want an error")
	}
}

// TestModesLimit repeats the simulation to which the limit was fitted.
func TestModesLimit(t *testing.T) {
	rng := newRand(41)
	for _, n := range []int{12, 24, 60, 150} {
		shares := make([]float64, 8000)
		values := make([]float64, n)
		for i := range shares {
			for j := range values {
				values[j] = rng.NormFloat64()
			}
			slices.Sort(values)
			shares[i], _ = bestSplit(values)
		}
		near(t, "99% quantile", Quantile(shares, 0.99), modesLimit(n), 0.012)
	}
}

func TestCheckPairs(t *testing.T) {
	rng := newRand(43)
	d := make([]float64, 8)
	for i := range d {
		d[i] = 0.07 * rng.NormFloat64()
	}
	warnings, err := CheckPairs(d, 0.02, 0.05, 0.8)
	if err != nil || !slices.Contains(codes(warnings), CodeTooFew) {
		t.Fatalf("got %v, %v", warnings, err)
	}
	if w := warnings[0]; w.Need <= len(d) || w.Need != PairsNeeded(0.02, stat.StdDev(d, nil), 0.05, 0.8) {
		t.Errorf("needs %d", w.Need)
	}
	if got, err := CheckPairs([]float64{0.1, 0.1, 0.1}, 0.02, 0.05, 0.8); err != nil || !slices.Equal(codes(got), []string{CodeNoSpread}) {
		t.Errorf("equal ratios: %v, %v", got, err)
	}
	outlier := []float64{0.01, 0.012, 0.011, 0.013, 0.009, 0.012, 0.010, 0.4}
	if got, _ := CheckPairs(outlier, 0.02, 0.05, 0.8); !slices.Contains(codes(got), CodeDisagree) {
		t.Errorf("an outlier among equal pairs: %v", codes(got))
	}
	if _, err := CheckPairs([]float64{1}, 0.02, 0.05, 0.8); err == nil {
		t.Error("one pair: want an error")
	}
}
