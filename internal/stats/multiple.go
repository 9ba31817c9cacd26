package stats

import (
	"math"
	"slices"
)

// HolmAdjusted returns the p-values adjusted by the step-down procedure of S.
// Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J.
// Statist. 6 (1979), which holds under any dependence: each can be compared with
// the family-wise level itself. A p-value that is not a number
// counts as 1.
func HolmAdjusted(p []float64) []float64 {
	order := make([]int, len(p))
	clean := make([]float64, len(p))
	for i, v := range p {
		order[i] = i
		clean[i] = v
		if math.IsNaN(v) {
			clean[i] = 1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case clean[a] < clean[b]:
			return -1
		case clean[a] > clean[b]:
			return 1
		}
		return 0
	})
	adjusted := make([]float64, len(p))
	highest := 0.0
	for rank, i := range order {
		highest = math.Max(highest, math.Min(1, clean[i]*float64(len(p)-rank)))
		adjusted[i] = highest
	}
	return adjusted
}
