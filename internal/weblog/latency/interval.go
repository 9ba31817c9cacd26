package latency

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/wirerate/wirerate/internal/stats"
)

// Dist is a distribution with the parts of the log it is the sum of. The variance
// of a share is taken from how it differs between the parts; an interval of a
// quantile is an interval of the share below it, turned into times (Woodruff, JASA
// 47 (1952), 635).
type Dist struct {
	All   *Hist
	Parts []*Hist
	Step  uint64
}

// Share returns the share of values in bins below end, and its spread.
func (d Dist) Share(end int) (p float64, s spread) {
	n := float64(d.All.N)
	if n == 0 {
		return math.NaN(), spread{Independent: math.NaN()}
	}
	edge := BinEdge(end)
	p = float64(d.All.Under(edge)) / n
	series := make([]float64, len(d.Parts))
	for i, h := range d.Parts {
		series[i] = (float64(h.Under(edge)) - p*float64(h.N)) / n
	}
	return p, longRun(series, p*(1-p)/n)
}

// Inflation is how much larger the variance of a share is than that of
// independent requests.
func (d Dist) Inflation(end int) float64 {
	_, s := d.Share(end)
	if s.Independent == 0 {
		return 1
	}
	return s.variance() / s.Independent
}

// Estimate is a number with its interval. An end that the log cannot settle (a
// p99.99 of a thousand requests has no upper end) is nil.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Quantile estimates the time in us that a share q of the requests stay at or
// below. It is false for an empty distribution.
func (d Dist) Quantile(q, confidence float64) (Estimate, bool) {
	if d.All.N == 0 {
		return Estimate{}, false
	}
	e, _ := d.Estimate(q, confidence, 0)
	return e, true
}

// Estimate is quantile of a distribution that is not empty, with the given degrees
// of freedom (0: its own, which it returns).
func (d Dist) Estimate(q, confidence, freedom float64) (e Estimate, own float64) {
	bin, _ := d.All.Rank(RankOf(q, d.All.N))
	e.Value = d.All.Value(bin, d.Step)
	_, s := d.Share(bin + 1)
	s.Independent = max(s.Independent, q*(1-q)/float64(d.All.N))
	half, own := s.Half(confidence, freedom)
	lo, hi := Around(q, half, confidence, float64(d.All.N))
	if lo > 0 {
		e.Low = d.at(lo)
	}
	if hi <= 1 {
		e.High = d.at(hi)
	}
	return e, own
}

// manyRequests is the variance of a count from which on it is as good as normal.
const manyRequests = 400

// worth returns how many independent requests, n at most, give an interval of a
// share q of which half is half the width.
func worth(q, half, confidence, n float64) float64 {
	if half == 0 {
		return n
	}
	z := stats.NormalQuantile((1 + confidence) / 2)
	return min(n, z*z*q*(1-q)/(half*half))
}

// Around returns the shares of n requests between which a quantile q is, half being
// half the width if counts were normal; lo of 0 and hi above 1 are no ends. Where few
// requests are expected on one side the ends are order statistics: the k-th smallest
// of m shares is beta distributed with k and m+1-k (David and Nagaraja, Order
// Statistics, 2003, 7.1).
func Around(q, half, confidence, n float64) (lo, hi float64) {
	m := worth(q, half, confidence, n)
	if m*q*(1-q) > manyRequests {
		if hi = q + half; hi >= 1 {
			hi = math.Inf(1)
		}
		return max(0, q-half), hi
	}
	tail := (1 - confidence) / 2
	below := func(k float64) float64 { return 1 - mathext.RegIncBeta(k, m+1-k, q) }
	if k := crossing(0, m+1, func(k float64) bool { return below(k) <= tail }); k >= 1 {
		lo = math.Floor(k*n/m) / n
	}
	k := crossing(0, m+1, func(k float64) bool { return below(k) < 1-tail })
	return lo, math.Ceil(k*n/m-1e-9) / n
}

// crossing returns where f, true at lo, becomes false on the way to hi.
func crossing(lo, hi float64, f func(float64) bool) float64 {
	for range 60 {
		if x := (lo + hi) / 2; f(x) {
			lo = x
		} else {
			hi = x
		}
	}
	return lo
}

// ShareEstimate estimates the share of values in bins below end: with the binomial
// interval (Clopper and Pearson, Biometrika 26 (1934), 404) where few requests are on
// one side, so that none of ten is not taken for none ever.
func (d Dist) ShareEstimate(end int, confidence float64) Estimate {
	p, s := d.Share(end)
	half, _ := s.Half(confidence, 0)
	lo, hi := max(0, p-half), min(1, p+half)
	if m := worth(p, half, confidence, float64(d.All.N)); m*p*(1-p) <= manyRequests {
		tail := (1 - confidence) / 2
		if lo = 0; p > 0 {
			lo = crossing(0, p, func(x float64) bool { return mathext.RegIncBeta(p*m, m-p*m+1, x) < tail })
		}
		if hi = 1; p < 1 {
			hi = crossing(p, 1, func(x float64) bool { return mathext.RegIncBeta(p*m+1, m-p*m, x) < 1-tail })
		}
	}
	return Estimate{p, &lo, &hi}
}

func (d Dist) at(q float64) *float64 {
	bin, ok := d.All.Rank(RankOf(q, d.All.N))
	if !ok {
		return nil
	}
	v := d.All.Value(bin, d.Step)
	return &v
}

// RankOf is the rank of the smallest value that a share q of n values do not
// exceed.
func RankOf(q float64, n uint64) uint64 {
	// The product of 0.95 and 100 is 95, whatever the rounding of 0.95.
	return uint64(math.Ceil(q*float64(n) - 1e-9*float64(n)))
}

// Scaled applies f to the value and the ends.
func (e Estimate) Scaled(f func(float64) float64) Estimate {
	out := Estimate{Value: f(e.Value)}
	for _, end := range []struct{ from, to **float64 }{{&e.Low, &out.Low}, {&e.High, &out.High}} {
		if *end.from != nil {
			v := f(**end.from)
			*end.to = &v
		}
	}
	return out
}

// Width is that of the interval, NaN without both ends.
func (e Estimate) Width() float64 {
	if e.Low == nil || e.High == nil {
		return math.NaN()
	}
	return *e.High - *e.Low
}

// Variance returns that of the share of values in bins below end, were it q, and its
// degrees of freedom.
func (d Dist) Variance(end int, q float64) (v, freedom float64) {
	_, s := d.Share(end)
	if s.Independent = max(s.Independent, q*(1-q)/float64(d.All.N)); s.Between > s.Independent {
		return s.Between, s.freedom
	}
	return s.Independent, math.Inf(1)
}
