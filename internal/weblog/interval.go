package weblog

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// dist is a distribution with the parts of the log it is the sum of.
//
// Requests are not independent: load, caches and single visitors make
// neighbours alike. So the variance of a share is taken from how it differs
// between the parts (clusters), as in a cluster sample, and is never less than
// that of independent requests. An interval of a quantile is an interval of the
// share below it, turned into times (Woodruff, JASA 47 (1952), 635).
type dist struct {
	all   *Hist
	parts []*Hist
	step  uint64
}

func distOf(s *Sketch) dist {
	return dist{all: s.Times(), parts: s.clusters, step: max(s.Step, 1)}
}

// minParts is the smallest number of parts that a variance is taken from.
const minParts = 8

// spread is the variance of a share and the number of parts it was taken from.
type spread struct {
	variance float64
	parts    int
}

// share returns the share of values in bins below end, and its spread. What
// makes requests alike may last longer than one part; so the variance is taken
// between the parts, between pairs of them, fours and so on (batch means), and
// the largest counts.
func (d dist) share(end int) (p float64, s spread) {
	n := float64(d.all.n)
	if n == 0 {
		return math.NaN(), spread{math.NaN(), 1}
	}
	edge := binEdge(end)
	p = float64(d.all.under(edge)) / n
	s = spread{p * (1 - p) / n, len(d.parts)}
	deviations := make([]float64, len(d.parts))
	for i, h := range d.parts {
		deviations[i] = float64(h.under(edge)) - p*float64(h.n)
	}
	for first := true; len(deviations) > 1 && (first || len(deviations) >= minParts); first = false {
		m := float64(len(deviations))
		var ss float64
		for _, e := range deviations {
			ss += e * e
		}
		if v := ss / (n * n) * m / (m - 1); v > s.variance {
			s = spread{v, len(deviations)}
		}
		deviations = pairs(deviations)
	}
	return p, s
}

// pairs adds up neighbours; the last of an odd number joins the pair before.
func pairs(v []float64) []float64 {
	out := make([]float64, len(v)/2)
	for i, x := range v {
		out[min(i/2, len(out)-1)] += x
	}
	return out
}

// inflation is how much larger the variance of a share is than that of
// independent requests.
func (d dist) inflation(end int) float64 {
	p, s := d.share(end)
	if p <= 0 || p >= 1 {
		return 1
	}
	return max(1, s.variance*float64(d.all.n)/(p*(1-p)))
}

// factor is the multiple of the standard error for an interval of the given
// confidence.
func (s spread) factor(confidence float64) float64 {
	if s.parts > 1 {
		return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.parts - 1)}.Quantile((1 + confidence) / 2)
	}
	return distuv.UnitNormal.Quantile((1 + confidence) / 2)
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
	bin, ok := d.all.rank(rankOf(q, d.all.n))
	if !ok {
		return Estimate{}, false
	}
	e := Estimate{Value: d.all.value(bin, d.step)}
	_, s := d.share(bin + 1)
	half := s.factor(confidence) * math.Sqrt(max(s.variance, q*(1-q)/float64(d.all.n)))
	if lo := q - half; lo > 0 {
		e.Low = d.at(lo)
	}
	if hi := q + half; hi < 1 {
		e.High = d.at(hi)
	}
	return e, true
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
