package stats

import (
	"errors"
	"fmt"
	"math"
)

// ErrTooAlike is wrapped when a series holds too few stretches that do not
// resemble one another.
var ErrTooAlike = errors.New("neighbouring values resemble one another over too long a time")

// leastBlocks is how many stretches either side of a comparison needs.
const leastBlocks = 8

// SeriesRatio is the ratio of the mean of a series after a moment to that before
// it, where neighbouring values resemble one another. The scatter of either mean is
// that of a circular block bootstrap (D. N. Politis and J. P. Romano, "A Circular
// Block-Resampling Procedure for Stationary Data", 1992) whose blocks are twice as
// long as values resemble one another, and the limits are those of Student's
// distribution with a degree of freedom less than there are blocks. Pairs of the
// interval is the number of blocks of the side that has fewer. Nothing here is
// randomised: whatever else changed at that moment counts as its effect.
func SeriesRatio(before, after []float64, confidence float64, seed uint64) (Interval, error) {
	if !(confidence > 0 && confidence < 1) {
		return Interval{}, fmt.Errorf("confidence %v is outside 0 to 1", confidence)
	}
	if err := errors.Join(checkFinite(before), checkFinite(after)); err != nil {
		return Interval{}, err
	}
	variance, blocks := 0.0, math.MaxInt
	for i, side := range [][]float64{before, after} {
		length := blockLength(side)
		n := len(side) / max(length, 1)
		if n < leastBlocks {
			return Interval{}, fmt.Errorf("%d values are as %d stretches, of %d that are needed: %w",
				len(side), n, leastBlocks, ErrTooAlike)
		}
		if !(mean(side) > 0) {
			return Interval{}, errors.New("a mean that is not above zero has no ratio")
		}
		variance += blockVariance(side, length, seed+uint64(i)) / (mean(side) * mean(side))
		blocks = min(blocks, n)
	}
	log := math.Log(mean(after) / mean(before))
	half := tQuantile(blocks-1, 1-(1-confidence)/2) * math.Sqrt(variance)
	return Interval{Ratio: ratioOf(log), Low: ratioOf(log - half), High: ratioOf(log + half), Confidence: confidence,
		Pairs: blocks}, nil
}

// blockLength is twice the lag from which on a series does not resemble itself,
// and at least the third root of its length.
func blockLength(values []float64) int {
	n := float64(len(values))
	least := int(math.Ceil(math.Cbrt(n)))
	lag := 1
	for lag < len(values)/2 && Autocorrelation(values, lag) > 2/math.Sqrt(n) {
		lag++
	}
	return max(least, 2*(lag-1))
}

// seriesResamples are enough for a variance.
const seriesResamples = 1000

// blockVariance is that of the mean over resamples of blocks, which go on from the
// end of the series at its beginning.
func blockVariance(values []float64, length int, seed uint64) float64 {
	rng := newRand(seed)
	n := len(values)
	sums := make([]float64, 2*n+1) // running sums: a block is a difference
	for i := range 2 * n {
		sums[i+1] = sums[i] + values[i%n]
	}
	total, square := 0.0, 0.0
	for range seriesResamples {
		sum := 0.0
		for left := n; left > 0; left -= length {
			at := rng.IntN(n)
			sum += sums[at+min(length, left)] - sums[at]
		}
		m := sum / float64(n)
		total, square = total+m, square+m*m
	}
	m := total / seriesResamples
	return max(0, square/seriesResamples-m*m)
}
