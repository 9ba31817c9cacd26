package stats

import (
	"fmt"
	"math"
)

const (
	// farOff is how many robust standard deviations a run may lie off the
	// median of the runs of the same setup before its block is left out.
	farOff = 6
	// leastAlike is the fewest runs of one setup that show which is off.
	leastAlike = 3
	// mostLeftOut bounds the part of the blocks that is left out: where more
	// lie far off, that is how this path is.
	mostLeftOut = 0.25
)

// withoutStalls leaves out blocks of which a run lies far off the other runs of
// the same setup: a machine that stood still for a moment. What settings do to
// a metric is the same in all runs of a setup, so that no effect can be taken
// for a stall.
func withoutStalls(stage string, seen []halves) ([]halves, []Warning) {
	runs := make(map[[2]int][]float64)
	each := func(h halves) [2]float64 { return [2]float64{h.even + h.odd, h.even - h.odd} }
	for _, h := range seen {
		for side, v := range each(h) {
			key := [2]int{h.pair, side}
			runs[key] = append(runs[key], v)
		}
	}
	middle := make(map[[2]int]float64)
	var away []float64
	for key, values := range runs {
		if len(values) < leastAlike {
			continue
		}
		middle[key] = Median(values)
		for _, v := range values {
			// The middle one of an odd number is its own median and tells
			// nothing about the scatter.
			if d := math.Abs(v - middle[key]); d > 0 {
				away = append(away, d)
			}
		}
	}
	limit := farOff * 1.4826 * Median(away)
	if !(limit > 0) {
		return seen, nil
	}
	var kept []halves
	for _, h := range seen {
		off := false
		for side, v := range each(h) {
			m, ok := middle[[2]int{h.pair, side}]
			off = off || ok && math.Abs(v-m) > limit
		}
		if !off {
			kept = append(kept, h)
		}
	}
	out := len(seen) - len(kept)
	if out == 0 || float64(out) > mostLeftOut*float64(len(seen)) {
		return seen, nil
	}
	return kept, []Warning{{
		Code: CodeOutlier, Value: float64(out), Run: -1,
		Text: fmt.Sprintf("%d of %d blocks of two runs of the %s are left out: a run of theirs lies far off the "+
			"other runs of the same settings", out, len(seen), stage),
	}}
}
