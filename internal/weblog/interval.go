package weblog

import "math"

// dist is a distribution with the parts of the log it is the sum of. The variance
// of a share is taken from how it differs between the parts; an interval of a
// quantile is an interval of the share below it, turned into times (Woodruff, JASA
// 47 (1952), 635).
type dist struct {
	all   *Hist
	parts []*Hist
	step  uint64
}

func distOf(s *Sketch) dist {
	return dist{all: s.Times(), parts: s.clusters, step: max(s.Step, 1)}
}

// share returns the share of values in bins below end, and its spread.
func (d dist) share(end int) (p float64, s spread) {
	n := float64(d.all.n)
	if n == 0 {
		return math.NaN(), spread{independent: math.NaN()}
	}
	edge := binEdge(end)
	p = float64(d.all.under(edge)) / n
	series := make([]float64, len(d.parts))
	for i, h := range d.parts {
		series[i] = (float64(h.under(edge)) - p*float64(h.n)) / n
	}
	return p, longRun(series, p*(1-p)/n)
}

// inflation is how much larger the variance of a share is than that of
// independent requests.
func (d dist) inflation(end int) float64 {
	_, s := d.share(end)
	if s.independent == 0 {
		return 1
	}
	return s.variance() / s.independent
}

// Estimate is a number with its interval. An end that the log cannot settle (a
// p99.99 of a thousand requests has no upper end) is nil.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// quantile estimates the time in us that a share q of the requests stay at or
// below. It is false for an empty distribution.
func (d dist) quantile(q, confidence float64) (Estimate, bool) {
	if d.all.n == 0 {
		return Estimate{}, false
	}
	e, _ := d.estimate(q, confidence, 0)
	return e, true
}

// estimate is quantile of a distribution that is not empty, with the given degrees
// of freedom (0: its own, which it returns).
func (d dist) estimate(q, confidence, freedom float64) (e Estimate, own float64) {
	bin, _ := d.all.rank(rankOf(q, d.all.n))
	e.Value = d.all.value(bin, d.step)
	_, s := d.share(bin + 1)
	s.independent = max(s.independent, q*(1-q)/float64(d.all.n))
	half, own := s.half(confidence, freedom)
	if lo := q - half; lo > 0 {
		e.Low = d.at(lo)
	}
	if hi := q + half; hi < 1 {
		e.High = d.at(hi)
	}
	return e, own
}

func (d dist) at(q float64) *float64 {
	bin, ok := d.all.rank(rankOf(q, d.all.n))
	if !ok {
		return nil
	}
	v := d.all.value(bin, d.step)
	return &v
}

// rankOf is the rank of the smallest value that a share q of n values do not
// exceed.
func rankOf(q float64, n uint64) uint64 {
	// The product of 0.95 and 100 is 95, whatever the rounding of 0.95.
	return uint64(math.Ceil(q*float64(n) - 1e-9*float64(n)))
}
