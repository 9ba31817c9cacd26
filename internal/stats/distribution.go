package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// The distributions that tests need, by gonum's special functions: its own package of
// distributions brings a library of linear algebra into the binary, of 2 MB. The tests
// compare the two.

// NormalCDF is the probability that a standard normal value is at most z.
func NormalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// NormalQuantile is the inverse of NormalCDF; p lies in 0 to 1.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// StudentCDF is the probability that Student's t of df > 0 degrees of freedom, which
// need not be whole, is at most t.
func StudentCDF(df, t float64) float64 {
	switch {
	case math.IsInf(t, 0):
		return NormalCDF(t)
	case t > 0:
		return 1 - StudentCDF(df, -t)
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(t*t+df)) / 2
}

// StudentQuantile is the inverse of StudentCDF; p lies in 0 to 1.
func StudentQuantile(df, p float64) float64 {
	if p == 0.5 {
		return 0
	}
	if p > 0.5 {
		return -StudentQuantile(df, 1-p)
	}
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*p)
	return -math.Sqrt(df * (1 - x) / x)
}

// shiftedCDF is the probability that the noncentral t of df degrees of freedom and the
// given shift is at most t (R. V. Lenth, algorithm AS 243, Applied Statistics 38
// (1989), 185): of a Poisson number of terms, to each of which the one before leads.
func shiftedCDF(df, shift, t float64) float64 {
	if t < 0 {
		return 1 - shiftedCDF(df, -shift, -t)
	}
	const terms, exact = 1000, 1e-12
	lambda := shift * shift
	p := math.Exp(-lambda/2) / 2
	if p == 0 { // M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 26.7.10
		return NormalCDF((t*(1-1/(4*df)) - shift) / math.Sqrt(1+t*t/(2*df)))
	}
	q := math.Sqrt(2/math.Pi) * p * shift
	x, a, b := t*t/(t*t+df), 0.5, df/2
	rest := math.Pow(1-x, b)
	logGamma := func(v float64) float64 { l, _ := math.Lgamma(v); return l }
	odd, even := mathext.RegIncBeta(a, b, x), 1-rest
	oddStep := 2 * rest * math.Sqrt(x) * math.Exp(logGamma(0.5+b)-logGamma(b)) / math.Sqrt(math.Pi)
	evenStep := b * x * rest
	sum, left := p*odd+q*even, 0.5-p
	for n := 1.0; n <= terms && left >= 0; n++ {
		a++
		odd, even = odd-oddStep, even-evenStep
		oddStep *= x * (a + b - 1) / a
		evenStep *= x * (a + b - 0.5) / (a + 0.5)
		p *= lambda / (2 * n)
		q *= lambda / (2*n + 1)
		left -= p
		sum += p*odd + q*even
		if math.Abs(2*left*(odd-oddStep)) < exact {
			break
		}
	}
	return sum + NormalCDF(-shift)
}

// binomialShare is the probability of hits among tries of probability p, which lies between
// 0 and 1.
func binomialShare(tries, hits int, p float64) float64 {
	n, k := float64(tries), float64(hits)
	return math.Exp(k*math.Log(p)+(n-k)*math.Log1p(-p)-mathext.Lbeta(k+1, n-k+1)) / (n + 1)
}

// moments are the mean of the values and their sample variance, which is NaN of fewer
// than two.
func moments(values []float64) (mean, variance float64) {
	for i, v := range values {
		step := v - mean
		mean += step / float64(i+1)
		variance += step * (v - mean)
	}
	return mean, variance / float64(len(values)-1)
}
