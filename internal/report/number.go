package report

import (
	"math"
	"strconv"
)

// ratio prints a ratio with three significant digits: 0.98, 1.05, 12.4, 0.023.
func ratio(r float64) string {
	switch a := math.Abs(r); {
	case math.IsNaN(r) || math.IsInf(r, 0):
		return "?"
	case a >= 100:
		return strconv.FormatFloat(r, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(r, 'f', 1, 64)
	case a >= 0.1:
		return strconv.FormatFloat(r, 'f', 2, 64)
	}
	return strconv.FormatFloat(r, 'g', 2, 64)
}
