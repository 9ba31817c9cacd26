package trial

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// Codes of a trial's warnings beside those of stats and of single runs.
const (
	CodeLost   = "lost-runs"
	CodeLength = "run-lengths"
	CodePeer   = "busier-but-slower"
	// CodeUnsteady is of an effect that is not told from what comes and goes.
	CodeUnsteady = "unsteady"
)

const (
	// lengthsApart is how much longer the longest run may be than the
	// shortest before it is said.
	lengthsApart = 1.1
	// busierBy is by how much a host's processors are busier, as a share of
	// all of them, before that is taken for a cause.
	busierBy = 0.1
	// coreBusierBy is the same of one processor, which a setting may well load
	// more.
	coreBusierBy = 0.3
	// pathLonger is the same of the shortest round trip, in s: more than
	// interrupt moderation or a scheduler adds.
	pathLonger = 0.5e-3
	// unsteadyBlocks is the least number of blocks that can be significant at
	// 5% when all agree: 2/2^6.
	unsteadyBlocks = 6
)

// stands tells whether a verdict also holds when lost runs count. Runs of the
// arm that looks better may have been lost because they went badly: each that
// it lost more than the other takes the place of a pair as strongly against
// the verdict as the strongest of those seen is for it. Runs that others
// disturbed are not counted.
func (r *Result) stands(c Comparison, logs []float64) bool {
	better, worse := c.Arm, 0
	if c.Verdict == stats.Hurts {
		better, worse = worse, better
	}
	excess := r.failuresOf(better) - r.failuresOf(worse)
	if excess <= 0 {
		return true
	}
	strongest := 0.0
	for _, v := range logs {
		if math.Signbit(v) == (c.Interval.Ratio < 1) {
			strongest = max(strongest, math.Abs(v))
		}
	}
	if c.Interval.Ratio > 1 {
		strongest = -strongest
	}
	all := append(slices.Clone(logs), slices.Repeat([]float64{strongest}, excess)...)
	i, err := stats.PairedRatio(all, c.Interval.Confidence)
	return err == nil && stats.Judge(i, r.Design.Margin, !r.Design.Lower) == c.Verdict
}

// steady tells whether a verdict also holds when whole blocks count instead of
// pairs, where runs resemble their neighbours. What comes and goes within a few
// runs shifts both pairs of a block the same way, and only the order of the
// blocks is random; an effect beyond all that movement needs no such doubt.
func (r *Result) steady(c Comparison, logs []float64) bool {
	residuals := r.residuals()
	if !stats.Resembling(residuals) {
		return true
	}
	squares := 0.0
	for _, v := range residuals {
		squares += v * v
	}
	if math.Abs(math.Log(c.Interval.Ratio)) > 2*math.Sqrt(squares/float64(len(residuals))) {
		return true
	}
	var blocks []float64
	for i := 1; i < len(logs); i += 2 {
		blocks = append(blocks, (logs[i-1]+logs[i])/2)
	}
	p, err := stats.Wilcoxon(blocks)
	return err == nil && p <= r.Design.Alpha/float64(len(r.Design.Arms)-1)
}

// logs are the logarithms of the runs in the order in which they were made,
// with their arms.
func (r *Result) logs() (logs []float64, arms []int) {
	for _, run := range r.Runs {
		v, _ := run.Value(r.Design.Metric)
		logs, arms = append(logs, math.Log(v)), append(arms, run.Arm)
	}
	return logs, arms
}

// residuals are the logarithms of the runs without their arms' means.
func (r *Result) residuals() []float64 {
	logs, arms := r.logs()
	sums, counts := make([]float64, len(r.Design.Arms)), make([]float64, len(r.Design.Arms))
	for i, arm := range arms {
		sums[arm] += logs[i]
		counts[arm]++
	}
	for i, arm := range arms {
		logs[i] -= sums[arm] / counts[arm]
	}
	return logs
}

// unsteadyWarnings says which effects do not stand for want of steadiness.
func (r *Result) unsteadyWarnings() (out []stats.Warning) {
	for _, c := range r.Comparisons {
		if c.Unsteady {
			out = append(out, stats.Warning{Code: CodeUnsteady, Run: -1, Need: 2 * unsteadyBlocks, Text: fmt.Sprintf(
				"something comes and goes beside the runs: with whole blocks of four as observations the effect of "+
					"%s does not stand yet", r.Design.Arms[c.Arm])})
		}
	}
	return out
}

