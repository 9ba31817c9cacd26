package stats

import (
	"fmt"
	"math"
	"slices"
)

// Bootstrap is the percentile interval of a statistic of the values (B. Efron
// and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13).
// It needs at least two finite values and 100 resamples. statistic must not
// keep its argument and may reorder it. With few values the interval is too
// narrow: for means of fewer than about 20 use PairedRatio or TTest.
func Bootstrap(values []float64, statistic func([]float64) float64, confidence float64, resamples int,
	seed uint64) (low, high float64, err error) {
	if len(values) < 2 || len(values) > math.MaxUint32 {
		return 0, 0, fmt.Errorf("%d values cannot be resampled; at least 2 are needed", len(values))
	}
	if err := checkFinite(values); err != nil {
		return 0, 0, err
	}
	if !(confidence > 0 && confidence < 1) || resamples < 100 {
		return 0, 0, fmt.Errorf("confidence %v and %d resamples: need 0 to 1 and at least 100", confidence, resamples)
	}
	draws := make([]float64, resamples)
	sample := make([]float64, len(values))
	rng := newRand(seed)
	n := uint64(len(values))
	for r := range draws {
		for i := 0; i < len(sample); i += 2 {
			// Two indices from each 64 random bits; the bias of n/2^32 is far
			// below what any number of resamples shows.
			word := rng.Uint64()
			sample[i] = values[(word>>32)*n>>32]
			if i+1 < len(sample) {
				sample[i+1] = values[(word&math.MaxUint32)*n>>32]
			}
		}
		draws[r] = statistic(sample)
	}
	slices.Sort(draws)
	tail := (1 - confidence) / 2
	return sortedQuantile(draws, tail), sortedQuantile(draws, 1-tail), nil
}
