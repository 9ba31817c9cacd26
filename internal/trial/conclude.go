package trial

import (
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
	switch found := c.Verdict == stats.Helps || c.Verdict == stats.Hurts; {
	case found && !r.stands(c, logs):
		c.Verdict, c.Undone = stats.NotEnough, true
	case found && !r.steady(c, logs):
		c.Verdict, c.Unsteady = stats.NotEnough, true
	case found:
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
