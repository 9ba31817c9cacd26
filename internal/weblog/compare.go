package weblog

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Verdict is the answer of a comparison, in the words of a trial.
type Verdict string

// The verdicts: after against before.
const (
	Helps     Verdict = "helps"
	Hurts     Verdict = "hurts"
	NoMatter  Verdict = "no worthwhile difference"
	NotEnough Verdict = "not enough evidence"
)

// Comparison is how the request times after differ from those before.
type Comparison struct {
	Before  *Report `json:"before"`
	Judge   string  `json:"judge"`  // the percentile that decides
	Margin  float64 `json:"margin"` // relative change that is worthwhile
	Verdict Verdict `json:"verdict"`

	Shifts  []Shift        `json:"shifts"`  // as logged
	Matched *Matched       `json:"matched"` // the same objects and sizes; nil without common ones
	Under   []ShareChange  `json:"under"`
	KS      KolmogorovTest `json:"kolmogorov_smirnov"`
	Notes   []string       `json:"notes,omitempty"`
}

// Shift is the change of one percentile, in s. Change is after minus before.
type Shift struct {
	Percentile string   `json:"percentile"`
	Before     Estimate `json:"before_s"`
	After      Estimate `json:"after_s"`
	Change     Estimate `json:"change_s"`
	Ratio      *float64 `json:"ratio"` // after / before; nil when before is 0
	P          *float64 `json:"p"`     // quantile test, Holm-adjusted; nil for Matched
	Verdict    Verdict  `json:"verdict"`
}

// Matched compares requests for the same path pattern and size class only, and
// weighs these classes alike on both sides, so that another mix of requests is
// not taken for another speed.
type Matched struct {
	Classes     int     `json:"classes"`
	BeforeShare float64 `json:"before_share"` // of the requests that are in common classes
	AfterShare  float64 `json:"after_share"`
	Shifts      []Shift `json:"shifts"`
}

// ShareChange is the change of the share under a threshold.
type ShareChange struct {
	Under  float64  `json:"under_s"`
	Before float64  `json:"before"`
	After  float64  `json:"after"`
	Change Estimate `json:"change"`
}

// KolmogorovTest is the largest distance between the two distribution
// functions, where it is, and its probability if nothing had changed. Counts
// enter it divided by how much more requests of a log vary than independent
// ones would.
type KolmogorovTest struct {
	D  float64 `json:"d"`
	At float64 `json:"at_s"`
	P  float64 `json:"p"`
}

// Judgement says how a comparison is decided.
type Judgement struct {
	Percentile float64 // 0 is 95
	Margin     float64 // 0 is 0.05: changes of 5% matter
}

// Compare makes the report of after with its comparison against before.
func Compare(after, before *Sketch, v View, j Judgement) (*Report, error) {
	if after.Requests == 0 || before.Requests == 0 {
		return nil, fmt.Errorf("nothing to compare: %d requests after, %d before", after.Requests, before.Requests)
	}
	if j.Percentile == 0 {
		j.Percentile = 95
	}
	if j.Margin == 0 {
		j.Margin = 0.05
	}
	if v.Confidence == 0 {
		v.Confidence = 0.95
	}
	report := Summarize(after, v)
	v.By = nil
	c := &Comparison{Before: Summarize(before, v), Judge: percentName(j.Percentile), Margin: j.Margin}
	report.Comparison = c
	a, b := distOf(after), distOf(before)
	var ps []float64
	for _, p := range judged(j.Percentile) {
		s, ok := shift(p, a, b, v.Confidence, j.Margin)
		if !ok {
			continue
		}
		c.Shifts = append(c.Shifts, s)
		ps = append(ps, quantileTest(p/100, a, b))
	}
	for i, p := range holm(ps) {
		c.Shifts[i].P = &p
	}
	for _, t := range c.Before.thresholds(v) {
		c.Under = append(c.Under, shareChange(t, a, b, v.Confidence))
	}
	c.KS = kolmogorov(a, b)
	if after.detail != nil && before.detail != nil {
		c.Matched = match(after, before, v.Confidence, j)
	}
	c.decide()
	c.addNotes(a, b)
	return report, nil
}