// warnings collects what weakens the conclusion.
func (r *Result) warnings() []stats.Warning {
	out, _ := stats.CheckRuns(r.logs())
	for arm := 1; arm < len(r.Design.Arms); arm++ {
		if ratios, err := r.logRatios(arm); err == nil {
			w, _ := stats.CheckPairs(ratios, r.Design.Margin, r.Design.Alpha, power)
			out = append(out, w...)
		}
	}
	if w, ok := stats.CheckOrder(r.residualsByPair()); ok {
		out = append(out, w)
	}
	out = append(out, r.unsteadyWarnings()...)
	out = append(out, r.lostWarnings()...)
	out = append(out, r.lengthWarnings()...)
	out = append(out, r.peerWarnings()...)
	return append(out, r.runWarnings()...)
}

// lostWarnings says which runs were lost and why; and when they are not spread
// over the arms: what is left may then favour one of them.
func (r *Result) lostWarnings() []stats.Warning {
	total := len(r.Lost)
	if total == 0 {
		return nil
	}
	were := "were"
	if total == 1 {
		were = "was"
	}
	text, follows := fmt.Sprintf("%s %s discarded and repeated: %s; ", units.Plural(uint64(total), "run"), were,
		r.lostReasons()), "the verdict rests on the others"
	for arm, name := range r.Design.Arms {
		if n := r.lostOf(arm); n >= 3 && n*len(r.Design.Arms) >= 2*total {
			follows = fmt.Sprintf("%s itself may be why, and the verdict does not count that", name)
		}
	}
	for _, c := range r.Comparisons {
		if c.Undone {
			follows = fmt.Sprintf("counted against it, the effect of %s does not stand", r.Design.Arms[c.Arm])
		}
	}
	return []stats.Warning{{Code: CodeLost, Text: text + follows, Value: float64(total), Run: -1}}
}

// lostReasons counts the lost runs of each arm, with the first one's reason.
func (r *Result) lostReasons() string {
	var parts []string
	for arm, name := range r.Design.Arms {
		reasons, n := map[string]bool{}, 0
		first := ""
		for _, l := range r.Lost {
			if l.Arm == arm {
				reason := strings.TrimPrefix(workload.Why(l.Err), workload.ErrTool.Error()+": ")
				first, reasons[reason], n = cmp.Or(first, reason), true, n+1
			}
		}
		if len(reasons) > 1 {
			first = "first: " + first
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s (%s)", n, name, first))
		}
	}
	return strings.Join(parts, ", ")
}

// runWarnings sums up what single runs warn of: one line for each kind, with
// the arms that it concerns. What concerns fewer than a quarter of an arm's
// runs is left to the runs' own records.
func (r *Result) runWarnings() []stats.Warning {
	type tally struct {
		of    []int
		text  string
		first int
	}
	var codes []string
	tallies := map[string]*tally{}
	perArm := make([]int, len(r.Design.Arms))
	for i, run := range r.Runs {
		perArm[run.Arm]++
		seen := map[string]bool{}
		for _, w := range run.Warnings {
			if seen[w.Code] {
				continue
			}
			seen[w.Code] = true
			if tallies[w.Code] == nil {
				tallies[w.Code] = &tally{of: make([]int, len(r.Design.Arms)), text: w.Text, first: i}
				codes = append(codes, w.Code)
			}
			tallies[w.Code].of[run.Arm]++
		}
	}
	var out []stats.Warning
	for _, code := range codes {
		t := tallies[code]
		where, worst := "", 0.0
		for arm, n := range t.of {
			if n > 0 {
				where += fmt.Sprintf(", %d of %d runs of %s", n, perArm[arm], r.Design.Arms[arm])
				worst = max(worst, float64(n)/float64(perArm[arm]))
			}
		}
		if worst >= 0.25 {
			out = append(out, stats.Warning{Code: code,
				Text:  fmt.Sprintf("%s (%s; so in %s)", t.text, r.Design.Arms[r.Runs[t.first].Arm], where[2:]),
				Value: worst, Run: t.first})
		}
	}
	return out
}

