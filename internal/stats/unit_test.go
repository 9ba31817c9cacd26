package stats

import (
	"math"
	"testing"
)

// TestAdjustedIsExact plants an effect in units without any noise beyond their
// blocks and what they were before.
func TestAdjustedIsExact(t *testing.T) {
	rng := newRand(3)
	var units []Unit
	for i := range 60 {
		before := rng.NormFloat64()
		u := Unit{Treated: i%5 == 0, Block: i % 4, Before: before, After: 0.7*before + float64(i%4)}
		u.After += 0.05*indicator(u.Treated) + 1e-9*rng.NormFloat64()
		units = append(units, u)
	}
	d, err := Adjusted(units)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "effect", d.Mean, 0.05, 1e-7)
	if d.DF != 60-4-2 || d.Treated != 12 || d.Others != 48 {
		t.Errorf("%d degrees of freedom, %d treated, %d others", d.DF, d.Treated, d.Others)
	}
}

// TestAdjustedHoldsItsLevel counts how often units without an effect show one, with
// many and with a single treated unit, and how often one as announced is found.
func TestAdjustedHoldsItsLevel(t *testing.T) {
	const runs, alpha, sd = 4000, 0.05, 0.1
	for _, every := range []int{40, 8, 2} {
		rng := newRand(uint64(every))
		units := make([]Unit, 40)
		wrong, found, margin := 0, 0, 0.01
		var effect float64
		for range runs {
			for i := range units {
				before := rng.NormFloat64()
				units[i] = Unit{Treated: i%every == 0, Block: i % 40 / 20, Before: before, After: before + sd*rng.NormFloat64()}
			}
			effect = Detectable(margin, sd/math.Sqrt(Information(units)), 36, alpha, 0.8)
			d, err := Adjusted(units)
			if err != nil {
				t.Fatal(err)
			}
			if d.P < alpha {
				wrong++
			}
			for i := range units {
				units[i].After += effect * indicator(units[i].Treated)
			}
			if d, _ := Adjusted(units); Judge(d.Interval(1-alpha), math.Expm1(margin), true) == Helps {
				found++
			}
		}
		near(t, "false positives", float64(wrong)/runs, alpha, 4*math.Sqrt(alpha*(1-alpha)/runs))
		near(t, "power", float64(found)/runs, 0.8, 0.03)
	}
}

// TestMoreOften compares with the tea-tasting lady (R. A. Fisher, 1935).
func TestMoreOften(t *testing.T) {
	near(t, "four of four", MoreOften(4, 4, 0, 4), 1./70, 1e-9)
	near(t, "three of four", MoreOften(3, 4, 1, 4), 17./70, 1e-9)
	near(t, "none", MoreOften(0, 4, 3, 4), 1, 1e-9)
}

// TestAdjustedRefuses names what cannot be compared.
func TestAdjustedRefuses(t *testing.T) {
	for name, units := range map[string][]Unit{
		"none":      nil,
		"untreated": {{Before: 1, After: 1}, {Before: 2, After: 2}, {Before: 3, After: 4}, {Before: 3, After: 3}},
		"apart":     {{Treated: true}, {Treated: true}, {Block: 1}, {Block: 1}},
		"infinite":  {{Treated: true, After: math.Inf(1)}, {}, {}, {}, {}},
	} {
		if d, err := Adjusted(units); err == nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
