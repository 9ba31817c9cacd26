package canary

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// fleet is a Source of simulated hosts on a virtual clock. Each host has a level of
// its own, a state that wanders over days, and samples that resemble each other.
type fleet struct {
	now     time.Time
	rng     *rand.Rand
	values  [][]float64 // logarithms, by host and sample since start
	state   [][2]float64
	levels  []float64
	effects []float64 // of a host from now on, logarithmic
	step    time.Duration
	names   []string
}

var simulated = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func newFleet(hosts int, seed uint64) (*fleet, []Host) {
	f := &fleet{now: simulated, rng: rand.New(rand.NewPCG(seed, 7)), step: 3 * time.Hour}
	f.values, f.state = make([][]float64, hosts), make([][2]float64, hosts)
	f.effects = make([]float64, hosts)
	var all []Host
	for i := range hosts {
		f.levels = append(f.levels, 0.4*f.rng.NormFloat64()+0.3*float64(i%3))
		f.state[i] = [2]float64{f.rng.NormFloat64(), f.rng.NormFloat64()}
		name := fmt.Sprintf("h%04d", i)
		f.names = append(f.names, name)
		all = append(all, Host{Name: name, Facts: []string{strconv.Itoa(i % 3), strconv.Itoa(i % 10)}})
	}
	return f, all
}

// pass lets time pass.
func (f *fleet) pass(span time.Duration) {
	for range int(span / f.step) {
		for i := range f.values {
			s := &f.state[i]
			s[0] = 0.97*s[0] + math.Sqrt(1-0.97*0.97)*f.rng.NormFloat64()
			s[1] = 0.6*s[1] + 0.8*f.rng.NormFloat64()
			f.values[i] = append(f.values[i], f.levels[i]+0.08*s[0]+0.1*s[1]+f.effects[i])
		}
		f.now = f.now.Add(f.step)
	}
}

func (f *fleet) Now(context.Context) (time.Time, error) { return f.now, nil }

func (f *fleet) Range(_ context.Context, query string, from, to time.Time, _ time.Duration) ([]Series, error) {
	var all []Series
	for i, logs := range f.values {
		s := Series{Labels: map[string]string{"instance": f.names[i] + ":9100"}}
		first := max(0, int((from.Sub(simulated)+f.step-1)/f.step))
		for k := first; k < len(logs); k++ {
			if at := simulated.Add(time.Duration(k) * f.step); at.Before(to) {
				s.Points = append(s.Points, Point{at, math.Exp(logs[k])})
			}
		}
		all = append(all, s)
	}
	return all, nil
}

func simulatedDesign() Design {
	return Design{Metric: Metric{Query: "speed", HigherIsBetter: true}, Guards: []Metric{}, Blocks: []string{"hardware", "rack"},
		Before: 48 * time.Hour, Window: 24 * time.Hour, Resolution: 3 * time.Hour, Margin: 0.005, GuardMargin: 0.05,
		Alpha: 0.05, Power: 0.8, Promote: OnHelps}
}

// outcome is how one simulated canary ended.
type outcome struct {
	action  Action
	samples bool // Mann-Whitney on samples found a difference in the deciding step
}

// simulate runs a whole canary of a change whose effect on a host is a function.
func simulate(t *testing.T, hosts int, seed uint64, steps string, d Design, effect func(Host) float64) outcome {
	t.Helper()
	f, all := newFleet(hosts, seed)
	f.pass(d.Before + (splits+4)*d.Window)
	d.Seed = seed
	s, err := New(t.Context(), f, d, "instance", all, steps)
	if err != nil {
		t.Fatal(err)
	}
	var end outcome
	for {
		step, err := s.Begin(f.now)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range s.Hosts {
			if h.Step == step {
				f.effects[i] = effect(h)
			}
		}
		if _, err := s.Judge(t.Context(), f); s.Steps[step].Information > 0 && err == nil {
			t.Fatal("a window that has not passed was judged")
		}
		f.pass(d.Window + f.step)
		look, err := s.Judge(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if s.Steps[step].Decides {
			end.samples = f.mannWhitney(s, step) < 0.05
		}
		if look.Action != Proceed {
			end.action = look.Action
			return end
		}
	}
}

// mannWhitney is the two-sided p-value of the rank test on the samples of a step,
// each taken for an observation, as canary engines do it.
func (f *fleet) mannWhitney(s *State, step int) float64 {
	type ranked struct {
		v       float64
		treated bool
	}
	var all []ranked
	n := len(f.values[0])
	for i, h := range s.Hosts {
		for _, v := range f.values[i][n-8:] {
			all = append(all, ranked{v, h.Step <= step})
		}
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.v, b.v) })
	sum, a := 0.0, 0.0
	for rank, r := range all {
		if r.treated {
			sum += float64(rank + 1)
			a++
		}
	}
	b := float64(len(all)) - a
	z := (sum - a*(a+b+1)/2) / math.Sqrt(a*b*(a+b+1)/12)
	return 2 * distuv.UnitNormal.CDF(-math.Abs(z))
}

