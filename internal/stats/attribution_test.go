package stats

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// lab measures setups with a planted truth: logs of the metric by setup, run to
// run noise and a drift per run.
func lab(seed uint64, noise, drift float64, truth func(Setup) float64) func(Block) ([2]float64, error) {
	rng := newRand(seed)
	runs := 0
	return func(b Block) ([2]float64, error) {
		var values [2]float64
		for i, setup := range b.Setups {
			values[i] = 1e9 * math.Exp(truth(setup)+noise*rng.NormFloat64()+drift*float64(runs))
			runs++
		}
		return values, nil
	}
}

func attribute(t *testing.T, settings, runs int, seed uint64, measure func(Block) ([2]float64, error)) Attribution {
	t.Helper()
	plan := AttributionPlan{Settings: settings, Runs: runs, Seed: seed, Alpha: 0.05, Margin: 0.02, HigherIsBetter: true}
	got, err := Attribute(plan, measure)
	if err != nil {
		t.Fatal(err)
	}
	if got.Runs > runs {
		t.Fatalf("%d runs of %d", got.Runs, runs)
	}
	return got
}

// TestPlantedSettingsAreFound: 20 settings, of which 3 bring 10% each, at 5%
// noise and a drift of 6% over the session, within 120 runs.
func TestPlantedSettingsAreFound(t *testing.T) {
	planted := []int{3, 11, 17}
	truth := func(s Setup) float64 {
		gain := 0.0
		for _, i := range planted {
			if s[i] {
				gain += math.Log(1.1)
			}
		}
		return gain
	}
	const sessions = 200
	right, covered, lack := 0, 0, 0
	for seed := range uint64(sessions) {
		got := attribute(t, 20, 120, seed, lab(seed+1000, 0.05, 0.0005, truth))
		if slices.Equal(got.Keep, planted) {
			right++
		}
		if share := got.Effects[3].Share; share != nil && share.Low <= 1.1 && 1.1 <= share.High {
			covered++
		}
		if got.Fit == nil || got.Fit.P < 0.05 {
			lack++
		}
	}
	if right < sessions*95/100 {
		t.Errorf("%d of %d sessions find exactly the planted settings", right, sessions)
	}
	near(t, "coverage of a share", float64(covered)/sessions, 0.95, 0.05)
	if lack > sessions/10 {
		t.Errorf("%d of %d sessions report a lack of fit", lack, sessions)
	}
}

func TestNothingPlantedNothingFound(t *testing.T) {
	for _, c := range []struct{ settings, runs int }{{4, 48}, {20, 90}} {
		const sessions = 400
		found := 0
		for seed := range uint64(sessions) {
			got := attribute(t, c.settings, c.runs, seed, lab(seed+5000, 0.05, 0, func(Setup) float64 { return 0 }))
			wrong := len(got.Keep) > 0
			for _, e := range got.Effects {
				wrong = wrong || e.Verdict == Hurts
			}
			if wrong {
				found++
			}
		}
		if rate := float64(found) / sessions; rate > 0.05 {
			t.Errorf("%d settings: %.3f of null sessions find something", c.settings, rate)
		}
	}
}

func TestPairThatHelpsOnlyTogether(t *testing.T) {
	const sessions = 100
	named, kept := 0, 0
	for seed := range uint64(sessions) {
		got := attribute(t, 20, 120, seed, lab(seed+9000, 0.05, 0, func(s Setup) float64 {
			if s[4] && s[9] {
				return math.Log(1.2)
			}
			return 0
		}))
		if slices.Equal(got.Keep, []int{4, 9}) {
			kept++
		}
		for _, i := range got.Interactions {
			if i.A == 4 && i.B == 9 && i.Kind == OnlyTogether {
				named++
			}
		}
	}
	if named < 90 || kept < 90 {
		t.Errorf("of %d sessions %d name the pair and %d keep it", sessions, named, kept)
	}
}

