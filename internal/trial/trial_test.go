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

// machine imitates runs: each arm multiplies a goodput, on which there is
// noise, a drift per run, and now and then a failure.
type machine struct {
	random  *rand.Rand
	effects []float64
	noise   float64
	drift   float64
	n       int
	fail    func(n, arm int) error
	arms    []int
}

func (m *machine) measure(_ context.Context, arm int) (workload.Run, error) {
	n := m.n
	m.n++
	m.arms = append(m.arms, arm)
	if m.fail != nil {
		if err := m.fail(n, arm); err != nil {
			return workload.Run{}, err
		}
	}
	v := 1e9 * m.effects[arm] * math.Exp(m.noise*m.random.NormFloat64()+m.drift*float64(n))
	return workload.Run{GoodputBPS: v, Metrics: map[string]float64{workload.LatencyP50: 1 / v}}, nil
}

func newMachine(seed uint64, effects ...float64) *machine {
	return &machine{random: rand.New(rand.NewPCG(seed, 1)), effects: effects, noise: 0.03}
}

func design(arms int) Design {
	d := Design{MaxPairs: 10, Looks: []int{4, 6, 8}, Alpha: 0.05, Margin: 0, Seed: 1}
	for i := range arms {
		d.Arms = append(d.Arms, fmt.Sprintf("arm%d", i))
	}
	return d
}

func quiet(Progress) {}

// TestNullTrials counts the trials that find something where there is nothing,
// with looks and several arms; the margin is 0, which forbids nothing.
func TestNullTrials(t *testing.T) {
	for _, arms := range []int{2, 4} {
		const trials = 2000
		wrong := 0
		f, err := newFamily(design(arms))
		if err != nil {
			t.Fatal(err)
		}
		for i := range trials {
			effects := make([]float64, arms)
			for j := range effects {
				effects[j] = 1
			}
			d := design(arms)
			d.Seed = uint64(i)
			m := newMachine(uint64(i), effects...)
			m.drift = 0.001
			r, err := compare(t.Context(), d, f, m.measure, quiet)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Comparisons {
				if c.Verdict == stats.Helps || c.Verdict == stats.Hurts {
					wrong++
					break
				}
			}
		}
		// 5% of 2,000 are 100; more than 128 happen in one of 500 series.
		if wrong > 128 {
			t.Errorf("%d arms: %d of %d null trials found an effect", arms, wrong, trials)
		}
		t.Logf("%d arms: %d of %d", arms, wrong, trials)
	}
}

