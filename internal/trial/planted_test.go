package trial

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// planted are settings of which few matter: effects by index, and pairs that
// only work together.
type planted struct {
	effects  map[int]float64
	together map[[2]int]float64
	stalls   float64 // part of the runs that come out at a tenth to all of it
	keep     []int
}

// find attributes simulated runs with the given scatter of a run's logarithm
// and returns what is kept.
func (p planted) find(t *testing.T, settings, runs int, noise float64, seed uint64) Attribution {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	d := AttributionDesign{Alpha: 0.05, Margin: 0.02, Seed: seed, MaxRuns: runs}
	for i := range settings {
		d.Settings = append(d.Settings, fmt.Sprintf("s%d", i))
	}
	a, err := Attribute(t.Context(), d, func(_ context.Context, on []bool) (workload.Run, error) {
		v := noise * random.NormFloat64()
		if random.Float64() < p.stalls {
			v += math.Log(0.1 + 0.9*random.Float64())
		}
		for i, e := range p.effects {
			if on[i] {
				v += math.Log(e)
			}
		}
		for pair, e := range p.together {
			if on[pair[0]] && on[pair[1]] {
				v += math.Log(e)
			}
		}
		return workload.Run{GoodputBPS: 1e9 * math.Exp(v)}, nil
	}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTwentySettings plants three settings that matter among twenty, of
// random places and effects, and counts the attributions without any error:
// nothing missed, nothing kept that does nothing.
func TestTwentySettings(t *testing.T) {
	const settings, attributions = 20, 40
	for _, c := range []struct {
		noise, stalls float64
		runs          int
	}{{0.02, 0, 240}, {0.04, 0, 240}, {0.03, 0.05, 480}, {0.03, 0.1, 480}} {
		noise, runs := c.noise, c.runs
		right := 0
		for seed := range uint64(attributions) {
			random := rand.New(rand.NewPCG(seed, 11))
			p := planted{effects: map[int]float64{}, stalls: c.stalls, keep: random.Perm(settings)[:3]}
			slices.Sort(p.keep)
			for i, e := range []float64{1.12, 1.3, 2} {
				p.effects[p.keep[i]] = e
			}
			// In every other attribution one of the three does harm.
			harmful := -1
			if seed%2 == 1 {
				harmful = p.keep[1]
				p.effects[harmful] = 0.8
				p.keep = slices.Delete(p.keep, 1, 2)
			}
			a := p.find(t, settings, runs, noise, seed)
			if slices.Equal(a.Keep, p.keep) && (harmful < 0 || a.Effects[harmful].Verdict == stats.Hurts) {
				right++
			} else {
				t.Logf("noise %g, seed %d: kept %v, planted %v, harm %d", noise, seed, a.Keep, p.keep, harmful)
			}
		}
		t.Logf("noise %.0f%%, %.0f%% of the runs stall: %d of %d without error, in at most %d runs", 100*noise, 100*c.stalls, right, attributions, runs)
		if right < attributions*9/10 {
			t.Errorf("noise %g: %d of %d attributions are right", noise, right, attributions)
		}
	}
}

// TestOnlyTogether plants two settings that do nothing alone.
func TestOnlyTogether(t *testing.T) {
	const settings, runs, attributions = 12, 200, 20
	p := planted{effects: map[int]float64{7: 1.2}, together: map[[2]int]float64{{2, 5}: 1.5}, keep: []int{2, 5, 7}}
	right, named := 0, 0
	for seed := range uint64(attributions) {
		a := p.find(t, settings, runs, 0.03, seed)
		if slices.Equal(a.Keep, p.keep) {
			right++
		}
		for _, i := range a.Interactions {
			if i.A == 2 && i.B == 5 && i.Kind == stats.OnlyTogether {
				named++
			}
		}
	}
	t.Logf("%d of %d keep the pair, %d name it", right, attributions, named)
	if right < attributions*9/10 || named < attributions*9/10 {
		t.Errorf("%d of %d keep the pair, %d name it", right, attributions, named)
	}
}

// TestAttributionSaysWhatIsWrong: a drift, and a setting under which runs get
// lost.
func TestAttributionSaysWhatIsWrong(t *testing.T) {
	d := AttributionDesign{Settings: []string{"a", "b", "c", "d"}, Alpha: 0.05, Margin: 0.02, Seed: 5, MaxRuns: 60}
	n, lost := 0, 0
	random := rand.New(rand.NewPCG(1, 7))
	a, err := Attribute(t.Context(), d, func(_ context.Context, on []bool) (workload.Run, error) {
		n++
		if on[2] && n%6 == 0 && lost < 5 {
			lost++
			return workload.Run{}, fmt.Errorf("%w: it was killed", workload.ErrTool)
		}
		return workload.Run{GoodputBPS: 1e9 * math.Exp(0.01*random.NormFloat64()+0.005*float64(n))}, nil
	}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if find(a.Warnings, stats.CodeDrift) == nil {
		t.Errorf("no drift: %v", a.Warnings)
	}
	if w := find(a.Warnings, CodeLost); w == nil || w.Text != "c was on in all 5 lost runs: it may be why, and the shares do not count that" {
		t.Errorf("%d lost: %v", lost, a.Warnings)
	}
	if len(a.Keep) != 0 {
		t.Errorf("kept %v", a.Keep)
	}
}
