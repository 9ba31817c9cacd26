package stats

import (
	"fmt"
	"math"
	"slices"
)

// Codes of warnings.
const (
	CodeDrift           = "drift"
	CodeAutocorrelation = "autocorrelation"
	CodeBimodal         = "bimodal"
	CodeOutlier         = "outlier"
	CodeNoisy           = "noisy"
	CodeNoSpread        = "no-spread"
	CodeTooFew          = "too-few-runs"
	CodeDisagree        = "tests-disagree"
	CodeStartUp         = "start-up"
	CodeOrder           = "order"
)

const (
	checkLevel = 0.01 // false-alarm probability of each check
	minChecked = 8    // fewest runs that show anything about their order
	minBimodal = 12   // fewest runs that show two modes
	noisyLimit = 0.10 // run-to-run standard deviation of the logarithm
)

// Warning is something about the data that weakens what is concluded from them.
type Warning struct {
	Code  string  // one of the Code constants
	Text  string  // one sentence for people
	Value float64 // the measured quantity, in the unit the text names
	Run   int     // index of the run it concerns, or -1
	Need  int     // pairs that would be enough, or 0
}

// CheckRuns looks at the logarithms of a metric in the order of the runs, each
// with the number of its arm, for what breaks the assumption of independent
// runs with equal spread around their arm's mean: drift, autocorrelation, two
// modes, outliers and noise. Each check raises a false alarm in at most about
// one of 100 good sessions. Values that are not finite are an error.
func CheckRuns(logs []float64, arms []int) ([]Warning, error) {
	if len(logs) != len(arms) {
		return nil, fmt.Errorf("%d values and %d arms do not match", len(logs), len(arms))
	}
	if err := checkFinite(logs); err != nil {
		return nil, err
	}
	residuals, used := withoutArmMeans(logs, arms)
	spread := math.Sqrt(sumSquares(residuals) / math.Max(1, float64(len(logs)-used)))
	if len(logs) <= used || spread == 0 {
		return nil, nil
	}
	var warnings []Warning
	add := func(w Warning, found bool) {
		if found {
			warnings = append(warnings, w)
		}
	}
	drift, drifts := checkDrift(residuals)
	add(drift, drifts)
	add(checkAutocorrelation(residuals))
	add(checkModes(residuals))
	warnings = append(warnings, checkOutliers(residuals)...)
	add(Warning{
		Code: CodeNoisy, Value: spread, Run: -1,
		Text: fmt.Sprintf("runs of the same arm scatter by %.0f%%; longer runs or a quieter machine would need "+
			"fewer of them", 100*spread),
	}, spread > noisyLimit)
	return warnings, nil
}

// withoutArmMeans also returns the number of arms.
func withoutArmMeans(logs []float64, arms []int) ([]float64, int) {
	sums, counts := map[int]float64{}, map[int]float64{}
	for i, v := range logs {
		sums[arms[i]] += v
		counts[arms[i]]++
	}
	residuals := make([]float64, len(logs))
	for i, v := range logs {
		residuals[i] = v - sums[arms[i]]/counts[arms[i]]
	}
	return residuals, len(sums)
}

func sumSquares(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v * v
	}
	return sum
}

// runLine is the least-squares line through the values against their index.
func runLine(values []float64) (slope Test, rest []float64) {
	n := len(values)
	scatter := float64(n) * (float64(n)*float64(n) - 1) / 12
	middle, level := float64(n-1)/2, mean(values)
	beta := 0.0
	for i, v := range values {
		beta += (float64(i) - middle) * (v - level) / scatter
	}
	rest = make([]float64, n)
	for i, v := range values {
		rest[i] = v - level - beta*(float64(i)-middle)
	}
	return newTest(beta, math.Sqrt(sumSquares(rest)/float64(n-2)/scatter), n-2), rest
}