func TestPlantedTruth(t *testing.T) {
	d := design(4)
	d.Margin = 0.02
	m := newMachine(3, 1, 1.5, 0.8, 1)
	r, err := Compare(t.Context(), d, m.measure, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []stats.Verdict{stats.Helps, stats.Hurts} {
		if c := r.Comparisons[i]; c.Verdict != want || c.Decided == 0 {
			t.Errorf("arm %d: %+v", i+1, c)
		}
	}
	if v := r.Comparisons[2].Verdict; v == stats.Helps || v == stats.Hurts {
		t.Errorf("the arm that does nothing: %s", v)
	}
	if r.Noise == nil || r.Noise.SD < 0.02 || r.Noise.SD > 0.08 {
		t.Errorf("noise %+v", r.Noise)
	}
	if i := r.Ratio(1, workload.LatencyP50, 0.95); i == nil || i.Ratio > 0.75 {
		t.Errorf("latency: %+v", i)
	}
}

func TestLowerIsBetter(t *testing.T) {
	d := design(2)
	d.Metric, d.Lower = workload.LatencyP50, true
	r, err := Compare(t.Context(), d, newMachine(1, 1, 2).measure, quiet)
	if err != nil || r.Comparisons[0].Verdict != stats.Helps || r.Comparisons[0].Interval.Ratio > 0.6 {
		t.Errorf("%+v, %v", r.Comparisons, err)
	}
}

func TestSameSeedSameOrder(t *testing.T) {
	a, b, other := newMachine(1, 1, 1, 1), newMachine(2, 1, 1, 1), newMachine(1, 1, 1, 1)
	for i, m := range []*machine{a, b, other} {
		d := design(3)
		d.Looks = nil
		d.Seed = []uint64{7, 7, 8}[i]
		if _, err := Compare(t.Context(), d, m.measure, quiet); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(a.arms) != fmt.Sprint(b.arms) {
		t.Error("the same seed gives another order")
	}
	if fmt.Sprint(a.arms) == fmt.Sprint(other.arms) {
		t.Error("another seed gives the same order")
	}
}

func TestLostRuns(t *testing.T) {
	failing := fmt.Errorf("%w: it was killed", workload.ErrTool)
	m := newMachine(1, 1, 1)
	m.fail = func(n, _ int) error {
		if n == 3 || n == 9 {
			return failing
		}
		return nil
	}
	r, err := Compare(t.Context(), design(2), m.measure, quiet)
	if err != nil || len(r.Lost) != 2 || !strings.Contains(r.Lost[0].Err.Error(), "it was killed") {
		t.Errorf("%v, lost %v", err, r.Lost)
	}
	if w := find(r.Warnings, CodeLost); w == nil || w.Text != "2 runs were discarded and repeated: 2 of arm0 (it was killed); "+
		"the verdict rests on the others" {
		t.Errorf("%v", r.Warnings)
	}

	one := Result{Design: Design{Arms: []string{"a", "b"}}, Lost: []Lost{{1, failing}}}
	if w := one.lostWarnings(); w[0].Text != "1 run was discarded and repeated: 1 of b (it was killed); the verdict rests on the others" {
		t.Errorf("%v", w)
	}

	m = newMachine(1, 1, 1)
	m.fail = func(_, arm int) error {
		if arm == 1 {
			return failing
		}
		return nil
	}
	r, err = Compare(t.Context(), design(2), m.measure, quiet)
	if !errors.Is(err, errLost) || !strings.Contains(err.Error(), "4 of arm1") || r.Pairs != 0 {
		t.Errorf("an arm that never works: %v", err)
	}
	if w := find(r.Warnings, CodeLost); w == nil || !strings.Contains(w.Text, "arm1 itself may be why") {
		t.Errorf("%v", r.Warnings)
	}

	m = newMachine(1, 1, 1)
	m.fail = func(n, _ int) error {
		if n%2 == 0 {
			return fmt.Errorf("%w: %w: memory", workload.ErrTool, workload.ErrDisturbed)
		}
		return nil
	}
	if r, err := Compare(t.Context(), design(2), m.measure, quiet); err != nil || len(r.Lost) < 8 {
		t.Errorf("disturbed runs end the trial: %v after %d", err, len(r.Lost))
	}

	m = newMachine(1, 1, 1)
	gone := errors.New("the peer is gone")
	m.fail = func(n, _ int) error {
		if n == 7 {
			return gone
		}
		return nil
	}
	if r, err := Compare(t.Context(), design(2), m.measure, quiet); !errors.Is(err, gone) || r.Pairs != 3 || len(r.Runs) != 6 || len(r.Comparisons) != 1 {
		t.Errorf("%v, %d pairs, %d runs", err, r.Pairs, len(r.Runs))
	}
}

func TestZeroThroughput(t *testing.T) {
	measure := func(context.Context, int) (workload.Run, error) { return workload.Run{}, nil }
	if _, err := Compare(t.Context(), design(2), measure, quiet); !errors.Is(err, errLost) {
		t.Error(err)
	}
}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := design(2)
		d.MaxPairs, d.Looks = 100, nil
		d.Deadline = time.Now().Add(120 * time.Millisecond)
		m := newMachine(1, 1, 1)
		r, err := Compare(t.Context(), d, func(ctx context.Context, arm int) (workload.Run, error) {
			time.Sleep(5 * time.Millisecond)
			return m.measure(ctx, arm)
		}, quiet)
		if err != nil || r.Pairs < 2 || r.Pairs > 13 || len(r.Comparisons) != 1 {
			t.Errorf("%v, %d pairs", err, r.Pairs)
		}
	})
}

// TestResume answers the first runs from records, as after a kill: the trial
// is the same as the one without interruption.
func TestResume(t *testing.T) {
	whole, err := Compare(t.Context(), design(3), newMachine(5, 1, 1.02, 1).measure, quiet)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFamily(design(3))
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole.Runs) {
		m := newMachine(5, 1, 1.02, 1)
		n := 0
		d := design(3)
		d.Resumed = cut
		again, err := compare(t.Context(), d, f, func(ctx context.Context, arm int) (workload.Run, error) {
			n++
			run, err := m.measure(ctx, arm)
			if n <= cut {
				return whole.Runs[n-1].Run, nil
			}
			return run, err
		}, quiet)
		if err != nil || fmt.Sprint(again.Comparisons) != fmt.Sprint(whole.Comparisons) {
			t.Fatalf("cut at %d: %v %+v", cut, err, again.Comparisons)
		}
	}
}

