// Package stats holds wirerate's statistics: paired comparisons with intervals
// and verdicts, planned looks, multiple testing, power, screening designs,
// attribution of an effect to settings, and checks of the data. It is pure:
// no clock, no files, and every random choice follows from a seed.
//
// One run of a workload is one observation. Samples within a run are correlated
// and are never treated as replicates.
package stats

import (
	"fmt"
	"math"
)

// Interval is an estimated ratio b/a with its confidence limits, obtained from
// log-ratios: 1.05 means that b is 5% above a.
type Interval struct {
	Ratio      float64 // geometric mean of the pairs' ratios
	Low, High  float64 // limits of the ratio; 0 < Low <= Ratio <= High
	Confidence float64 // two-sided confidence level, 0 to 1 exclusive
	Pairs      int     // number of pairs behind the estimate, at least 2
}

// Test is the result of a t-test of zero mean.
type Test struct {
	Mean    float64 // of the observations
	StdErr  float64 // of the mean
	DF      int     // degrees of freedom
	T       float64 // Mean / StdErr; ±Inf when all observations are equal and not zero
	P       float64 // two-sided
	Greater float64 // one-sided p-value for a mean above zero
	Less    float64 // one-sided p-value for a mean below zero
}

// PairedRatio is the paired t interval of the mean log-ratio, transformed back
// to a ratio. One pair has no spread and is no evidence: fewer than two pairs
// are an error, as are values that are not finite and a confidence outside
// (0, 1). When all log-ratios are equal the interval has no width.
func PairedRatio(logRatios []float64, confidence float64) (Interval, error) {
	if !(confidence > 0 && confidence < 1) {
		return Interval{}, fmt.Errorf("confidence %v is outside 0 to 1", confidence)
	}
	test, err := TTest(logRatios)
	if err != nil {
		return Interval{}, err
	}
	half := tQuantile(test.DF, 1-(1-confidence)/2) * test.StdErr
	return Interval{
		Ratio:      ratioOf(test.Mean),
		Low:        ratioOf(test.Mean - half),
		High:       ratioOf(test.Mean + half),
		Confidence: confidence,
		Pairs:      len(logRatios),
	}, nil
}

// ratioOf is exp, within what a float64 and JSON hold: two pairs that contradict
// each other have limits beyond.
func ratioOf(log float64) float64 { return math.Exp(min(max(log, -690), 690)) }

// LogRatios returns log(b[i]/a[i]). Both slices need the same length and only
// positive, finite values: a run with zero throughput has no ratio.
func LogRatios(a, b []float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("%d values of one arm and %d of the other do not make pairs", len(a), len(b))
	}
	ratios := make([]float64, len(a))
	for i := range a {
		if !(a[i] > 0) || !(b[i] > 0) || math.IsInf(a[i], 1) || math.IsInf(b[i], 1) {
			return nil, fmt.Errorf("pair %d has no ratio: %v against %v", i+1, b[i], a[i])
		}
		ratios[i] = math.Log(b[i]) - math.Log(a[i])
	}
	return ratios, nil
}

// TTest tests whether the mean of d is zero by Student's t. It needs at least
// two finite values. Equal values give StdErr 0: then p is 1 when they are zero
// and 0 when they are not.
func TTest(d []float64) (Test, error) {
	if len(d) < 2 {
		return Test{}, fmt.Errorf("%d pairs are not evidence; at least 2 are needed", len(d))
	}
	if err := checkFinite(d); err != nil {
		return Test{}, err
	}
	mean, variance := moments(d)
	return newTest(mean, math.Sqrt(variance/float64(len(d))), len(d)-1), nil
}

// newTest completes a t-test from an estimate, its standard error and the
// degrees of freedom behind that error.
func newTest(mean, stdErr float64, df int) Test {
	test := Test{Mean: mean, StdErr: stdErr, DF: df}
	switch {
	case stdErr > 0:
		test.T = mean / stdErr
	case mean != 0:
		test.T = math.Inf(int(math.Copysign(1, mean)))
	}
	test.Less = tCDF(df, test.T)
	test.Greater = tCDF(df, -test.T)
	test.P = math.Min(1, 2*math.Min(test.Less, test.Greater))
	return test
}

// limits are the two-sided confidence limits of the tested mean.
func (t Test) limits(confidence float64) (low, high float64) {
	half := tQuantile(t.DF, 1-(1-confidence)/2) * t.StdErr
	return t.Mean - half, t.Mean + half
}

func tCDF(df int, t float64) float64 { return StudentCDF(float64(df), t) }

func tQuantile(df int, p float64) float64 { return StudentQuantile(float64(df), p) }

func checkFinite(values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("value %d is %v; only finite values can be analysed", i+1, v)
		}
	}
	return nil
}