func TestKindsOfInteraction(t *testing.T) {
	for _, c := range []struct {
		one, two, both float64
		higher         bool
		want           Kind
	}{
		{0, 0, 0.2, true, OnlyTogether},
		{0.1, 0.1, 0.4, true, Reinforce},
		{0.2, 0.2, 0.2, true, Overlap},
		{0, 0, -0.2, false, OnlyTogether},
		{-0.2, -0.2, -0.2, false, Overlap},
	} {
		plan := AttributionPlan{Settings: 2, Runs: 60, Seed: 1, Alpha: 0.05, Margin: 0.02, HigherIsBetter: c.higher}
		got, err := Attribute(plan, lab(1, 0.01, 0, func(s Setup) float64 {
			switch {
			case s[0] && s[1]:
				return c.both
			case s[0]:
				return c.one
			case s[1]:
				return c.two
			}
			return 0
		}))
		if err != nil || len(got.Interactions) != 1 || got.Interactions[0].Kind != c.want {
			t.Errorf("%+v: %+v, %v", c, got.Interactions, err)
			continue
		}
		i := got.Interactions[0]
		near(t, "extra", math.Log(i.Extra.Ratio), c.both-c.one-c.two, 0.03)
		near(t, "alone", math.Log(i.AloneA.Ratio), c.one, 0.03)
		near(t, "together", math.Log(i.Together.Ratio), c.both, 0.03)
	}
}

// TestPilotPlant checks the arithmetic on the 2^3 pilot plant of G. E. P. Box,
// W. G. Hunter and J. S. Hunter, "Statistics for Experimenters" (1978), table
// 10.1: effects T 23, C -5, K 1.5, TK 10, TCK 0.5. A Shapley share is the main
// effect and a third of the effect of all three.
func TestPilotPlant(t *testing.T) {
	yield := []float64{60, 72, 54, 68, 52, 83, 45, 80}
	got := attribute(t, 3, 32, 1, lab(1, 0, 0, func(s Setup) float64 {
		cell := 0
		for i, on := range s {
			if on {
				cell |= 1 << i
			}
		}
		return yield[cell] / 1000
	}))
	for i, main := range []float64{23, -5, 1.5} {
		near(t, "share", 1000*math.Log(got.Effects[i].Share.Ratio), main+0.5/3, 1e-6)
	}
	near(t, "total", 1000*math.Log(got.Total.Ratio), 20, 1e-6)
	near(t, "sum of main effects", 1000*math.Log(got.Fit.Sum.Ratio), 19.5, 1e-6)
	if len(got.Interactions) != 2 {
		t.Fatalf("interactions %+v", got.Interactions)
	}
	for i, want := range []float64{3, 20} { // twice TC and TK; CK is 0
		near(t, "extra", 1000*math.Log(got.Interactions[i].Extra.Ratio), want, 1e-6)
	}
}

func TestThreeWayEffectIsALackOfFit(t *testing.T) {
	got := attribute(t, 4, 96, 3, lab(3, 0.01, 0, func(s Setup) float64 {
		if s[0] && s[1] && s[2] {
			return 0.4
		}
		return 0
	}))
	if got.Fit == nil || got.Fit.P > 0.01 {
		t.Errorf("fit %+v", got.Fit)
	}
	product := 1.0
	for _, e := range got.Effects {
		product *= e.Share.Ratio
	}
	near(t, "product of shares over the whole", product/got.Total.Ratio, 1, 1e-9)
}

func TestHurtfulAndUselessSettings(t *testing.T) {
	got := attribute(t, 8, 400, 5, lab(5, 0.01, 0, func(s Setup) float64 {
		if s[2] {
			return -0.1
		}
		return 0
	}))
	for i, e := range got.Effects {
		want := NoDifference
		if i == 2 {
			want = Hurts
		}
		if e.Verdict != want {
			t.Errorf("setting %d: %+v", i, e)
		}
	}
	near(t, "total", got.Total.Ratio, math.Exp(-0.1), 0.02)
	near(t, "rest", got.Rest.Ratio, 1, 0.02)
	if len(got.Keep) != 0 {
		t.Errorf("keeps %v", got.Keep)
	}
}