// residualsByPair are the residuals of the complete pairs' runs.
func (r *Result) residualsByPair() [][]float64 {
	residuals := r.residuals()
	pairs := make([][]float64, r.Pairs)
	for i, run := range r.Runs {
		if run.Pair < r.Pairs {
			pairs[run.Pair] = append(pairs[run.Pair], residuals[i])
		}
	}
	return pairs
}

// lengthWarnings says when the tool counted for times that differ.
func (r *Result) lengthWarnings() []stats.Warning {
	short, long := math.Inf(1), 0.0
	for _, run := range r.Runs {
		if run.Counted > 0 {
			short, long = min(short, run.Counted), max(long, run.Counted)
		}
	}
	if !(long > short*lengthsApart) {
		return nil
	}
	return []stats.Warning{{Code: CodeLength, Value: long / short, Run: -1,
		Text: fmt.Sprintf("the tool counted for %s in one run and for %s in another: runs of different length have "+
			"different shares of start-up", seconds(short), seconds(long))}}
}

func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }

// besides are quantities that say something else than the settings slowed one
// arm down: when under the arm that did worse the median is above the other's
// by the factor and by the difference.
func besides() []beside {
	cpu := func(of func(workload.Run) *workload.CPU, value func(*workload.CPU) float64) func(workload.Run) (float64,
		bool) {
		return func(r workload.Run) (float64, bool) {
			c := of(r)
			if c == nil {
				return 0, false
			}
			return value(c), true
		}
	}
	client, server := func(r workload.Run) *workload.CPU { return r.Client },
		func(r workload.Run) *workload.CPU { return r.Server }
	busy, busiest := func(c *workload.CPU) float64 { return c.Busy }, func(c *workload.CPU) float64 { return c.Busiest }
	const hosts = "the %s's processors were %.0f%% busy under %s and %.0f%% under %s, which did better: if anything " +
		"but the settings kept that host busy then, the verdict is of that"
	const cores = "the busiest processor of the %s was %.0f%% busy under %s and %.0f%% under %s, which did better: " +
		"if anything but the settings kept it busy then, the verdict is of that"
	return []beside{
		{"client", hosts, 100, 1.2, busierBy, cpu(client, busy)},
		{"server", hosts, 100, 1.2, busierBy, cpu(server, busy)},
		{"client", cores, 100, 1.2, coreBusierBy, cpu(client, busiest)},
		{"server", cores, 100, 1.2, coreBusierBy, cpu(server, busiest)},
		{"path", "the %s's shortest round trip was %.2f ms under %s and %.2f ms under %s, which did better: " +
			"settings do not make a path longer, so that the verdict may be of the path", 1000, 1.2, pathLonger,
			workload.Run.ShortestRTT},
	}
}

// beside is one of them: whose it is, how it is said with which scale, from
// what factor and difference on, and where it is found.
type beside struct {
	of, text            string
	scale, factor, more float64
	value               func(workload.Run) (float64, bool)
}

// peerWarnings says when under the arm that did worse a host was busier or the
// path longer: something that went on there then may be the cause, not the
// settings. Of one host one thing is said.
func (r *Result) peerWarnings() []stats.Warning {
	var out []stats.Warning
	for _, c := range r.Comparisons {
		if c.Verdict != stats.Helps && c.Verdict != stats.Hurts {
			continue
		}
		slow, fast := 0, c.Arm
		if c.Verdict == stats.Hurts {
			slow, fast = fast, slow
		}
		said := map[string]bool{}
		for _, b := range besides() {
			worse, better := r.medianOf(slow, b.value), r.medianOf(fast, b.value)
			if said[b.of] || !(worse-better >= b.more) || worse < b.factor*better {
				continue
			}
			said[b.of] = true
			out = append(out, stats.Warning{Code: CodePeer, Value: worse, Run: -1,
				Text: fmt.Sprintf(b.text, b.of, b.scale*worse, r.Design.Arms[slow], b.scale*better,
					r.Design.Arms[fast])})
		}
	}
	return out
}

// medianOf is over the arm's runs that have the value; not a number where fewer
// than two do.
func (r *Result) medianOf(arm int, value func(workload.Run) (float64, bool)) float64 {
	var all []float64
	for _, run := range r.Runs {
		if v, ok := value(run.Run); ok && run.Arm == arm {
			all = append(all, v)
		}
	}
	if len(all) < 2 {
		return math.NaN()
	}
	return stats.Median(all)
}
