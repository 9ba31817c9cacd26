package weblog

import (
	"fmt"
	"math"
	"strconv"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// Comparison is how the request times after differ from those before.
type Comparison struct {
	Before  *Report       `json:"before"`
	Judge   string        `json:"judge"`  // the percentile that decides
	Margin  float64       `json:"margin"` // relative change that is worthwhile
	Verdict stats.Verdict `json:"verdict"`
	// More is how much longer each log should be, in s, where there is not enough
	// evidence and the logs say their times.
	More *float64 `json:"more_s,omitempty"`

	Shifts  []Shift        `json:"shifts"`  // as logged
	Matched *Matched       `json:"matched"` // the same objects and sizes; nil without common ones
	Under   []ShareChange  `json:"under"`
	KS      KolmogorovTest `json:"kolmogorov_smirnov"`
	Notes   []string       `json:"notes,omitempty"`

	requests uint64 // after
}

// Shift is the change of one percentile, in s. Change is after minus before.
type Shift struct {
	Percentile string           `json:"percentile"`
	Before     latency.Estimate `json:"before_s"`
	After      latency.Estimate `json:"after_s"`
	Change     latency.Estimate `json:"change_s"`
	Ratio      *float64         `json:"ratio"` // after / before; nil when before is 0
	P          *float64         `json:"p"`     // quantile test, Holm-adjusted; nil for Matched
	Verdict    stats.Verdict    `json:"verdict"`
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
	Under  float64          `json:"under_s"`
	Before float64          `json:"before"`
	After  float64          `json:"after"`
	Change latency.Estimate `json:"change"`
}

// KolmogorovTest is the largest distance between the two distribution
// functions, the time below which it is found, and its probability if nothing had
// changed. Counts enter it divided by how much more requests of a log vary than
// independent ones would.
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
		return nil, fmt.Errorf("nothing to compare: %s after, %s before", after.counted(), before.counted())
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
	c := &Comparison{Before: Summarize(before, v), requests: after.Requests, Judge: percentName(j.Percentile),
		Margin: j.Margin}
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
	for i, p := range stats.HolmAdjusted(ps) {
		c.Shifts[i].P = &p
	}
	for _, t := range c.Before.thresholds(v) {
		c.Under = append(c.Under, shareChange(t, a, b, v.Confidence))
	}
	c.KS = kolmogorov(a, b)
	if after.detail != nil && before.detail != nil {
		c.Matched = match(after, before, v.Confidence, j)
	}
	c.decide(shorter(after, before))
	c.addDrift(a, b, j.Percentile/100)
	c.addNotes(a, b)
	c.addKinds(after, before)
	return report, nil
}

