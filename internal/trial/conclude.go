package trial

import (
	"fmt"
	"math"

	"github.com/wirerate/wirerate/internal/stats"
)

// family plans the looks of several comparisons with one reference. They are
// tested by Holm's procedure in its group-sequential form (T. Ye, Z. Li, L.
// Liu, B. Liu, "A Group Sequential Holm Procedure", Statistics in Medicine 32,
// 2013): while k comparisons are open each is tested with alpha/k, and what a
// found effect had is shared by those that are left.
type family struct {
	plans []stats.Looks // plans[k-1] is for k open comparisons
}

func newFamily(d Design) (*family, error) {
	f := &family{}
	for k := range max(1, len(d.Arms)-1) {
		plan, err := stats.NewLooks(d.MaxPairs, d.Looks, d.Alpha/float64(k+1))
		if err != nil {
			return nil, err
		}
		f.plans = append(f.plans, plan)
	}
	return f, nil
}

func (f *family) look(pairs int) bool {
	_, planned := f.plans[0].At(pairs)
	return planned
}

func (f *family) truncate(pairs int) error {
	for k := range f.plans {
		plan, err := f.plans[k].Truncate(pairs)
		if err != nil {
			return err
		}
		f.plans[k] = plan
	}
	return nil
}

// level is the nominal level of each of k open comparisons; where no look was
// planned, after an interruption, it is the strictest.
func (f *family) level(open, pairs int) float64 {
	plan := f.plans[open-1]
	if look, ok := plan.At(pairs); ok {
		return look.Level
	}
	level := 1.0
	for _, look := range plan.Plan {
		if look.Level > 0 {
			level = min(level, look.Level)
		}
	}
	return level
}

// conclude computes the comparisons at the look at hand. Effects that an
// earlier look found stand.
func (r *Result) conclude(f *family) {
	found := map[int]Comparison{}
	for _, c := range r.Comparisons {
		if c.Decided > 0 {
			found[c.Arm] = c
		}
	}
	for {
		open := len(r.Design.Arms) - 1 - len(found)
		before := len(found)
		r.Comparisons = nil
		for arm := 1; arm < len(r.Design.Arms); arm++ {
			c, ok := found[arm]
			if !ok {
				c = r.compare(arm, f.level(open, r.Pairs))
			}
			if c.Decided > 0 {
				found[arm] = c
			}
			r.Comparisons = append(r.Comparisons, c)
		}
		if len(found) == before {
			return
		}
	}
}

// finish concludes unless the look at hand did, and says what weakens that.
func (r *Result) finish(f *family) {
	r.conclude(f)
	r.Warnings = r.warnings()
	r.Noise = r.noise(f)
}

func (r *Result) compare(arm int, level float64) Comparison {
	c := Comparison{Arm: arm, Verdict: stats.NotEnough, Wilcoxon: 1}
	logs, err := r.logRatios(arm)
	if err == nil {
		c.Interval, err = stats.PairedRatio(logs, 1-level)
	}
	if err != nil {
		return c
	}
	c.Verdict = stats.Judge(c.Interval, r.Design.Margin, !r.Design.Lower)
	if c.Verdict == stats.Helps || c.Verdict == stats.Hurts {
		c.Decided = r.Pairs
	}
	if p, err := stats.Wilcoxon(logs); err == nil {
		c.Wilcoxon = p
	}
	return c
}

func (r *Result) decided() bool {
	for _, c := range r.Comparisons {
		if c.Verdict == stats.NotEnough {
			return false
		}
	}
	return true
}

func (r *Result) noise(f *family) *Noise {
	var squares, df float64
	for arm := 1; arm < len(r.Design.Arms); arm++ {
		logs, err := r.logRatios(arm)
		if err != nil || len(logs) < 2 {
			continue
		}
		mean := 0.0
		for _, v := range logs {
			mean += v / float64(len(logs))
		}
		for _, v := range logs {
			squares += (v - mean) * (v - mean)
		}
		df += float64(len(logs) - 1)
	}
	if df == 0 {
		return nil
	}
	sd := math.Sqrt(squares / df)
	n := &Noise{SD: sd, Pairs: r.Pairs}
	if sd > 0 {
		n.MinDetectable = stats.MinDetectable(r.Pairs, sd, f.level(len(r.Design.Arms)-1, r.Pairs), power)
	}
	if math.IsInf(n.MinDetectable, 0) || math.IsNaN(n.MinDetectable) {
		n.MinDetectable = 0
	}
	return n
}

// CodeLost and CodeControl are warnings of a trial beside those of stats.
const (
	CodeLost    = "lost-runs"
	CodeControl = "control-differs"
)

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
	return append(append(out, r.lostWarnings()...), r.runWarnings()...)
}

// lostWarnings says when the runs that were lost are not spread over the arms:
// what is left may then favour one of them.
func (r *Result) lostWarnings() []stats.Warning {
	total := len(r.LostRuns)
	if total == 0 {
		return nil
	}
	text := fmt.Sprintf("%d runs were lost and made again (%s); the verdict rests on the others", total, r.lostWords())
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