func TestDriftIsSaid(t *testing.T) {
	d := design(2)
	d.Looks = nil
	m := newMachine(1, 1, 1)
	m.drift, m.noise = 0.02, 0.01
	r, err := Compare(t.Context(), d, m.measure, quiet)
	if err != nil || find(r.Warnings, stats.CodeDrift) == nil {
		t.Errorf("%v %v", err, r.Warnings)
	}
	if v := r.Comparisons[0].Verdict; v == stats.Helps || v == stats.Hurts {
		t.Errorf("drift is taken for an effect: %+v", r.Comparisons[0])
	}
}

func TestRunWarnings(t *testing.T) {
	d := design(2)
	m := newMachine(1, 1, 1)
	r, _ := Compare(t.Context(), d, func(ctx context.Context, arm int) (workload.Run, error) {
		run, err := m.measure(ctx, arm)
		if arm == 1 {
			run.Warnings = []workload.Warning{{Code: workload.CodeCPUBound, Text: "a core was busy"}}
		}
		return run, err
	}, quiet)
	if w := find(r.Warnings, workload.CodeCPUBound); w == nil || !strings.Contains(w.Text, "10 of 10 runs of arm1") {
		t.Errorf("%+v", r.Warnings)
	}
}

func find(all []stats.Warning, code string) *stats.Warning {
	for _, w := range all {
		if w.Code == code {
			return &w
		}
	}
	return nil
}

func TestAttributePlanted(t *testing.T) {
	effects := map[int]float64{2: 1.3, 5: 1.2}
	random := rand.New(rand.NewPCG(4, 4))
	d := AttributionDesign{Settings: strings.Fields("a b c d e f g h"), Alpha: 0.05, Margin: 0.02, Seed: 3, MaxRuns: 96}
	measure := func(_ context.Context, on []bool) (workload.Run, error) {
		v := 1e9 * math.Exp(0.02*random.NormFloat64())
		for i, e := range effects {
			if on[i] {
				v *= e
			}
		}
		return workload.Run{GoodputBPS: v}, nil
	}
	a, err := Attribute(t.Context(), d, measure, quiet)
	if err != nil || fmt.Sprint(a.Keep) != "[2 5]" {
		t.Fatalf("%v, keep %v", err, a.Keep)
	}
}

// TestCoverageAndPower makes trials of one arm that is 5% better, without
// looks: how often the interval holds the truth, and how often the effect is
// found, against what the design promised.
func TestCoverageAndPower(t *testing.T) {
	const trials, pairs, noise = 2000, 12, 0.04
	d := Design{Arms: []string{"a", "b"}, MaxPairs: pairs, Alpha: 0.05}
	family, err := newFamily(d)
	if err != nil {
		t.Fatal(err)
	}
	covered, found := 0, 0
	for i := range uint64(trials) {
		d.Seed = i
		m := newMachine(i, 1, 1.05)
		m.noise = noise
		r, err := compare(t.Context(), d, family, m.measure, quiet)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Comparisons[0]
		if c.Interval.Low <= 1.05 && 1.05 <= c.Interval.High {
			covered++
		}
		if c.Verdict == stats.Helps {
			found++
		}
	}
	promised := stats.Power(pairs, 0.05, noise*math.Sqrt2, family.level(1, pairs))
	coverage, power := float64(covered)/trials, float64(found)/trials
	t.Logf("coverage %.1f%%; power %.1f%%, promised %.1f%%", 100*coverage, 100*power, 100*promised)
	if coverage < 0.93 || coverage > 0.97 {
		t.Errorf("intervals hold the truth in %.1f%%", 100*coverage)
	}
	if math.Abs(power-promised) > 0.05 {
		t.Errorf("power %.1f%% where %.1f%% was promised", 100*power, 100*promised)
	}
}

func TestResampled(t *testing.T) {
	d := design(2)
	d.MaxPairs, d.Looks = 40, nil
	r, err := Compare(t.Context(), d, newMachine(1, 1, 1.2).measure, quiet)
	if err != nil {
		t.Fatal(err)
	}
	x, c := r.Resampled(1, r.Comparisons[0].Interval.Confidence), r.Comparisons[0].Interval
	if x == nil || math.Abs(x[0]-c.Low) > 0.01 || math.Abs(x[1]-c.High) > 0.01 {
		t.Errorf("%v, where Student's t gives %+v", x, c)
	}
	d.MaxPairs = 4
	if r, err := Compare(t.Context(), d, newMachine(1, 1, 1.2).measure, quiet); err != nil || r.Resampled(1, 0.95) != nil {
		t.Error("four pairs are resampled")
	}
}
