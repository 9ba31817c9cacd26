package stats

import "math"

// regression is an ordinary least-squares fit.
type regression struct {
	coef     []float64
	inverse  [][]float64 // of X'X
	variance float64     // of one observation around the fit
	df       int         // at least 1
}

// regress fits the observations y to the rows. It reports false when they do
// not determine every coefficient and the variance.
func regress(rows [][]float64, y []float64) (regression, bool) {
	if len(rows) == 0 || len(rows) <= len(rows[0]) {
		return regression{}, false
	}
	n, k := len(rows), len(rows[0])
	square, right := make([][]float64, k), make([]float64, k)
	for i := range square {
		square[i] = make([]float64, k)
		for r, row := range rows {
			right[i] += row[i] * y[r]
			for j, v := range row {
				square[i][j] += row[i] * v
			}
		}
	}
	inverse, ok := inverted(square)
	if !ok {
		return regression{}, false
	}
	fit := regression{coef: make([]float64, k), inverse: inverse, df: n - k}
	for i := range fit.coef {
		fit.coef[i] = dot(inverse[i], right)
	}
	for r, row := range rows {
		rest := y[r] - dot(row, fit.coef)
		fit.variance += rest * rest / float64(fit.df)
	}
	return fit, true
}

// leastPivot is what must be left of a column of a positive definite matrix when the
// columns before it have explained what they can of it, as a share of its diagonal:
// with less, rounding decides.
const leastPivot = 1e-10

// inverted returns the inverse of a symmetric, positive definite matrix (Gauss and
// Jordan; such a matrix needs no other pivots than its diagonal). It reports false for
// a matrix that has none, or as good as none.
func inverted(a [][]float64) (inverse [][]float64, ok bool) {
	k := len(a)
	rows := make([][]float64, k) // a, and beside it the unit matrix
	for i := range rows {
		rows[i] = make([]float64, 2*k)
		copy(rows[i], a[i])
		rows[i][k+i] = 1
	}
	for i, row := range rows {
		pivot := row[i]
		if !(pivot > leastPivot*a[i][i]) {
			return nil, false
		}
		for j := range row {
			row[j] /= pivot
		}
		for other := range rows {
			if factor := rows[other][i]; other != i && factor != 0 {
				for j := range row {
					rows[other][j] -= factor * row[j]
				}
			}
		}
	}
	for _, row := range rows {
		inverse = append(inverse, row[k:])
	}
	return inverse, true
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// contrast tests a weighted sum of the coefficients.
func (r regression) contrast(weights []float64) Test {
	variance := 0.0
	for i, w := range weights {
		variance += w * dot(r.inverse[i], weights)
	}
	return newTest(dot(weights, r.coef), math.Sqrt(r.variance*variance), r.df)
}

// single tests one coefficient times a factor.
func (r regression) single(i int, factor float64) Test {
	weights := make([]float64, len(r.coef))
	weights[i] = factor
	return r.contrast(weights)
}

// minus is t less u, which is independent of it, with the degrees of freedom of
// F. E. Satterthwaite, Biometrics Bulletin 2 (1946), rounded down.
func (t Test) minus(u Test) Test {
	vt, vu := t.StdErr*t.StdErr, u.StdErr*u.StdErr
	df := t.DF + u.DF
	if vt+vu > 0 {
		df = int((vt + vu) * (vt + vu) / (vt*vt/float64(t.DF) + vu*vu/float64(u.DF)))
	}
	return newTest(t.Mean-u.Mean, math.Sqrt(vt+vu), max(1, df))
}

// ratio turns an estimate on the log scale into an interval.
func (t Test) ratio(confidence float64, pairs int) Interval {
	low, high := t.limits(confidence)
	return Interval{
		Ratio: ratioOf(t.Mean), Low: ratioOf(low), High: ratioOf(high),
		Confidence: confidence, Pairs: pairs,
	}
}
