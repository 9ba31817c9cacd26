package stats

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// regression is an ordinary least-squares fit.
type regression struct {
	coef     []float64
	inverse  mat.SymDense // of X'X
	variance float64      // of one observation around the fit
	df       int          // at least 1
}

// regress fits the observations y to the rows. It reports false when they do
// not determine every coefficient and the variance.
func regress(rows [][]float64, y []float64) (regression, bool) {
	if len(rows) == 0 || len(rows) <= len(rows[0]) {
		return regression{}, false
	}
	n, k := len(rows), len(rows[0])
	x := mat.NewDense(n, k, nil)
	for i, row := range rows {
		x.SetRow(i, row)
	}
	var square mat.SymDense
	square.SymOuterK(1, x.T())
	var cholesky mat.Cholesky
	if !cholesky.Factorize(&square) || cholesky.Cond() > 1e10 {
		return regression{}, false
	}
	observed := mat.NewVecDense(n, y)
	var right, coef, fitted, rest mat.VecDense
	right.MulVec(x.T(), observed)
	if err := cholesky.SolveVecTo(&coef, &right); err != nil {
		return regression{}, false
	}
	fit := regression{coef: coef.RawVector().Data, df: n - k}
	if err := cholesky.InverseTo(&fit.inverse); err != nil {
		return regression{}, false
	}
	fitted.MulVec(x, &coef)
	rest.SubVec(observed, &fitted)
	fit.variance = mat.Dot(&rest, &rest) / float64(fit.df)
	return fit, true
}

// contrast tests a weighted sum of the coefficients.
func (r regression) contrast(weights []float64) Test {
	w := mat.NewVecDense(len(weights), weights)
	var variance mat.VecDense
	variance.MulVec(&r.inverse, w)
	value := mat.Dot(w, mat.NewVecDense(len(r.coef), r.coef))
	return newTest(value, math.Sqrt(r.variance*mat.Dot(&variance, w)), r.df)
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