// judged are the percentiles compared.
func judged(decisive float64) []float64 {
	for _, p := range percentiles {
		if p == decisive {
			return percentiles
		}
	}
	return append(append([]float64{}, percentiles...), decisive)
}

func (r *Report) thresholds(v View) []float64 {
	if v.Under == nil {
		return []float64{0.1}
	}
	return v.Under
}

// shift compares one percentile.
func shift(p float64, after, before dist, confidence, margin float64) (Shift, bool) {
	a, okA := after.quantile(p/100, confidence)
	b, okB := before.quantile(p/100, confidence)
	if !okA || !okB {
		return Shift{}, false
	}
	return newShift(p, a, b, margin, float64(max(after.step, before.step))), true
}

// newShift makes a shift of two estimates in us. step is the resolution, below
// which no change is worthwhile.
func newShift(p float64, after, before Estimate, margin, step float64) Shift {
	change := difference(after, before)
	s := Shift{Percentile: percentName(p), Before: before.scaled(inSeconds), After: after.scaled(inSeconds), Change: change.scaled(inSeconds)}
	if before.Value > 0 {
		ratio := after.Value / before.Value
		s.Ratio = &ratio
	}
	s.Verdict = judge(change, max(margin*before.Value, step))
	return s
}

// difference is after minus before, with the interval that those of the two
// give (MOVER: Zou and Donner, Stat. Med. 27 (2008), 1693).
func difference(after, before Estimate) Estimate {
	d := Estimate{Value: after.Value - before.Value}
	if after.Low != nil && before.High != nil {
		v := d.Value - math.Hypot(after.Value-*after.Low, *before.High-before.Value)
		d.Low = &v
	}
	if after.High != nil && before.Low != nil {
		v := d.Value + math.Hypot(*after.High-after.Value, before.Value-*before.Low)
		d.High = &v
	}
	return d
}

// judge gives the verdict of a change of a time: helps is less.
func judge(change Estimate, worthwhile float64) Verdict {
	lo, hi := math.Inf(-1), math.Inf(1)
	if change.Low != nil {
		lo = *change.Low
	}
	if change.High != nil {
		hi = *change.High
	}
	switch {
	case lo >= -worthwhile && hi <= worthwhile:
		return NoMatter
	case hi < 0 && change.Value <= -worthwhile:
		return Helps
	case lo > 0 && change.Value >= worthwhile:
		return Hurts
	}
	return NotEnough
}

// quantileTest returns the two-sided probability of the difference between the
// shares of the two sides at or below their common quantile, were there none.
func quantileTest(q float64, a, b dist) float64 {
	both := new(Hist)
	both.Merge(a.all)
	both.Merge(b.all)
	bin, ok := both.rank(rankOf(q, both.n))
	if !ok {
		return 1
	}
	pa, sa := a.share(bin + 1)
	pb, sb := b.share(bin + 1)
	v := sa.variance + sb.variance
	if pa == pb {
		return 1
	}
	if v == 0 {
		v = 1 / float64(min(a.all.n, b.all.n))
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(max(1, min(sa.parts, sb.parts)-1))}
	return 2 * t.Survival(math.Abs(pa-pb)/math.Sqrt(v))
}

