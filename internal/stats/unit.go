package stats

import (
	"errors"
	"fmt"
	"math"
)

// Unit is what is changed as a whole, such as a host: one observation, however
// many samples it is the mean of.
type Unit struct {
	Treated       bool
	Block         int     // units of a block are compared with each other only
	Before, After float64 // its metric before and during the change, on the same scale
}

// Difference is what treated units have above the others of their blocks.
type Difference struct {
	Test                // of the difference, on the scale of After
	SD          float64 // of one unit around the fit
	Information float64 // pairs of units that would tell as much, at least above 0
	Treated     int
	Others      int
}

// ErrNoContrast says that no block has both treated and other units, or that
// there are too few of them to know their scatter.
var ErrNoContrast = errors.New("no block has enough of both changed and unchanged units")

// Adjusted compares treated units with the others of their blocks, by least
// squares with a term for each block and the metric before the change as a
// covariate (W. G. Cochran, "Analysis of Covariance", Biometrics 13, 1957; known
// as CUPED: A. Deng et al., WSDM 2013). The scatter is taken to be the same for
// all units, which also holds for one treated unit among many.
func Adjusted(units []Unit) (Difference, error) {
	for i, u := range units {
		if err := checkFinite([]float64{u.Before, u.After}); err != nil {
			return Difference{}, fmt.Errorf("unit %d: %w", i+1, err)
		}
	}
	d := Difference{Information: Information(units)}
	for _, u := range units {
		if u.Treated {
			d.Treated++
		}
	}
	d.Others = len(units) - d.Treated
	if d.Information <= 0 {
		return d, ErrNoContrast
	}
	fit, ok := fitUnits(units, true)
	if !ok {
		return d, ErrNoContrast
	}
	d.Test, d.SD = fit.single(0, 1), math.Sqrt(fit.variance)
	return d, nil
}

// Scatter is the standard deviation of units' After around what their block and
// Before say, without regard to treatment, and its degrees of freedom.
func Scatter(units []Unit) (sd float64, df int, err error) {
	fit, ok := fitUnits(units, false)
	if !ok {
		return 0, 0, fmt.Errorf("%d units in blocks do not show how they scatter", len(units))
	}
	return math.Sqrt(fit.variance), fit.df, nil
}

// Information is the number of pairs, each of a treated and another unit, that
// would determine the difference as well as these units in their blocks do.
func Information(units []Unit) float64 {
	treated, all := map[int]float64{}, map[int]float64{}
	for _, u := range units {
		all[u.Block]++
		if u.Treated {
			treated[u.Block]++
		}
	}
	sum := 0.0
	for block, n := range all {
		sum += treated[block] * (n - treated[block]) / n
	}
	return sum
}

// fitUnits is the fit within blocks: treatment first, where it is asked for, then
// Before, unless that is the same for all units of each block.
func fitUnits(units []Unit, treatment bool) (regression, bool) {
	type sums struct{ n, treated, before, after float64 }
	blocks := map[int]*sums{}
	for _, u := range units {
		s := blocks[u.Block]
		if s == nil {
			s = &sums{}
			blocks[u.Block] = s
		}
		s.n++
		s.treated += indicator(u.Treated)
		s.before += u.Before
		s.after += u.After
	}
	fit := func(covariate bool) (regression, bool) {
		var rows [][]float64
		var y []float64
		for _, u := range units {
			s := blocks[u.Block]
			var row []float64
			if treatment {
				row = append(row, indicator(u.Treated)-s.treated/s.n)
			}
			if covariate {
				row = append(row, u.Before-s.before/s.n)
			}
			rows, y = append(rows, row), append(y, u.After-s.after/s.n)
		}
		if len(rows) == 0 || len(rows[0]) == 0 {
			return plainFit(y, len(blocks))
		}
		f, ok := regress(rows, y)
		rest := f.df - len(blocks) // the blocks' means are of the same units
		if !ok || rest < 1 {
			return f, false
		}
		f.variance *= float64(f.df) / float64(rest)
		f.df = rest
		return f, true
	}
	if f, ok := fit(true); ok {
		return f, true
	}
	return fit(false)
}

// plainFit is the scatter around the blocks' means alone.
func plainFit(y []float64, blocks int) (regression, bool) {
	f := regression{df: len(y) - blocks}
	if f.df < 1 {
		return f, false
	}
	for _, v := range y {
		f.variance += v * v / float64(f.df)
	}
	return f, true
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Interval is the difference as an interval of ratios, where After is a logarithm.
func (d Difference) Interval(confidence float64) Interval {
	return d.ratio(confidence, max(2, int(d.Information)))
}

// Limits are the two-sided confidence limits of the difference on After's scale.
func (d Difference) Limits(confidence float64) (low, high float64) { return d.limits(confidence) }

// PowerOf is the probability that an effect (on the scale of stdErr) is found by
// a two-sided t-test at level alpha and its estimate is beyond the margin, both of
// which Judge asks for.
func PowerOf(effect, margin, stdErr float64, df int, alpha float64) float64 {
	effect = math.Abs(effect)
	if !(stdErr >= 0) || df < 1 || !(alpha > 0 && alpha < 1) {
		return 0
	}
	if stdErr == 0 {
		return indicator(effect > margin)
	}
	critical := tQuantile(df, 1-alpha/2)
	found := 1.0
	if shift := effect / stdErr; shift <= critical+38 {
		found = 1 - shiftedCDF(float64(df), shift, critical)
	}
	passes := NormalCDF((effect - margin) / stdErr)
	return math.Min(math.Max(found, 0), passes)
}

// Detectable is the smallest effect (on the scale of stdErr) that PowerOf finds
// with the given power; +Inf where none is.
func Detectable(margin, stdErr float64, df int, alpha, power float64) float64 {
	high := math.Max(margin, stdErr) + 1e-9
	for ; PowerOf(high, margin, stdErr, df, alpha) < power; high *= 2 {
		if high > 1e3 {
			return math.Inf(1)
		}
	}
	low := 0.0
	for range 50 {
		middle := (low + high) / 2
		if PowerOf(middle, margin, stdErr, df, alpha) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// MoreOften is the one-sided p-value of Fisher's exact test that something which
// happened to a of n units happens to them no more often than to the others, of
// which it happened to b of m.
func MoreOften(a, n, b, m int) float64 {
	choose := func(n, k int) float64 {
		x, _ := math.Lgamma(float64(n + 1))
		y, _ := math.Lgamma(float64(k + 1))
		z, _ := math.Lgamma(float64(n - k + 1))
		return x - y - z
	}
	events, p := a+b, 0.0
	for k := a; k <= min(events, n); k++ {
		if events-k <= m {
			p += math.Exp(choose(n, k) + choose(m, events-k) - choose(n+m, events))
		}
	}
	return math.Min(1, p)
}
