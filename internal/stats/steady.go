package stats

import (
	"fmt"
)

// mserBatch is the batch size of MSER-5.
const mserBatch = 5

// MSER5 returns how many of the first samples of a run belong to its start-up
// by the MSER-5 rule (K. P. White, M. J. Cobb and S. C. Spratt, "A Comparison
// of Five Steady-State Truncation Heuristics for Simulation", WSC 2000): the
// cut, in batches of five, that minimises the squared standard error of what is
// left, searched over the first half. settled is false when the best cut is at
// the end of that half: the run has not reached a steady state. At least 20
// samples are needed. It checks a fixed omission; it does not replace one.
func MSER5(samples []float64) (omit int, settled bool, err error) {
	batches := len(samples) / mserBatch
	if batches < 4 {
		return 0, false, fmt.Errorf("%d samples do not show a start-up; at least %d are needed", len(samples),
			4*mserBatch)
	}
	if err := checkFinite(samples); err != nil {
		return 0, false, err
	}
	means := batchMeans(samples, batches, mserBatch)
	best, last := 0, batches/2
	least := 0.0
	for cut := 0; cut <= last; cut++ {
		rest := means[cut:]
		n := float64(len(rest))
		_, variance := moments(rest)
		if score := variance * (n - 1) / n / n; cut == 0 || score < least {
			best, least = cut, score
		}
	}
	return best * mserBatch, best < last, nil
}

func batchMeans(samples []float64, batches, size int) []float64 {
	means := make([]float64, batches)
	for b := range means {
		means[b] = mean(samples[b*size : (b+1)*size])
	}
	return means
}

// Autocorrelation is the sample autocorrelation at a lag, between -1 and 1; 0
// when the lag is out of range or the values are all equal.
func Autocorrelation(values []float64, lag int) float64 {
	if lag < 1 || lag >= len(values) {
		return 0
	}
	centre := mean(values)
	var product, square float64
	for i, v := range values {
		square += (v - centre) * (v - centre)
		if i >= lag {
			product += (v - centre) * (values[i-lag] - centre)
		}
	}
	if square == 0 {
		return 0
	}
	return product / square
}