// CheckOrder looks at the residuals of each pair's runs in the order in which
// they were made, for a place in that order that is better or worse whatever
// the arm. The order is balanced, so that the estimate is not biased by it; the
// intervals are wider for it. A pair of fewer than two runs shows nothing.
func CheckOrder(pairs [][]float64) (Warning, bool) {
	var slopes []float64
	most := 0
	for _, pair := range pairs {
		if len(pair) < 2 {
			continue
		}
		middle, square, sum := float64(len(pair)-1)/2, 0.0, 0.0
		for i, v := range pair {
			sum += (float64(i) - middle) * v
			square += (float64(i) - middle) * (float64(i) - middle)
		}
		slopes = append(slopes, sum/square)
		most = max(most, len(pair)-1)
	}
	if len(slopes) < minChecked/2 {
		return Warning{}, false
	}
	test, err := TTest(slopes)
	if err != nil || test.P >= checkLevel || math.Abs(test.Mean) < 1e-6 {
		return Warning{}, false
	}
	apart := math.Expm1(test.Mean * float64(most))
	return Warning{
		Code: CodeOrder, Value: apart, Run: -1,
		Text: fmt.Sprintf("the last run of a pair is %+.1f%% off the first one, whatever the arm: each run leaves "+
			"something behind for the next", 100*apart),
	}, true
}

func checkDrift(residuals []float64) (Warning, bool) {
	if len(residuals) < minChecked {
		return Warning{}, false
	}
	slope, _ := runLine(residuals)
	total := math.Expm1(slope.Mean * float64(len(residuals)-1))
	return Warning{
		Code: CodeDrift, Value: total, Run: -1,
		Text: fmt.Sprintf("results drift by %+.1f%% over the session; something other than the settings changed",
			100*total),
	}, slope.P < checkLevel
}

// Resembling tells whether neighbouring runs resemble each other at the 5%
// level, one-sided: earlier than CheckRuns warns of it.
func Resembling(residuals []float64) bool {
	if len(residuals) < minChecked {
		return false
	}
	_, rest := runLine(residuals)
	n := float64(len(residuals))
	return (Autocorrelation(rest, 1)+2/n)*math.Sqrt(n) > 1.645
}

// checkAutocorrelation tests the lag-1 autocorrelation around the drift line
// against its approximate null distribution, normal with mean -2/n (a mean and
// a slope have been fitted) and variance 1/n; only positive values matter,
// since they make intervals too narrow.
func checkAutocorrelation(residuals []float64) (Warning, bool) {
	n := float64(len(residuals))
	if len(residuals) < minChecked {
		return Warning{}, false
	}
	_, rest := runLine(residuals)
	r := Autocorrelation(rest, 1)
	return Warning{
		Code: CodeAutocorrelation, Value: r, Run: -1,
		Text: fmt.Sprintf("neighbouring runs resemble each other (lag-1 autocorrelation %.2f); the effective number "+
			"of runs is smaller", r),
	}, (r+2/n)*math.Sqrt(n) > 2.326
}

// checkModes compares the share of the variance that the best division in two
// groups explains, each of at least a fifth of the runs, with its 99% quantile
// for normal values, in which a large sample has 2/pi. The quantiles follow
// 0.637 + 0.897/n^0.513 within 0.01 from 12 values to 400 (fitted to a
// simulation that the tests repeat).
func checkModes(residuals []float64) (Warning, bool) {
	n := len(residuals)
	if n < minBimodal {
		return Warning{}, false
	}
	share, gap := bestSplit(slices.Sorted(slices.Values(residuals)))
	limit := modesLimit(n)
	return Warning{
		Code: CodeBimodal, Value: gap, Run: -1,
		Text: fmt.Sprintf("runs fall into two groups %.1f%% apart; a mean describes neither", 100*math.Expm1(gap)),
	}, share > limit
}

func modesLimit(n int) float64 { return 0.637 + 0.897/math.Pow(float64(n), 0.513) }

