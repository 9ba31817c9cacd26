package trial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// bench imitates runs whose logarithm a function gives; n counts all runs and
// place is the run's place in its pair.
func bench(seed uint64, arms int, value func(random *rand.Rand, n, place, arm int) float64) Measure {
	random, n := rand.New(rand.NewPCG(seed, 2)), 0
	return func(_ context.Context, arm int) (workload.Run, error) {
		v := 1e9 * math.Exp(value(random, n, n%arms, arm))
		n++
		return workload.Run{GoodputBPS: v}, nil
	}
}

// hostile are sessions in which nothing distinguishes the arms, but something
// else is wrong. Each must find an effect in at most 5% of its trials, and say
// what is wrong in most of them.
var hostile = []struct {
	name  string
	code  string  // of the warning; "" where none is due
	says  float64 // least part of the trials that say it
	noise float64
	value func(memory *float64, random *rand.Rand, n, place int) float64
}{
	{"nothing", "", 0, 0.03, nil},
	{"drift", stats.CodeDrift, 0.95, 0.01, func(_ *float64, _ *rand.Rand, n, _ int) float64 { return 0.005 * float64(n) }},
	{"step in the middle", stats.CodeDrift, 0.95, 0.01, func(_ *float64, _ *rand.Rand, n, _ int) float64 {
		if n >= 12 {
			return -0.2
		}
		return 0
	}},
	{"slow for a while", stats.CodeAutocorrelation, 0.9, 0.01, func(_ *float64, _ *rand.Rand, n, _ int) float64 {
		if n >= 10 && n < 20 {
			return -0.2
		}
		return 0
	}},
	{"autocorrelation", stats.CodeAutocorrelation, 0.8, 0.005, func(memory *float64, random *rand.Rand, _, _ int) float64 {
		*memory = 0.9**memory + 0.03*random.NormFloat64()
		return *memory
	}},
	{"something that comes and goes in eight runs", stats.CodeAutocorrelation, 0.9, 0.01, func(_ *float64, _ *rand.Rand, n, _ int) float64 {
		return 0.1 * math.Sin(2*math.Pi*float64(n)/8)
	}},
	{"two modes", stats.CodeBimodal, 0.8, 0.01, func(_ *float64, random *rand.Rand, _, _ int) float64 {
		return 0.3 * float64(random.IntN(2))
	}},
	{"the first run of a pair is faster", stats.CodeOrder, 0.95, 0.02, func(_ *float64, _ *rand.Rand, _, place int) float64 {
		return 0.1 * float64(place)
	}},
	{"heavy tails", stats.CodeOutlier, 0.5, 0.01, func(_ *float64, random *rand.Rand, _, _ int) float64 {
		if random.IntN(15) == 0 {
			return -0.5
		}
		return 0
	}},
}

