package latency

import (
	"math"

	"github.com/wirerate/wirerate/internal/stats"
)

// spread is how much a share may be off. Requests are not independent: load,
// caches and single visitors make neighbours alike. So next to the variance that
// independent requests would have, it holds that of how the share changes in the
// course of the log, with its degrees of freedom; the wider interval counts.
type spread struct {
	Independent float64 // variance
	Between     float64 // variance from the parts of the log
	freedom     float64 // of between; 0: there are no parts
	Short       bool    // what makes requests alike lasts about as long as the log
}

// Half returns half the width of the interval of the given confidence, and its
// degrees of freedom. freedom other than 0 replaces those of s: a difference of
// two has more than each.
func (s spread) Half(confidence, freedom float64) (half, own float64) {
	upper := (1 + confidence) / 2
	half, own = stats.NormalQuantile(upper)*math.Sqrt(s.Independent), math.Inf(1)
	if s.freedom == 0 {
		return half, own
	}
	own = s.freedom
	if freedom == 0 {
		freedom = own
	}
	factor := stats.NormalQuantile(upper)
	if !math.IsInf(freedom, 1) {
		factor = stats.StudentQuantile(freedom, upper)
	}
	if h := factor * math.Sqrt(s.Between); h > half {
		return h, own
	}
	return half, math.Inf(1)
}

// variance is the larger of the two.
func (s spread) variance() float64 { return max(s.Independent, s.Between) }

const (
	// wideWaves and fewWaves are how many waves the long-run variance is taken
	// from: the first where the parts of the log hardly depend on each other.
	wideWaves = 16
	fewWaves  = 8
	// flat is how far waves may fall short of the long-run variance for wideWaves,
	// tooSteep is where the log does not show it.
	flat     = 1.15
	tooSteep = 2.3
	// leastFreedom is what is left then.
	leastFreedom = 2
	// minWaved is the smallest number of parts that waves are looked at in.
	minWaved = 16
)

// longRun returns the variance of the sum of a series, the deviations of
// consecutive parts of a log from what is expected of them, which add up to 0.
//
// It is the mean of the squared cosine transforms of the lowest frequencies, which
// are independent whatever makes neighbours alike as long as that is short against
// the series, so that few of them give a t interval (Lazarus, Lewis, Stock and
// Watson, J. Bus. Econ. Stat. 36 (2018), 541). Where it is not so short, even these
// fall short of the variance at frequency 0. By how much is told by the whole
// spectrum: that of independent parts or of a first-order process among noise,
// averaged over how likely they make what is seen (Whittle's approximation), one
// half of the prior weight on independence.
func longRun(series []float64, independent float64) spread {
	s := spread{Independent: independent}
	n := len(series)
	if n < 2 {
		return s
	}
	if n < minWaved {
		for _, x := range series {
			s.Between += x * x
		}
		s.Between *= float64(n) / float64(n-1)
		s.freedom = float64(n - 1)
		return s
	}
	waves := cosines(series, 2*n/3)
	models := spectra(waves, n)
	s.freedom = wideWaves
	missing := shortfall(models, wideWaves)
	if missing > flat || n < 2*wideWaves {
		s.freedom = fewWaves
		missing = shortfall(models, fewWaves)
	}
	for _, w := range waves[:int(s.freedom)] {
		s.Between += w / s.freedom
	}
	s.Between *= missing
	s.Short = missing > tooSteep
	// What is missing is itself a guess, the worse the more it is.
	s.freedom = max(leastFreedom, s.freedom/missing)
	return s
}

// cosines returns the squares of the first cosine transforms of the series, scaled
// so that each is the variance of the sum if neighbours are not alike.
func cosines(series []float64, count int) []float64 {
	n := float64(len(series))
	out := make([]float64, count)
	for j := range out {
		sum := 0.0
		for i, x := range series {
			sum += x * math.Cos(math.Pi*float64(j+1)*(float64(i)+0.5)/n)
		}
		out[j] = 2 * sum * sum
	}
	return out
}

// spectrum is a model of the variance by frequency, in units of its noise.
type spectrum struct {
	weight float64 // all of them add up to 1
	zero   float64 // at frequency 0
	at     []float64
}

// The models: noise, and noise with a process of this many times its strength
// which falls by half at this frequency (in radians a part).
var (
	strengths = []float64{1, 3, 10, 30, 100}
	corners   = []float64{0.07, 0.14, 0.28, 0.56}
)

// spectra weighs the models by how likely they make the waves of n parts.
func spectra(waves []float64, n int) []spectrum {
	white := spectrum{zero: 1, at: make([]float64, len(waves))}
	for j := range white.at {
		white.at[j] = 1
	}
	models := []spectrum{white}
	for _, strength := range strengths {
		for _, corner := range corners {
			m := spectrum{zero: 1 + strength, at: make([]float64, len(waves))}
			for j := range m.at {
				f := 2 * math.Sin(math.Pi*float64(j+1)/float64(2*n)) / corner
				m.at[j] = 1 + strength/(1+f*f)
			}
			models = append(models, m)
		}
	}
	best := math.Inf(-1)
	for i := range models {
		m := &models[i]
		m.weight = m.likelihood(waves)
		if i == 0 {
			m.weight += math.Log(float64(len(strengths) * len(corners)))
		}
		best = max(best, m.weight)
	}
	sum := 0.0
	for i := range models {
		models[i].weight = math.Exp(models[i].weight - best)
		sum += models[i].weight
	}
	for i := range models {
		models[i].weight /= sum
	}
	return models
}

// likelihood is the logarithm of Whittle's, at the scale that makes it largest.
func (m *spectrum) likelihood(waves []float64) float64 {
	scale, logs := 0.0, 0.0
	for j, w := range waves {
		scale += w / m.at[j] / float64(len(waves))
		logs += math.Log(m.at[j])
	}
	if scale == 0 {
		return 0
	}
	return -(logs + float64(len(waves))*math.Log(scale)) / 2
}

// shortfall returns how many times the variance at frequency 0 is that of the first
// count waves, the models' geometric mean.
func shortfall(models []spectrum, count int) float64 {
	log := 0.0
	for _, m := range models {
		mean := 0.0
		for _, v := range m.at[:min(count, len(m.at))] {
			mean += v / float64(count)
		}
		log += m.weight * math.Log(m.zero/mean)
	}
	return math.Exp(log)
}
