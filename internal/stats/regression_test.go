package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// What regress finds is what a library finds by another way, the QR decomposition.
func TestRegressAgainstQR(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 7).Draw(t, "k")
		n := rapid.IntRange(k+1, 4*k+8).Draw(t, "n")
		value := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-900, 900).Draw(t, "v")) / 100 })
		rows, y := make([][]float64, n), make([]float64, n)
		x := mat.NewDense(n, k, nil)
		for i := range rows {
			rows[i] = make([]float64, k)
			for j := range rows[i] {
				rows[i][j] = value.Draw(t, "x")
			}
			x.SetRow(i, rows[i])
			y[i] = value.Draw(t, "y")
		}
		fit, ok := regress(rows, y)
		var qr mat.QR
		qr.Factorize(x)
		if !ok {
			if qr.Cond() < 1e3 {
				t.Fatalf("no fit, though the condition is %g", qr.Cond())
			}
			return
		}
		if qr.Cond() > 1e4 {
			return // both are rounding
		}
		var coef mat.VecDense
		if err := qr.SolveVecTo(&coef, false, mat.NewVecDense(n, y)); err != nil {
			t.Fatal(err)
		}
		rest := 0.0
		for i, row := range rows {
			rest += math.Pow(y[i]-dot(row, coef.RawVector().Data), 2)
		}
		var square, inverse mat.Dense
		square.Mul(x.T(), x)
		if err := inverse.Inverse(&square); err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want, size float64) {
			if !(math.Abs(got-want) <= 1e-5*(1+size)) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		near("variance", fit.variance, rest/float64(n-k), rest)
		for i := range k {
			near("coefficient", fit.coef[i], coef.AtVec(i), mat.Norm(&coef, math.Inf(1)))
			for j := range k {
				near("inverse", fit.inverse[i][j], inverse.At(i, j), mat.Norm(&inverse, math.Inf(1)))
			}
		}
	})
}

// Columns that say the same have no fit.
func TestRegressDependent(t *testing.T) {
	rows := [][]float64{{1, 1, 2}, {1, 2, 3}, {1, 3, 4}, {1, 5, 6}, {1, 8, 9}}
	if fit, ok := regress(rows, []float64{1, 2, 4, 3, 5}); ok {
		t.Errorf("fitted %v", fit.coef)
	}
	if _, ok := regress([][]float64{{0}, {0}}, []float64{1, 2}); ok {
		t.Error("fitted a column of zeros")
	}
}