func bestSplit(sorted []float64) (share, gap float64) {
	n := len(sorted)
	total, centre := 0.0, mean(sorted)
	for _, v := range sorted {
		total += (v - centre) * (v - centre)
	}
	if total == 0 {
		return 0, 0
	}
	least := (n + 4) / 5
	sum := 0.0
	for i, v := range sorted {
		sum += v
		left := float64(i + 1)
		if i+1 < least || n-i-1 < least {
			continue
		}
		right := float64(n) - left
		apart := (centre*float64(n)-sum)/right - sum/left
		if s := left * right / float64(n) * apart * apart / total; s > share {
			share, gap = s, apart
		}
	}
	return share, gap
}

// checkOutliers flags values more than 5 + 40/n robust standard deviations
// (1.4826 median absolute deviations) from the median; the second term keeps
// false alarms rare where few values give a poor estimate of the deviation.
func checkOutliers(residuals []float64) []Warning {
	if len(residuals) < minChecked {
		return nil
	}
	middle := Median(residuals)
	away := make([]float64, len(residuals))
	for i, v := range residuals {
		away[i] = math.Abs(v - middle)
	}
	scale := 1.4826 * Median(away)
	if scale == 0 {
		return nil
	}
	limit := 5 + 40/float64(len(residuals))
	var warnings []Warning
	for i, v := range residuals {
		if away[i] <= limit*scale {
			continue
		}
		off := math.Expm1(v - middle)
		warnings = append(warnings, Warning{
			Code: CodeOutlier, Value: off, Run: i,
			Text: fmt.Sprintf("run %d is %+.1f%% off its arm, %.0f times the usual scatter", i+1, 100*off,
				away[i]/scale),
		})
	}
	return warnings
}

// CheckPairs looks at the log-ratios of a comparison at the given level, and at
// whether their number is enough to see the margin (0.02 for 2%) with the given
// power.
func CheckPairs(logRatios []float64, margin, alpha, power float64) ([]Warning, error) {
	test, err := TTest(logRatios)
	if err != nil {
		return nil, err
	}
	if test.StdErr == 0 {
		return []Warning{{
			Code: CodeNoSpread, Run: -1,
			Text: "all pairs give the same ratio; the metric is too coarse to show its uncertainty",
		}}, nil
	}
	var warnings []Warning
	sd := test.StdErr * math.Sqrt(float64(len(logRatios)))
	sees := MinDetectable(len(logRatios), sd, alpha, power)
	if need := PairsNeeded(margin, sd, alpha, power); need > len(logRatios) && margin > 0 {
		text := fmt.Sprintf("%d pairs detect %.1f%% with 80%% power; %.1f%% takes %d pairs", len(logRatios), 100*sees,
			100*margin, need)
		if sees > 1 {
			text = fmt.Sprintf("the runs scatter so much that %d pairs would not see even a doubling; longer runs "+
				"or a quieter machine are needed", len(logRatios))
		}
		warnings = append(warnings, Warning{Code: CodeTooFew, Value: sees, Run: -1, Need: need, Text: text})
	}
	p, err := Wilcoxon(logRatios)
	if err != nil {
		return nil, err
	}
	if len(logRatios) >= 6 && (test.P <= alpha) != (p <= alpha) && math.Max(test.P, p) > 2*alpha {
		warnings = append(warnings, Warning{
			Code: CodeDisagree, Value: p, Run: -1,
			Text: fmt.Sprintf(
				"the t-test (p %.3f) and the signed-rank test (p %.3f) disagree; look at the single runs", test.P, p),
		})
	}
	return warnings, nil
}

// CheckStartUp warns when the samples of a run show a start-up longer than the
// number of samples that were omitted, by MSER-5. Fewer than 20 samples show
// nothing.
func CheckStartUp(samples []float64, omitted int) (Warning, bool) {
	omit, settled, err := MSER5(samples)
	if err != nil || (settled && omit <= omitted) {
		return Warning{}, false
	}
	text := fmt.Sprintf("the start-up seems to last %d samples, %d were omitted", omit, omitted)
	if !settled {
		text = "the run does not settle; it is too short for this path"
	}
	return Warning{Code: CodeStartUp, Text: text, Value: float64(omit), Run: -1}, true
}