// number is an environment variable, for longer simulations than every test needs.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// atMost fails when a count shows a rate above a limit beyond chance.
func atMost(t *testing.T, what string, count, runs int, limit float64) {
	t.Helper()
	t.Logf("%s: %d of %d (%.1f%%)", what, count, runs, 100*float64(count)/float64(runs))
	if p := 1 - (distuv.Binomial{N: float64(runs), P: limit}).CDF(float64(count-1)); p < 1e-3 {
		t.Errorf("%s: %d of %d, more than %.0f%%", what, count, runs, 100*limit)
	}
}

// TestSimulatedFleets runs whole canaries: harm is not promoted, nothing is not
// stopped, and what was announced to be seen is. WIRERATE_CANARY_RUNS=500 and
// WIRERATE_CANARY_HOSTS=1000 make it as large as it is in earnest.
func TestSimulatedFleets(t *testing.T) {
	runs, hosts := number("WIRERATE_CANARY_RUNS", 60), number("WIRERATE_CANARY_HOSTS", 120)
	const steps = "1,1%,10%,50%,100%"
	count := func(name string, effect float64, seed uint64) map[Action]int {
		ends, samples := map[Action]int{}, 0
		for run := range runs {
			end := simulate(t, hosts, seed+uint64(run), steps, simulatedDesign(), func(Host) float64 { return effect })
			ends[end.action]++
			if end.samples {
				samples++
			}
		}
		t.Logf("%s: %v; Mann-Whitney on samples finds a difference in %d of %d", name, ends, samples, runs)
		return ends
	}
	harm := count("-3%", math.Log(0.97), 1000)
	atMost(t, "-3% promoted", harm[Promote], runs, 0.05)
	none := count("A/A", 0, 5000)
	atMost(t, "A/A stopped", none[Stop], runs, 0.05)
	atMost(t, "A/A promoted", none[Promote], runs, 0.05)

	// What the design of each fleet announces to see with a power of 80%.
	found := 0
	for run := range runs {
		f, all := newFleet(hosts, uint64(9000+run))
		d := simulatedDesign()
		f.pass(d.Before + (splits+4)*d.Window)
		d.Seed = uint64(9000 + run)
		s, err := New(t.Context(), f, d, "instance", all, steps)
		if err != nil {
			t.Fatal(err)
		}
		deciding := slices.IndexFunc(s.Steps, func(s Step) bool { return s.Decides })
		sees := *s.Steps[deciding].Sees
		if p := s.PowerAt(sees); math.Abs(p-0.8) > 0.001 {
			t.Fatalf("the power at what is seen with 80%% is %v", p)
		}
		if simulate(t, hosts, uint64(9000+run), steps, d, func(Host) float64 { return math.Log1p(sees) }).action == Promote {
			found++
		}
	}
	t.Logf("the announced effect is found in %d of %d", found, runs)
	if power := float64(found) / float64(runs); math.Abs(power-0.8) > 0.05+3*math.Sqrt(0.16/float64(runs)) {
		t.Errorf("the power is %.2f, announced 0.80", power)
	}
}

// TestHarmOfAPart plants a harm on one hardware, one at night and one that grows,
// each hidden by a gain elsewhere: none is promoted.
func TestHarmOfAPart(t *testing.T) {
	for seed := range uint64(5) {
		end := simulate(t, 240, seed, "1,10%,50%,100%", simulatedDesign(), func(h Host) float64 {
			if h.Facts[0] == "1" {
				return math.Log(0.85)
			}
			return math.Log(1.12)
		})
		if end.action != Stop {
			t.Errorf("a harm on one hardware: %s", end.action)
		}
	}
}
