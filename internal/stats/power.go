package stats

import (
	"math"
)

// maxPairs bounds the search for a number of pairs; nobody runs more.
const maxPairs = 10_000_000

// Power is the probability that a two-sided paired t-test at level alpha
// detects a mean log-ratio of log(1+effect) when log-ratios scatter by sd, by
// the noncentral t distribution. It is 0 for fewer than two pairs.
func Power(pairs int, effect, sd, alpha float64) float64 {
	return power(pairs, math.Abs(math.Log1p(effect)), sd, alpha)
}

func power(pairs int, logEffect, sd, alpha float64) float64 {
	if pairs < 2 || !(logEffect >= 0) || !(sd >= 0) || !(alpha > 0 && alpha < 1) {
		return 0
	}
	if sd == 0 {
		if logEffect > 0 {
			return 1
		}
		return alpha
	}
	return beyond(pairs, logEffect/sd, tQuantile(pairs-1, 1-alpha/2))
}

// beyond is the probability that Student's t of so many pairs is farther from
// 0 than critical, at an effect in units of the log-ratios' deviation.
func beyond(pairs int, standardised, critical float64) float64 {
	shift := standardised * math.Sqrt(float64(pairs))
	if shift > critical+38 && pairs > 4 {
		return 1
	}
	df := float64(pairs - 1)
	detect := 1 - shiftedCDF(df, shift, critical) + shiftedCDF(df, shift, -critical)
	return math.Min(1, math.Max(0, detect))
}

// MinDetectable is the smallest effect, as ratio - 1, that a two-sided paired
// t-test at level alpha sees with the given power. sd is the standard deviation
// of the log-ratios: for two independent runs with coefficient of variation cv,
// about cv times the square root of 2. It is +Inf when no effect can be seen
// (fewer than two pairs, or arguments out of range).
func MinDetectable(pairs int, sd, alpha, power float64) float64 {
	if pairs < 2 || !(sd >= 0) || !validLevels(alpha, power) {
		return math.Inf(1)
	}
	if sd == 0 {
		return 0
	}
	critical := tQuantile(pairs-1, 1-alpha/2)
	high := 1.0
	for ; beyond(pairs, high, critical) < power; high *= 2 {
		if high > 1e9 {
			return math.Inf(1)
		}
	}
	low := 0.0
	for range 40 {
		middle := (low + high) / 2
		if beyond(pairs, middle, critical) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Expm1(high * sd)
}

// MinWorthwhile is the smallest effect, as ratio - 1, that Judge finds to help
// with the given power: both the interval at level alpha must exclude 1 and the
// estimate must pass the margin. It is what to promise before a trial; sd and
// the limits are as for MinDetectable.
func MinWorthwhile(pairs int, sd, alpha, power, margin float64) float64 {
	seen := MinDetectable(pairs, sd, alpha, power)
	if math.IsInf(seen, 1) || !(margin >= 0) {
		return math.Inf(1)
	}
	passes := math.Log1p(margin) + NormalQuantile(power)*sd/math.Sqrt(float64(pairs))
	return math.Max(seen, math.Expm1(passes))
}

// PairsNeeded is the number of pairs with which a two-sided paired t-test at
// level alpha sees the effect (ratio - 1, either sign) with the given power. It
// is at least 2, and math.MaxInt when no feasible number does.
func PairsNeeded(effect, sd, alpha, power float64) int {
	logEffect := math.Abs(math.Log1p(effect))
	if !(logEffect > 0) || !(sd >= 0) || !validLevels(alpha, power) {
		return math.MaxInt
	}
	enough := func(pairs int) bool { return Power(pairs, effect, sd, alpha) >= power }
	high := 2
	for ; !enough(high); high *= 2 {
		if high > maxPairs {
			return math.MaxInt
		}
	}
	low := high / 2
	for high-low > 1 {
		middle := (low + high) / 2
		if enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

func validLevels(alpha, power float64) bool {
	return alpha > 0 && alpha < 1 && power > alpha && power < 1
}
