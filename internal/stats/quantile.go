package stats

import (
	"fmt"
	"math"
	"slices"
)

func mean(values []float64) float64 {
	m, _ := moments(values)
	return m
}

// Median is the middle of the values, or the mean of the two middle ones. It is
// NaN without values.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Quantile estimates the value below which the fraction q lies, interpolating
// linearly between order statistics (definition 7 of R. J. Hyndman and Y. Fan,
// "Sample Quantiles in Statistical Packages", 1996). It is NaN without values
// or when q is outside 0 to 1. The values keep their order.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	return sortedQuantile(slices.Sorted(slices.Values(values)), q)
}

func sortedQuantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// QuantileRange is a quantile with limits that are order statistics, valid for
// any continuous distribution.
type QuantileRange struct {
	Value, Low, High float64
	Confidence       float64 // achieved; at least what was asked for
}

// QuantileInterval gives the q-quantile with the narrowest pair of order
// statistics, by rank and as even in the tails as possible, that covers it with
// at least the given confidence (H. A. David and H. N. Nagaraja, "Order
// Statistics", 2003, section 7.1). When even the extremes do not reach the
// confidence the error tells how many values are needed.
func QuantileInterval(values []float64, q, confidence float64) (QuantileRange, error) {
	if !(q > 0 && q < 1) || !(confidence > 0 && confidence < 1) {
		return QuantileRange{}, fmt.Errorf("quantile %v at confidence %v: both must lie between 0 and 1", q, confidence)
	}
	if err := checkFinite(values); err != nil {
		return QuantileRange{}, err
	}
	n := len(values)
	extremes := func(n int) float64 { return 1 - math.Pow(q, float64(n)) - math.Pow(1-q, float64(n)) }
	if extremes(n) < confidence {
		need := n + 1
		for extremes(need) < confidence {
			need++
		}
		return QuantileRange{}, fmt.Errorf("%d values give no %v%% interval of this quantile; %d are needed", n,
			100*confidence, need)
	}
	sorted := slices.Sorted(slices.Values(values))
	// The number of values below the quantile is binomial; drop ranks from the
	// tail with less probability while the confidence lasts.
	low, high, covered := 1, n, extremes(n)
	for low < high-1 {
		dropLow, dropHigh := binomialShare(n, low, q), binomialShare(n, high-1, q)
		drop := math.Min(dropLow, dropHigh)
		if covered-drop < confidence {
			break
		}
		if dropLow <= dropHigh {
			low++
		} else {
			high--
		}
		covered -= drop
	}
	return QuantileRange{
		Value: sortedQuantile(sorted, q), Low: sorted[low-1], High: sorted[high-1], Confidence: covered,
	}, nil
}
