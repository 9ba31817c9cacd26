package stats

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// maxShapley is the largest number of settings whose 2^k sets are enumerated.
const maxShapley = 20

// Shapley divides value(all) - value(none) among k settings: each gets the mean
// of its contribution over all orders of switching them on (L. S. Shapley, "A
// Value for n-Person Games", 1953). value is called once for every set, in
// which bit i stands for setting i. The shares add up to the total. It is nil
// for k outside 1 to 20.
func Shapley(k int, value func(set uint64) float64) []float64 {
	if k < 1 || k > maxShapley {
		return nil
	}
	weights := shapleyWeights(k)
	shares := make([]float64, k)
	for set := range uint64(1) << k {
		v := value(set)
		size := bits.OnesCount64(set)
		for i := range shares {
			if set>>i&1 == 1 {
				shares[i] += weights[size-1] * v
			} else {
				shares[i] -= weights[size] * v
			}
		}
	}
	return shares
}

// shapleyWeights is the probability that a random order puts exactly a given
// set of size s before one setting: s!(k-s-1)!/k!. Index k is never used with a
// setting outside the set.
func shapleyWeights(k int) []float64 {
	weights := make([]float64, k+1)
	for s := range k {
		weights[s] = 1 / (float64(k) * binomial(k-1, s))
	}
	return weights
}

func binomial(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return math.Round(c)
}

// Share is a setting's part of a total, on the scale of the measured values.
type Share struct {
	Value, Low, High float64
}

// ShapleyBootstrap gives the Shapley shares of the cell means with percentile
// intervals from the replicates. cells has 2^k entries, indexed by set as in
// Shapley, each with at least two values. Deviations from the cell means are
// pooled over all cells, since a few replicates do not show a cell's own
// spread, and scaled up by what the estimated means have taken from them.
func ShapleyBootstrap(cells [][]float64, confidence float64, resamples int, seed uint64) ([]Share, error) {
	k := bits.Len(uint(len(cells))) - 1
	if k < 1 || k > maxShapley || len(cells) != 1<<k {
		return nil, fmt.Errorf("%d cells are not all combinations of 1 to %d settings", len(cells), maxShapley)
	}
	if !(confidence > 0 && confidence < 1) || resamples < 100 {
		return nil, fmt.Errorf("confidence %v and %d resamples: need 0 to 1 and at least 100", confidence, resamples)
	}
	means := make([]float64, len(cells))
	var pool []float64
	for set, values := range cells {
		if len(values) < 2 {
			return nil, fmt.Errorf("combination %d has %d values; at least 2 are needed", set, len(values))
		}
		if err := checkFinite(values); err != nil {
			return nil, fmt.Errorf("combination %d: %w", set, err)
		}
		means[set] = mean(values)
		scale := math.Sqrt(float64(len(values)) / float64(len(values)-1))
		for _, v := range values {
			pool = append(pool, (v-means[set])*scale)
		}
	}
	shares := Shapley(k, func(set uint64) float64 { return means[set] })
	rng := newRand(seed)
	draws := make([][]float64, k)
	for range resamples {
		again := Shapley(k, func(set uint64) float64 {
			sum := 0.0
			for range cells[set] {
				sum += pool[rng.IntN(len(pool))]
			}
			return means[set] + sum/float64(len(cells[set]))
		})
		for i, v := range again {
			draws[i] = append(draws[i], v)
		}
	}
	out := make([]Share, k)
	for i := range out {
		slices.Sort(draws[i])
		tail := (1 - confidence) / 2
		out[i] = Share{shares[i], sortedQuantile(draws[i], tail), sortedQuantile(draws[i], 1-tail)}
	}
	return out, nil
}