// TestHostileSessions makes whole trials, with looks, of arms that are equal.
func TestHostileSessions(t *testing.T) {
	const trials, pairs = 200, 16
	d := Design{Arms: []string{"a", "b"}, MaxPairs: pairs, Looks: []int{5, 8, 12}, Alpha: 0.05, Margin: 0.02}
	family, err := newFamily(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hostile {
		wrong, said, whole := 0, 0, 0
		for i := range trials {
			d.Seed = uint64(i)
			memory := 0.0
			r, err := compare(t.Context(), d, family, bench(uint64(i), 2, func(random *rand.Rand, n, place, _ int) float64 {
				v := h.noise * random.NormFloat64()
				if h.value != nil {
					v += h.value(&memory, random, n, place)
				}
				return v
			}), quiet)
			if err != nil {
				t.Fatal(err)
			}
			if v := r.Comparisons[0].Verdict; v == stats.Helps || v == stats.Hurts {
				wrong++
			}
			if r.Pairs == pairs {
				whole++
				if find(r.Warnings, h.code) != nil {
					said++
				}
			}
		}
		t.Logf("%-34s %2d of %d find an effect; %d of %d whole trials say %s", h.name, wrong, trials, said, whole, h.code)
		// 5% of 200 are 10; more than 20 happen in one of 500 series.
		if wrong > 20 {
			t.Errorf("%s: %d of %d trials find an effect", h.name, wrong, trials)
		}
		if h.code != "" && float64(said) < h.says*float64(whole) {
			t.Errorf("%s: %d of %d trials warn of %s", h.name, said, whole, h.code)
		}
	}
}

// TestPositionIsNoEffect has arms that a session favours by their place: one
// that is always measured first would gain 10% from nothing.
func TestPositionIsNoEffect(t *testing.T) {
	for _, arms := range []int{2, 3, 5} {
		first := make([]int, arms)
		for seed := range uint64(200) {
			for _, block := range stats.Schedule(arms, arms, seed) {
				first[block[0]]++
				first[block[arms]]++
			}
		}
		for arm, n := range first {
			if want := 400; n < want*85/100 || n > want*115/100 {
				t.Errorf("%d arms: arm %d goes first %d times where %d are expected", arms, arm, n, want)
			}
		}
	}
}

// TestSelectiveLoss has two equal arms, of which one loses its bad runs.
func TestSelectiveLoss(t *testing.T) {
	d := Design{Arms: []string{"a", "b"}, MaxPairs: 20, Looks: []int{8, 14}, Alpha: 0.05, Margin: 0.02}
	family, err := newFamily(d)
	if err != nil {
		t.Fatal(err)
	}
	wrong, without := 0, 0
	const trials = 200
	for i := range uint64(trials) {
		d.Seed = i
		random := rand.New(rand.NewPCG(i, 3))
		r, err := compare(t.Context(), d, family, func(_ context.Context, arm int) (workload.Run, error) {
			v := 0.1 * random.NormFloat64()
			if arm == 1 && v < -0.1 {
				return workload.Run{}, fmt.Errorf("%w: it was killed", workload.ErrTool)
			}
			return workload.Run{GoodputBPS: 1e9 * math.Exp(v)}, nil
		}, quiet)
		if err != nil && !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		c := r.Comparisons[0]
		if c.Verdict == stats.Helps {
			wrong++
		}
		if c.Undone {
			without++
			if w := find(r.Warnings, CodeLost); w == nil || !strings.Contains(w.Text, "does not stand") {
				t.Errorf("%v", r.Warnings)
			}
		}
	}
	t.Logf("%d of %d find an effect, %d more would have", wrong, trials, without)
	if wrong > trials*8/100 || without == 0 {
		t.Errorf("%d of %d trials take selective loss for an effect; %d were stopped", wrong, trials, without)
	}

	// A large effect stands one lost run.
	m := newMachine(1, 1, 1.5)
	m.fail = func(n, arm int) error {
		if arm == 1 && n == 5 {
			return fmt.Errorf("%w: it was killed", workload.ErrTool)
		}
		return nil
	}
	if r, err := Compare(t.Context(), d, m.measure, quiet); err != nil || r.Comparisons[0].Verdict != stats.Helps || r.Comparisons[0].Undone {
		t.Errorf("%+v %v", r.Comparisons, err)
	}
}

// TestSlowPeerInOneArm: the server is kept busy by something else whenever one
// arm is measured.
func TestSlowPeerInOneArm(t *testing.T) {
	m := newMachine(1, 1, 0.5)
	r, err := Compare(t.Context(), design(2), func(ctx context.Context, arm int) (workload.Run, error) {
		run, err := m.measure(ctx, arm)
		run.Server = &workload.CPU{Busy: []float64{0.3, 0.9}[arm]}
		return run, err
	}, quiet)
	if err != nil || r.Comparisons[0].Verdict != stats.Hurts {
		t.Fatalf("%v %+v", err, r.Comparisons)
	}
	if w := find(r.Warnings, CodePeer); w == nil || !strings.Contains(w.Text, "90% busy under arm1 and 30% under arm0") {
		t.Errorf("%v", r.Warnings)
	}
	// An arm that does more may cost more.
	m = newMachine(1, 1, 1.5)
	r, err = Compare(t.Context(), design(2), func(ctx context.Context, arm int) (workload.Run, error) {
		run, err := m.measure(ctx, arm)
		run.Server = &workload.CPU{Busy: []float64{0.3, 0.6}[arm]}
		return run, err
	}, quiet)
	if err != nil || find(r.Warnings, CodePeer) != nil {
		t.Errorf("%v %v", err, r.Warnings)
	}
}

// TestLongPathInOneArm: the path is longer, or one core of the server is taken,
// whenever one arm is measured.
func TestLongPathInOneArm(t *testing.T) {
	for _, c := range []struct {
		put  func(run *workload.Run, arm int)
		want string
	}{
		{func(run *workload.Run, arm int) {
			run.ClientKernel = &workload.Kernel{Flows: []workload.Flow{{MinRTT: []float64{0.020, 0.031}[arm]}, {MinRTT: 0.05}}}
		}, "shortest round trip was 31.00 ms under arm1 and 20.00 ms under arm0"},
		{func(run *workload.Run, arm int) {
			run.Server = &workload.CPU{Busy: 0.1, Busiest: []float64{0.4, 0.99}[arm]}
		}, "busiest processor of the server was 99% busy under arm1 and 40% under arm0"},
		{func(run *workload.Run, arm int) {
			run.ClientKernel = &workload.Kernel{Flows: []workload.Flow{{MinRTT: []float64{20e-6, 90e-6}[arm]}}}
		}, ""},
	} {
		m := newMachine(1, 1, 0.7)
		r, err := Compare(t.Context(), design(2), func(ctx context.Context, arm int) (workload.Run, error) {
			run, err := m.measure(ctx, arm)
			c.put(&run, arm)
			return run, err
		}, quiet)
		w := find(r.Warnings, CodePeer)
		if err != nil || (w != nil) != (c.want != "") || w != nil && !strings.Contains(w.Text, c.want) {
			t.Errorf("%q: %v %v", c.want, err, r.Warnings)
		}
	}
}

// TestUnsteady: an effect that whole blocks do not show is taken back, one
// beyond all movement stands.
func TestUnsteady(t *testing.T) {
	taken := 0
	for seed := range uint64(40) {
		d := design(2)
		d.MaxPairs, d.Looks, d.Seed = 8, nil, seed
		for effect, stands := range map[float64]bool{0.03: false, 1: true} {
			r, err := Compare(t.Context(), d, bench(seed, 2, func(random *rand.Rand, n, _, arm int) float64 {
				return effect*float64(arm) + 0.1*math.Sin(2*math.Pi*float64(n)/8) + 0.002*random.NormFloat64()
			}), quiet)
			if err != nil {
				t.Fatal(err)
			}
			c := r.Comparisons[0]
			if stands && c.Verdict != stats.Helps {
				t.Errorf("a large effect: %+v", c)
			}
			if c.Unsteady {
				taken++
				if w := find(r.Warnings, CodeUnsteady); w == nil || w.Need != 12 || !strings.Contains(w.Text, "effect of arm1 does not stand") {
					t.Errorf("%v", r.Warnings)
				}
			}
		}
	}
	if taken == 0 {
		t.Error("no effect was taken back")
	}
}

func TestRunLengths(t *testing.T) {
	m := newMachine(1, 1, 1)
	n := 0
	r, err := Compare(t.Context(), design(2), func(ctx context.Context, arm int) (workload.Run, error) {
		run, err := m.measure(ctx, arm)
		run.Counted = []float64{10, 10, 10, 12.5}[n%4]
		n++
		return run, err
	}, quiet)
	if w := find(r.Warnings, CodeLength); err != nil || w == nil || !strings.Contains(w.Text, "10.0 s in one run and for 12.5 s") {
		t.Errorf("%v %v", err, r.Warnings)
	}
}

// TestNoSpread: a metric without any scatter is said to be too coarse.
func TestNoSpread(t *testing.T) {
	r, err := Compare(t.Context(), design(2), bench(1, 2, func(*rand.Rand, int, int, int) float64 { return 0 }), quiet)
	if err != nil || r.Comparisons[0].Verdict != stats.NoDifference || find(r.Warnings, stats.CodeNoSpread) == nil {
		t.Errorf("%v %+v %v", err, r.Comparisons, r.Warnings)
	}
}

// TestDisturbedToTheEnd: where runs are disturbed until time is up, the pairs
// in hand are concluded.
func TestDisturbedToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := design(2)
		d.Looks, d.Deadline = nil, time.Now().Add(100*time.Millisecond)
		m := newMachine(1, 1, 1.5)
		m.fail = func(n, _ int) error {
			time.Sleep(2 * time.Millisecond)
			if n >= 9 {
				return fmt.Errorf("%w: %w: memory", workload.ErrTool, workload.ErrDisturbed)
			}
			return nil
		}
		r, err := Compare(t.Context(), d, m.measure, quiet)
		if err != nil || r.Pairs != 4 || len(r.Runs) != 8 || find(r.Warnings, CodeLost) == nil {
			t.Errorf("%v, %d pairs, %d runs, %v", err, r.Pairs, len(r.Runs), r.Warnings)
		}
	})
}