// counted says how many requests there are.
func (s *Sketch) counted() string {
	words := units.Plural(s.Requests, "request")
	if s.Filtered > 0 {
		words += fmt.Sprintf(" (%s filtered out)", units.Count(s.Filtered))
	}
	if n := s.Skipped(); n > 0 {
		words += fmt.Sprintf(" (%s skipped)", units.Plural(n, "line"))
	}
	return words
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
func shift(p float64, after, before latency.Dist, confidence, margin float64) (Shift, bool) {
	if after.All.N == 0 || before.All.N == 0 {
		return Shift{}, false
	}
	a, b := together(after.Estimate, before.Estimate, p/100, confidence)
	return newShift(p, a, b, margin, float64(max(after.Step, before.Step))), true
}

// together estimates a quantile of both sides for their difference, which has more
// degrees of freedom than each side (Welch 1947).
func together(after, before func(q, confidence, freedom float64) (latency.Estimate, float64), q,
	confidence float64) (a, b latency.Estimate) {
	a, freeA := after(q, confidence, 0)
	b, freeB := before(q, confidence, 0)
	va, vb := a.Width()*a.Width(), b.Width()*b.Width()
	freedom := (va + vb) * (va + vb) / (va*va/freeA + vb*vb/freeB)
	if math.IsNaN(freedom) {
		return a, b // an end is missing, or both have no width
	}
	a, _ = after(q, confidence, freedom)
	b, _ = before(q, confidence, freedom)
	return a, b
}

// newShift makes a shift of two estimates in us. step is the resolution, below
// which no change is worthwhile.
func newShift(p float64, after, before latency.Estimate, margin, step float64) Shift {
	change := difference(after, before)
	s := Shift{Percentile: percentName(p), Before: before.Scaled(inSeconds), After: after.Scaled(inSeconds),
		Change: change.Scaled(inSeconds)}
	if before.Value > 0 {
		ratio := after.Value / before.Value
		s.Ratio = &ratio
	}
	s.Verdict = judge(change, max(margin*before.Value, step))
	return s
}

// difference is after minus before, with the interval that those of the two
// give (MOVER: Zou and Donner, Stat. Med. 27 (2008), 1693).
func difference(after, before latency.Estimate) latency.Estimate {
	d := latency.Estimate{Value: after.Value - before.Value}
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
func judge(change latency.Estimate, worthwhile float64) stats.Verdict {
	lo, hi := math.Inf(-1), math.Inf(1)
	if change.Low != nil {
		lo = *change.Low
	}
	if change.High != nil {
		hi = *change.High
	}
	switch {
	case lo >= -worthwhile && hi <= worthwhile:
		return stats.NoDifference
	case hi < 0 && change.Value <= -worthwhile:
		return stats.Helps
	case lo > 0 && change.Value >= worthwhile:
		return stats.Hurts
	}
	return stats.NotEnough
}

// quantileTest returns the two-sided probability of what the two sides show if their
// quantile q were the same: of the time between those of the two that explains both
// best, how far the shares at or below it are from q.
func quantileTest(q float64, a, b latency.Dist) float64 {
	binA, okA := a.All.Rank(latency.RankOf(q, a.All.N))
	binB, okB := b.All.Rank(latency.RankOf(q, b.All.N))
	if !okA || !okB || binA == binB {
		return 1
	}
	if binA > binB {
		a, b, binA, binB = b, a, binB, binA
	}
	va, freeA := a.Variance(binA+1, q)
	vb, freeB := b.Variance(binB+1, q)
	// From binA on, a has at least q of its requests at or below; b has less than q
	// below binB.
	belowA, belowB := float64(a.All.Under(latency.BinEdge(binA))), float64(b.All.Under(latency.BinEdge(binA)))
	best := math.Inf(1)
	for bin := binA; bin <= binB; bin++ {
		over := max(0, belowA/float64(a.All.N)-q)
		belowA, belowB = belowA+a.All.In(bin), belowB+b.All.In(bin)
		missing := max(0, q-belowB/float64(b.All.N))
		best = min(best, over*over/va+missing*missing/vb)
	}
	v := va + vb
	freedom := v * v / (va*va/freeA + vb*vb/freeB)
	freedom = min(freedom, 1e6) // of independent requests it is infinite
	return 2 * stats.StudentCDF(freedom, -math.Sqrt(best))
}

func shareChange(threshold float64, a, b latency.Dist, confidence float64) ShareChange {
	end := latency.BinOf(uint64(math.Round(threshold * 1e6)))
	after, before := a.ShareEstimate(end, confidence), b.ShareEstimate(end, confidence)
	return ShareChange{Under: threshold, Before: before.Value, After: after.Value, Change: difference(after, before)}
}

// kolmogorov is the two-sample Kolmogorov-Smirnov test over the bins. Its
// probability is Stephens's approximation with effective counts.
func kolmogorov(a, b latency.Dist) KolmogorovTest {
	var t KolmogorovTest
	var na, nb float64
	at := 0
	for bin := range latency.NumBins {
		na, nb = na+a.All.In(bin), nb+b.All.In(bin)
		if d := math.Abs(na/float64(a.All.N) - nb/float64(b.All.N)); d > t.D {
			t.D, at = d, bin
		}
	}
	step := max(a.Step, b.Step)
	t.At = inSeconds(float64((latency.BinEdge(at+1) + step - 1) / step * step))
	effA := float64(a.All.N) / a.Inflation(at+1)
	effB := float64(b.All.N) / b.Inflation(at+1)
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

// Decisive are the shifts that the verdict is taken from: those of the matched requests
// where most are.
func (c *Comparison) Decisive() []Shift {
	if m := c.Matched; m != nil && min(m.BeforeShare, m.AfterShare) >= minCommon {
		return m.Shifts
	}
	return c.Shifts
}

// decide takes the verdict of the decisive percentile. length is that of the shorter log
// in s, 0 if unknown.
func (c *Comparison) decide(length float64) {
	shifts := c.Decisive()
	c.Verdict = stats.NotEnough
	for _, s := range shifts {
		if s.Percentile != c.Judge {
			continue
		}
		if c.Verdict = s.Verdict; c.Verdict == stats.NotEnough {
			c.addMore(s.longer(c.Margin, min(c.Before.Requests, c.requests)), length)
		}
	}
	for _, s := range shifts {
		if s.Verdict != c.Verdict && s.Verdict.Decided() {
			c.Notes = append(c.Notes, fmt.Sprintf("p%s says otherwise: %s", s.Percentile, s.Verdict))
		}
	}
}

// longer returns how many times as long the logs have to be for a verdict, if the
// change is what it seems: its interval has to leave out either 0 or changes that
// are worthwhile. Where the interval has no end, it takes enough requests beyond the
// percentile; requests is how many the smaller log has.
func (s Shift) longer(margin float64, requests uint64) float64 {
	width, change, worthwhile := s.Change.Width(), math.Abs(s.Change.Value), margin*s.Before.Value
	if math.IsNaN(width) {
		p, _ := strconv.ParseFloat(s.Percentile, 64)
		return max(2, enoughBeyond/(float64(requests)*min(p, 100-p)/100))
	}
	needed := change
	if change < worthwhile {
		needed = worthwhile - change
	}
	return max(1.1, math.Pow(width/2/needed, 2))
}

// enoughBeyond is how many requests beyond a percentile give its interval an end.
const enoughBeyond = 10

// mostLonger is where more of the same log is no advice any more.
const mostLonger = 100

func (c *Comparison) addMore(times, length float64) {
	switch {
	case !(times <= mostLonger):
		c.Notes = append(c.Notes, "not enough evidence: the change is so near to the margin or the logs vary so "+
			"much that longer ones would hardly tell; measure in a trial")
	case length == 0:
		c.Notes = append(c.Notes, fmt.Sprintf("not enough evidence: logs %s times as long may tell", units.Digits(times, 2)))
	default:
		more := (times - 1) * length
		c.More = &more
		c.Notes = append(c.Notes, fmt.Sprintf("not enough evidence: %s more of each log may tell, if the change is "+
			"what it seems", minutes(more)))
	}
}

// minutes prints a length of time in minutes, or in hours where these are many.
func minutes(s float64) string {
	if s < 120*60 {
		return units.Plural(uint64(max(1, math.Ceil(s/60))), "minute")
	}
	return units.Plural(uint64(math.Ceil(s/3600)), "hour")
}

// shorter returns the length of the shorter log in s; 0 if one is not known.
func shorter(a, b *Sketch) float64 {
	if a.detail == nil || b.detail == nil {
		return 0
	}
	return min(a.detail.timeline.length(), b.detail.timeline.length())
}

// addDrift says when the logs are shorter than what makes their times vary.
func (c *Comparison) addDrift(a, b latency.Dist, q float64) {
	for _, side := range []struct {
		name string
		d    latency.Dist
	}{{"after", a}, {"before", b}} {
		bin, ok := side.d.All.Rank(latency.RankOf(q, side.d.All.N))
		if !ok {
			continue
		}
		if _, s := side.d.Share(bin + 1); s.Short {
			c.Notes = append(c.Notes, fmt.Sprintf("the times of the log of %s change as slowly as it is long (load, "+
				"hour of the day): its intervals are wide, and longer logs of the same hours tell more", side.name))
		}
	}
}

// minCommon is the share of both sides' requests that must be comparable for
// the matched requests to decide.
const minCommon = 0.5

// fewRequests is where a comparison is warned of.
const fewRequests = 1000

func (c *Comparison) addNotes(a, b latency.Dist) {
	if c.Matched == nil {
		c.Notes = append(c.Notes, "the mix of requests was not compared (no path and size occurs on both sides): "+
			"another mix can look like another speed")
	} else if m := min(c.Matched.BeforeShare, c.Matched.AfterShare); m < minCommon {
		c.Notes = append(c.Notes, fmt.Sprintf("only %.0f%% of the requests have a counterpart of the same path and "+
			"size on the other side; the verdict is of all requests as logged", 100*m))
	}
	if n := min(a.All.N, b.All.N); n < fewRequests {
		c.Notes = append(c.Notes, fmt.Sprintf("a log of %s hardly shows how much its times vary by themselves; "+
			"compare longer ones", units.Plural(n, "request")))
	}
	c.Notes = append(c.Notes, "before and after are different hours: load and visitors differ too; a trial compares "+
		"under the same conditions")
}

func distOf(s *Sketch) latency.Dist {
	return latency.Dist{All: s.Times(), Parts: s.clusters, Step: max(s.Step, 1)}
}
