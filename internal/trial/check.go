package trial

import (
	"fmt"
	"math"
	"slices"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// Codes of a trial's warnings beside those of stats and of single runs.
const (
	CodeLost   = "lost-runs"
	CodeLength = "run-lengths"
	CodePeer   = "busier-but-slower"
)

const (
	// lengthsApart is how much longer the longest run may be than the
	// shortest before it is said.
	lengthsApart = 1.1
	// busierBy is by how much a host's processors are busier, as a share of
	// all of them, before that is taken for a cause.
	busierBy = 0.1
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

// warnings collects what weakens the conclusion.
func (r *Result) warnings() []stats.Warning {
	var logs []float64
	var arms []int
	for _, run := range r.Runs {
		v, _ := run.Value(r.Design.Metric)
		logs, arms = append(logs, math.Log(v)), append(arms, run.Arm)
	}
	out, _ := stats.CheckRuns(logs, arms)
	for arm := 1; arm < len(r.Design.Arms); arm++ {
		if ratios, err := r.logRatios(arm); err == nil {
			w, _ := stats.CheckPairs(ratios, r.Design.Margin, r.Design.Alpha, power)
			out = append(out, w...)
		}
	}
	if w, ok := stats.CheckOrder(r.residualsByPair()); ok {
		out = append(out, w)
	}
	out = append(out, r.lostWarnings()...)
	out = append(out, r.lengthWarnings()...)
	out = append(out, r.peerWarnings()...)
	return append(out, r.runWarnings()...)
}

// lostWarnings says when the runs that were lost are not spread over the arms:
// what is left may then favour one of them.
func (r *Result) lostWarnings() []stats.Warning {
	total := len(r.LostRuns)
	if total == 0 {
		return nil
	}
	text := fmt.Sprintf("%d runs were lost and made again (%s); the verdict rests on the others", total, r.lostWords())
	for _, c := range r.Comparisons {
		if c.Undone {
			return []stats.Warning{{Code: CodeLost, Value: float64(total), Run: -1, Text: fmt.Sprintf(
				"runs were lost and made again (%s): with them counted against it, the effect of %s does not stand", r.lostWords(), r.Design.Arms[c.Arm])}}
		}
	}
	for arm, name := range r.Design.Arms {
		if n := r.lostOf(arm); n >= 3 && n*len(r.Design.Arms) >= 2*total {
			text = fmt.Sprintf("%d of the %d lost runs were of %s: the arm itself may be why, and the verdict does not count that", n, total, name)
		}
	}
	return []stats.Warning{{Code: CodeLost, Text: text, Value: float64(total), Run: -1}}
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
			out = append(out, stats.Warning{Code: code, Text: fmt.Sprintf("%s (%s; so in %s)", t.text, r.Design.Arms[r.Runs[t.first].Arm], where[2:]), Value: worst, Run: t.first})
		}
	}
	return out
}

// residualsByPair are the logarithms of the complete pairs' runs in the order
// in which they were made, without their arms' means.
func (r *Result) residualsByPair() [][]float64 {
	sums, counts := make([]float64, len(r.Design.Arms)), make([]float64, len(r.Design.Arms))
	logs := make([]float64, len(r.Runs))
	for i, run := range r.Runs {
		v, _ := run.Value(r.Design.Metric)
		logs[i] = math.Log(v)
		sums[run.Arm] += logs[i]
		counts[run.Arm]++
	}
	pairs := make([][]float64, r.Pairs)
	for i, run := range r.Runs {
		if run.Pair < r.Pairs {
			pairs[run.Pair] = append(pairs[run.Pair], logs[i]-sums[run.Arm]/counts[run.Arm])
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
		Text: fmt.Sprintf("the tool counted for %s in one run and for %s in another: runs of different length have different shares of start-up", seconds(short), seconds(long))}}
}

func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }

// peerWarnings says when a host was busier under the arm under which less was
// done: something that ran there then may be the cause, not the settings.
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
		for i, metric := range []string{workload.ClientCPU, workload.ServerCPU} {
			a, b := r.Values(slow, metric), r.Values(fast, metric)
			if len(a) < 2 || len(b) < 2 {
				continue
			}
			busier, calmer := stats.Median(a), stats.Median(b)
			if busier-calmer < busierBy || busier < 1.2*calmer {
				continue
			}
			out = append(out, stats.Warning{Code: CodePeer, Value: busier, Run: -1, Text: fmt.Sprintf(
				"the %s's processors were %.0f%% busy under %s and %.0f%% under %s, which did better: if anything but the settings kept that host busy then, the verdict is of that",
				[]string{"client", "server"}[i], 100*busier, r.Design.Arms[slow], 100*calmer, r.Design.Arms[fast])})
		}
	}
	return out
}
