package stats

import (
	"errors"
	"testing"
)

// autoregressive is a series around 100 whose neighbours correlate so much.
func autoregressive(n int, correlation float64, seed uint64) []float64 {
	rng := newRand(seed)
	values, x := make([]float64, n), 0.0
	for i := range values {
		x = correlation*x + 5*rng.NormFloat64()
		values[i] = 100 + x
	}
	return values
}

// Where nothing changed, an interval misses 1 about as often as it says, however
// much neighbours resemble one another.
func TestSeriesRatioHoldsItsLevel(t *testing.T) {
	for _, correlation := range []float64{0, 0.5, 0.8} {
		wrong, all := 0, 0
		for seed := range uint64(200) {
			i, err := SeriesRatio(autoregressive(300, correlation, 2*seed), autoregressive(300, correlation, 2*seed+1), 0.95, seed)
			if err != nil {
				continue
			}
			all++
			if i.Low > 1 || i.High < 1 {
				wrong++
			}
		}
		if all < 150 || float64(wrong) > 0.1*float64(all) {
			t.Errorf("correlation %v: %d of %d intervals of 95%% miss", correlation, wrong, all)
		}
	}
}

func TestSeriesRatioFinds(t *testing.T) {
	before, after := autoregressive(300, 0.5, 1), autoregressive(300, 0.5, 2)
	for i := range after {
		after[i] *= 1.2
	}
	i, err := SeriesRatio(before, after, 0.95, 1)
	if err != nil || i.Low < 1.1 || i.High > 1.3 || Judge(i, 0.05, true) != Helps {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestSeriesRatioErrors(t *testing.T) {
	rising := make([]float64, 100)
	for i := range rising {
		rising[i] = float64(i)
	}
	if _, err := SeriesRatio(rising, rising, 0.95, 1); !errors.Is(err, ErrTooAlike) {
		t.Errorf("a series that rises throughout: %v", err)
	}
	if _, err := SeriesRatio(make([]float64, 100), autoregressive(100, 0, 1), 0.95, 1); err == nil {
		t.Error("a ratio to zero")
	}
	if _, err := SeriesRatio(nil, nil, 0.95, 1); err == nil {
		t.Error("a ratio of nothing")
	}
}
