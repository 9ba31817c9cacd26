package stats

import (
	"math"
	"strings"
)

// Verdict is the answer of a comparison of b with a.
type Verdict string

// The four verdicts.
const (
	Helps        Verdict = "helps"
	Hurts        Verdict = "hurts"
	NoDifference Verdict = "no-worthwhile-difference"
	NotEnough    Verdict = "not-enough-evidence"
)

// Decided tells whether a difference was found.
func (v Verdict) Decided() bool { return v == Helps || v == Hurts }

// Words is the verdict as a sentence has it.
func (v Verdict) Words() string { return strings.ReplaceAll(string(v), "-", " ") }

// Judge turns an interval into a verdict. The margin is the smallest relative
// change worth having (0.02 for 2%); it is applied on the log scale, so that
// 1+margin and 1/(1+margin) are equally far from 1.
//
// b helps when the whole interval lies on the good side of 1 and the estimate
// is beyond the margin; hurts is the mirror image. There is no worthwhile
// difference when the whole interval lies within the margin, even if it
// excludes 1. Everything else is not enough evidence: more pairs would decide.
// Since helps and hurts need an interval that excludes 1, their false-positive
// rate is at most 1 - Confidence, and less when the noise is small against the
// margin. A true change that equals the margin gets past it in only half of all
// trials: plan the number of pairs for a larger one.
func Judge(i Interval, margin float64, higherIsBetter bool) Verdict {
	if !(i.Low > 0) || !(i.High >= i.Low) || !(margin >= 0) || i.Pairs < 2 {
		return NotEnough
	}
	low, ratio, high, limit := math.Log(i.Low), math.Log(i.Ratio), math.Log(i.High), math.Log1p(margin)
	if !higherIsBetter {
		low, ratio, high = -high, -ratio, -low
	}
	switch {
	case -limit <= low && high <= limit:
		return NoDifference
	case low > 0 && ratio > limit:
		return Helps
	case high < 0 && ratio < -limit:
		return Hurts
	}
	return NotEnough
}
