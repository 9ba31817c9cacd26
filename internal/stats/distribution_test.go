package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// The distributions are a library's.
func TestDistributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		df := rapid.Float64Range(0.5, 300).Draw(t, "df")
		x := rapid.Float64Range(-40, 40).Draw(t, "x")
		p := rapid.Float64Range(1e-9, 1-1e-9).Draw(t, "p")
		shift := rapid.Float64Range(-38, 38).Draw(t, "shift") // beyond, gonum takes the wrong side
		tries := rapid.IntRange(1, 500).Draw(t, "tries")
		hits := rapid.IntRange(0, tries).Draw(t, "hits")
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		student := distuv.StudentsT{Sigma: 1, Nu: df}
		near("normal", NormalCDF(x), distuv.UnitNormal.CDF(x))
		near("normal quantile", NormalQuantile(p), distuv.UnitNormal.Quantile(p))
		near("Student", StudentCDF(df, x), student.CDF(x))
		near("Student quantile", student.CDF(StudentQuantile(df, p)), p)
		near("noncentral", shiftedCDF(df, shift, x), distuv.NoncentralT{Nu: df, Mu: shift}.CDF(x))
		near("binomial", binomialShare(tries, hits, p), distuv.Binomial{N: float64(tries), P: p}.Prob(float64(hits)))
		values := rapid.SliceOfN(rapid.Float64Range(-1e3, 1e3), 2, 50).Draw(t, "values")
		mean, variance := moments(values)
		near("mean", mean, stat.Mean(values, nil))
		near("variance", variance, stat.Variance(values, nil))
	})
}