// TestAttributionResumes answers the first blocks of a second session from the
// first one's records.
func TestAttributionResumes(t *testing.T) {
	var blocks []Block
	var values [][2]float64
	record := func(measure func(Block) ([2]float64, error)) func(Block) ([2]float64, error) {
		return func(b Block) ([2]float64, error) {
			v, err := measure(b)
			blocks, values = append(blocks, b), append(values, v)
			return v, err
		}
	}
	truth := func(s Setup) float64 { return map[bool]float64{true: 0.1}[s[1]] }
	first := attribute(t, 12, 80, 7, record(lab(7, 0.03, 0, truth)))
	at := 0
	second := attribute(t, 12, 80, 7, func(b Block) ([2]float64, error) {
		if b.Number != at || !reflect.DeepEqual(b, blocks[at]) {
			t.Fatalf("block %d is %+v, was %+v", at, b, blocks[at])
		}
		at++
		return values[at-1], nil
	})
	if at != len(blocks) || !reflect.DeepEqual(first, second) {
		t.Error("the same values give another result")
	}
	for _, b := range blocks {
		switched := false
		for i := range b.Setups[0] {
			switched = switched || b.Setups[0][i] != b.Setups[1][i]
		}
		if !switched {
			t.Fatalf("block %+v compares nothing", b)
		}
	}
}

func TestAttributionThatIsCutShort(t *testing.T) {
	truth := func(s Setup) float64 { return map[bool]float64{true: 0.2}[s[1]] }
	for limit := 0; limit <= 60; limit++ {
		made := 0
		measure := lab(9, 0.03, 0, truth)
		got := attribute(t, 12, 120, 9, func(b Block) ([2]float64, error) {
			if made == limit {
				return [2]float64{}, ErrStop
			}
			made++
			return measure(b)
		})
		if got.Runs != 2*limit || got.Stopped != (limit < 60) || len(got.Effects) != 12 {
			t.Fatalf("after %d blocks: %d runs, stopped %v", limit, got.Runs, got.Stopped)
		}
		for i, e := range got.Effects {
			if e.Verdict == Hurts || e.Verdict == Helps && (i != 1 || e.Share == nil) {
				t.Fatalf("after %d blocks: %+v", limit, e)
			}
		}
	}
	broken := errors.New("peer is gone")
	plan := AttributionPlan{Settings: 12, Runs: 120, Alpha: 0.05, Margin: 0.02, HigherIsBetter: true}
	if _, err := Attribute(plan, func(Block) ([2]float64, error) { return [2]float64{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestLostRunsAreRepeated(t *testing.T) {
	measure := lab(11, 0.03, 0, func(s Setup) float64 { return map[bool]float64{true: 0.15}[s[0]] })
	got := attribute(t, 12, 140, 11, func(b Block) ([2]float64, error) {
		values, err := measure(b)
		switch b.Number % 9 {
		case 2:
			values[1] = 0
		case 5:
			values[0] = math.NaN()
		}
		return values, err
	})
	if got.Lost == 0 || !slices.Equal(got.Keep, []int{0}) {
		t.Errorf("lost %d, keeps %v", got.Lost, got.Keep)
	}
	all := attribute(t, 12, 140, 11, func(Block) ([2]float64, error) { return [2]float64{0, 0}, nil })
	if all.Lost != all.Runs || len(all.Warnings) == 0 || len(all.Keep) != 0 {
		t.Errorf("with every run lost: %+v", all)
	}
}

func TestAttributionPlanErrors(t *testing.T) {
	good := AttributionPlan{Settings: 20, Runs: 100, Alpha: 0.05, Margin: 0.02}
	for name, change := range map[string]func(*AttributionPlan){
		"no settings":       func(p *AttributionPlan) { p.Settings = 0 },
		"too many settings": func(p *AttributionPlan) { p.Settings = 41 },
		"alpha":             func(p *AttributionPlan) { p.Alpha = 1 },
		"margin":            func(p *AttributionPlan) { p.Margin = -0.1 },
		"runs":              func(p *AttributionPlan) { p.Runs = 59 },
	} {
		plan := good
		change(&plan)
		if _, err := Attribute(plan, nil); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	good.Runs = 10
	if _, err := Attribute(good, nil); err == nil || !strings.Contains(err.Error(), "at least 60") {
		t.Errorf("10 runs: %v", err)
	}
	for settings := 1; settings <= MaxFactors; settings++ {
		got := attribute(t, settings, MinRuns(settings), 1, lab(1, 0.01, 0, func(s Setup) float64 { return 0 }))
		if got.Total == nil {
			t.Errorf("%d settings in %d runs: no total, %v", settings, MinRuns(settings), got.Warnings)
		}
	}
}