// holm adjusts probabilities for being several (Holm 1979).
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	for i := range order {
		for j := i; j > 0 && p[order[j]] < p[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	out := make([]float64, len(p))
	worst := 0.0
	for rank, i := range order {
		worst = max(worst, min(1, p[i]*float64(len(p)-rank)))
		out[i] = worst
	}
	return out
}

func shareChange(threshold float64, a, b dist, confidence float64) ShareChange {
	end := binOf(uint64(math.Round(threshold * 1e6)))
	pa, sa := a.share(end)
	pb, sb := b.share(end)
	half := math.Hypot(sa.factor(confidence)*math.Sqrt(sa.variance), sb.factor(confidence)*math.Sqrt(sb.variance))
	lo, hi := max(-1, pa-pb-half), min(1, pa-pb+half)
	return ShareChange{Under: threshold, Before: pb, After: pa, Change: Estimate{pa - pb, &lo, &hi}}
}

// kolmogorov is the two-sample Kolmogorov-Smirnov test over the bins. Its
// probability is Stephens's approximation with effective counts.
func kolmogorov(a, b dist) KolmogorovTest {
	var t KolmogorovTest
	var na, nb uint64
	at := 0
	for i := range numPages {
		for j := range pageBins {
			bin := i*pageBins + j
			if p := a.all.pages[i]; p != nil {
				na += p[j]
			}
			if p := b.all.pages[i]; p != nil {
				nb += p[j]
			}
			d := math.Abs(float64(na)/float64(a.all.n) - float64(nb)/float64(b.all.n))
			if d > t.D {
				t.D, at = d, bin
			}
		}
	}
	t.At = inSeconds(float64(binEdge(at + 1)))
	effA := float64(a.all.n) / a.inflation(at+1)
	effB := float64(b.all.n) / b.inflation(at+1)
	n := math.Sqrt(effA * effB / (effA + effB))
	t.P = kolmogorovTail((n + 0.12 + 0.11/n) * t.D)
	return t
}

// kolmogorovTail is the probability of a distance of lambda or more, the
// limiting distribution.
func kolmogorovTail(lambda float64) float64 {
	if lambda < 0.3 {
		return 1
	}
	sum, sign := 0.0, 1.0
	for k := 1.0; k <= 100; k++ {
		term := math.Exp(-2 * k * k * lambda * lambda)
		sum += sign * term
		if term < 1e-12 {
			break
		}
		sign = -sign
	}
	return max(0, min(1, 2*sum))
}

// decide takes the verdict of the decisive percentile, from the matched
// requests where most are.
func (c *Comparison) decide() {
	shifts := c.Shifts
	if m := c.Matched; m != nil && min(m.BeforeShare, m.AfterShare) >= minCommon {
		shifts = m.Shifts
	}
	c.Verdict = NotEnough
	for _, s := range shifts {
		if s.Percentile == c.Judge {
			c.Verdict = s.Verdict
		}
	}
	for _, s := range shifts {
		if s.Verdict != c.Verdict && (s.Verdict == Helps || s.Verdict == Hurts) {
			c.Notes = append(c.Notes, fmt.Sprintf("p%s says otherwise: %s", s.Percentile, s.Verdict))
		}
	}
}

// minCommon is the share of both sides' requests that must be comparable for
// the matched requests to decide.
const minCommon = 0.5

// fewRequests is where a comparison is warned of.
const fewRequests = 1000

func (c *Comparison) addNotes(a, b dist) {
	if c.Matched == nil {
		c.Notes = append(c.Notes, "the mix of requests was not compared (no path or size is known on both sides): another mix can look like another speed")
	} else if m := min(c.Matched.BeforeShare, c.Matched.AfterShare); m < minCommon {
		c.Notes = append(c.Notes, fmt.Sprintf("only %.0f%% of the requests have a counterpart of the same path and size on the other side; the verdict is of all requests as logged", 100*m))
	}
	if n := min(a.all.n, b.all.n); n < fewRequests || min(len(a.parts), len(b.parts)) < minParts {
		c.Notes = append(c.Notes, fmt.Sprintf("a log of %d requests hardly shows how much its times vary by themselves; compare longer ones", n))
	}
	c.Notes = append(c.Notes, "before and after are different hours: load and visitors differ too; a trial compares under the same conditions")
}
