package stats

import (
	"math"
	"math/bits"
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
