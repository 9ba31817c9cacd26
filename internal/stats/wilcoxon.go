package stats

import (
	"fmt"
	"math"
	"slices"
)

// exactWilcoxon is the largest sample with an exact null distribution; its
// counts, up to 2^50, are exact in a float64.
const exactWilcoxon = 50

// Wilcoxon is the two-sided p-value of the signed-rank test that the values of
// d are symmetric around zero. Zeros are ranked and then left out, as in J. W.
// Pratt, "Remarks on Zeros and Ties in the Wilcoxon Signed Rank Procedures",
// JASA 54 (1959); tied magnitudes share their mean rank. Up to 50 values the
// distribution is exact given those ranks; beyond, normal with the variance of
// those ranks and a continuity correction. All zeros give 1. At least six
// values are needed before p can be under 0.05.
func Wilcoxon(d []float64) (float64, error) {
	if len(d) == 0 {
		return 0, fmt.Errorf("no pairs to test")
	}
	if err := checkFinite(d); err != nil {
		return 0, err
	}
	ranks, plus := signedRanks(d)
	if len(ranks) == 0 {
		return 1, nil
	}
	if len(d) <= exactWilcoxon {
		return wilcoxonExact(ranks, plus), nil
	}
	return wilcoxonNormal(ranks, plus), nil
}

// signedRanks returns twice the mean rank of each non-zero magnitude, which is
// always a whole number, and the sum of those that belong to positive values.
func signedRanks(d []float64) (ranks []int, plus int) {
	sorted := slices.Clone(d)
	slices.SortFunc(sorted, func(a, b float64) int {
		switch {
		case math.Abs(a) < math.Abs(b):
			return -1
		case math.Abs(a) > math.Abs(b):
			return 1
		}
		return 0
	})
	for from := 0; from < len(sorted); {
		to := from
		for to < len(sorted) && math.Abs(sorted[to]) == math.Abs(sorted[from]) {
			to++
		}
		twice := from + 1 + to
		for _, v := range sorted[from:to] {
			if v == 0 {
				continue
			}
			ranks = append(ranks, twice)
			if v > 0 {
				plus += twice
			}
		}
		from = to
	}
	return ranks, plus
}

func wilcoxonExact(ranks []int, plus int) float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([]float64, total+1)
	ways[0] = 1
	reach := 0
	for _, r := range ranks {
		for s := reach; s >= 0; s-- {
			ways[s+r] += ways[s]
		}
		reach += r
	}
	var below, above float64
	for s, w := range ways {
		if s <= plus {
			below += w
		}
		if s >= plus {
			above += w
		}
	}
	return math.Min(1, 2*math.Min(below, above)/math.Exp2(float64(len(ranks))))
}

func wilcoxonNormal(ranks []int, plus int) float64 {
	var sum, squares float64
	for _, r := range ranks {
		sum += float64(r) / 2
		squares += float64(r) * float64(r) / 4
	}
	away := math.Max(0, math.Abs(float64(plus)/2-sum/2)-0.5)
	return math.Min(1, 2*NormalCDF(-away/math.Sqrt(squares/4)))
}
