package canary

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
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
	effects []func(time.Time) float64 // of a host from now on, logarithmic; nil: none
	guards  [][]float64               // of the guard, as values
	guarded []func(time.Time) float64 // as effects, of the guard
	boots   map[int]time.Time         // hosts that were started anew
	step    time.Duration
	names   []string
	world   world
	lost    map[int]func(time.Time) bool // hosts without a sample at some times
}

// world is what is simulated: how many hosts, which blocks they are in and how their
// samples scatter. The zero value of a function is the plain one.
type world struct {
	hosts  int
	place  func(i int) []string     // hardware and rack
	draw   func(*rand.Rand) float64 // an innovation with a variance of 1
	slow   float64                  // correlation of a wandering state from sample to sample
	fast   float64                  // the same of what passes within a day
	levels func(i int) float64      // what a host has before, as a logarithm
	began  func(*fleet, *State)     // what else happens, once the design is made
}

// plain is the world of most tests.
func plain(hosts int) world {
	return world{hosts, func(i int) []string { return []string{strconv.Itoa(i % 3), strconv.Itoa(i % 10)} },
		(*rand.Rand).NormFloat64, 0.97, 0.6, func(i int) float64 { return 0.3 * float64(i%3) }, nil}
}

var simulated = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func newFleet(w world, seed uint64) (*fleet, []Host) {
	f := &fleet{now: simulated, rng: rand.New(rand.NewPCG(seed, 7)), step: 3 * time.Hour, world: w, lost: map[int]func(time.Time) bool{}}
	hosts := w.hosts
	f.values, f.state = make([][]float64, hosts), make([][2]float64, hosts)
	f.effects, f.guarded = make([]func(time.Time) float64, hosts), make([]func(time.Time) float64, hosts)
	f.guards, f.boots = make([][]float64, hosts), map[int]time.Time{}
	var all []Host
	for i := range hosts {
		f.levels = append(f.levels, 0.4*f.rng.NormFloat64()+w.levels(i))
		f.state[i] = [2]float64{f.rng.NormFloat64(), f.rng.NormFloat64()}
		name := fmt.Sprintf("h%04d", i)
		f.names = append(f.names, name)
		all = append(all, Host{Name: name, Facts: w.place(i)})
	}
	return f, all
}

// pass lets time pass.
func (f *fleet) pass(span time.Duration) {
	for range int(span / f.step) {
		for i := range f.values {
			s := &f.state[i]
			for k, stays := range []float64{f.world.slow, f.world.fast} {
				s[k] = stays*s[k] + math.Sqrt(1-stays*stays)*f.world.draw(f.rng)
			}
			v := f.levels[i] + 0.08*s[0] + 0.1*s[1]
			g := v
			if f.effects[i] != nil {
				v += f.effects[i](f.now)
			}
			if f.guarded[i] != nil {
				g += f.guarded[i](f.now)
			}
			f.values[i], f.guards[i] = append(f.values[i], v), append(f.guards[i], g)
		}
		f.now = f.now.Add(f.step)
	}
}

func (f *fleet) Now(context.Context) (time.Time, error) { return f.now, nil }

func (f *fleet) Range(_ context.Context, query string, from, to time.Time, _ time.Duration) ([]Series, error) {
	var all []Series
	values := f.values
	if query == "guard" {
		values = f.guards
	}
	for i, logs := range values {
		s := Series{Labels: map[string]string{"instance": f.names[i] + ":9100"}}
		first := max(0, int((from.Sub(simulated)+f.step-1)/f.step))
		for k := first; k < len(logs); k++ {
			at := simulated.Add(time.Duration(k) * f.step)
			if lost := f.lost[i]; at.Before(to) && (lost == nil || !lost(at)) {
				v := math.Exp(logs[k])
				if query == "boot" {
					v = 1e9
					if boot, ok := f.boots[i]; ok && !at.Before(boot) {
						v = 2e9
					}
				}
				s.Points = append(s.Points, Point{At: at, Value: v})
			}
		}
		all = append(all, s)
	}
	return all, nil
}

func simulatedDesign() Design {
	return Design{Metric: Metric{Query: "speed", HigherIsBetter: true}, Guards: []Metric{}, Blocks: []string{"hardware", "rack"},
		Before: 48 * 3600, Window: 24 * 3600, Resolution: 3 * 3600, Margin: 0.005, GuardMargin: 0.05,
		Alpha: 0.05, Power: 0.8, Promote: OnHelps}
}

// outcome is how one simulated canary ended.
type outcome struct {
	action  Action // of the first look that did not go on to the next step
	last    Action
	state   *State
	because []string
	notes   []string
	samples bool // Mann-Whitney on samples found a difference in the deciding step
}

// effect is what a change does to a host's logarithm, at a time and at some time
// since the host was changed.
type effect func(h Host, at time.Time, since time.Duration) float64

// always is the same effect everywhere.
func always(ratio float64) func(*State) effect {
	return func(*State) effect { return func(Host, time.Time, time.Duration) float64 { return math.Log(ratio) } }
}

// simulate runs a whole canary of a change whose effect may depend on the design.
func simulate(t *testing.T, w world, seed uint64, steps string, d Design, of func(*State) effect) outcome {
	t.Helper()
	f, all := newFleet(w, seed)
	f.pass(d.before() + (splits+5)*d.window())
	d.Seed = seed
	s, err := New(t.Context(), f, d, "instance", all, steps)
	if err != nil {
		t.Fatal(err)
	}
	changes, end := of(s), outcome{state: s}
	if w.began != nil {
		w.began(f, s)
	}
	for {
		step, err := s.Begin(f.now)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range s.Hosts {
			if h.Step == step {
				begun := f.now
				f.effects[i] = func(at time.Time) float64 { return changes(h, at, at.Sub(begun)) }
			}
		}
		if _, err := s.Judge(t.Context(), f); s.Steps[step].Information > 0 && err == nil {
			t.Fatal("a window that has not passed was judged")
		}
		f.pass(d.window() + f.step)
		look, err := s.Judge(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if s.Steps[step].Decides {
			end.samples = f.mannWhitney(s, step) < 0.05
		}
		if end.last = look.Action; end.action == "" && look.Action != Proceed {
			end.action, end.because, end.notes = look.Action, look.Because, look.Notes
		}
		if look.Action != Proceed && look.Action != Promote || s.Current() == len(s.Steps) {
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
	count := func(name string, ratio float64, seed uint64) map[Action]int {
		ends, samples := map[Action]int{}, 0
		for run := range runs {
			end := simulate(t, plain(hosts), seed+uint64(run), steps, simulatedDesign(), always(ratio))
			ends[end.action]++
			if end.samples {
				samples++
			}
		}
		t.Logf("%s: %v; Mann-Whitney on samples finds a difference in %d of %d", name, ends, samples, runs)
		return ends
	}
	harm := count("-3%", 0.97, 1000)
	atMost(t, "-3% promoted", harm[Promote], runs, 0.05)
	none := count("A/A", 1, 5000)
	atMost(t, "A/A stopped", none[Stop], runs, 0.05)
	atMost(t, "A/A promoted", none[Promote], runs, 0.05)
}

// announced is an effect as the deciding step is to see it, in the direction that is
// better, and fails where the design does not stand by its power.
func announced(t *testing.T) func(*State) effect {
	return func(s *State) effect {
		deciding := slices.IndexFunc(s.Steps, func(s Step) bool { return s.Decides })
		if s.Steps[deciding].Sees == nil {
			t.Fatal("the design sees nothing")
		}
		sees := *s.Steps[deciding].Sees
		if p := s.PowerAt(sees); math.Abs(p-s.Design.Power) > 0.001 {
			t.Fatalf("the power at what is seen with %v is %v", s.Design.Power, p)
		}
		return always(1 + sees)(s)
	}
}

// TestPowerAsAnnounced runs canaries of the very effect that their design announces to
// see, on fleets of other sizes and metrics. WIRERATE_CANARY_RUNS=500 makes the rates
// exact to 2 points.
func TestPowerAsAnnounced(t *testing.T) {
	heavy := func(r *rand.Rand) float64 { // Student's t with 3 degrees of freedom
		return distuv.StudentsT{Mu: 0, Sigma: math.Sqrt(1.0 / 3), Nu: 3, Src: r}.Rand()
	}
	unequal := func(i int) []string { // half of the hosts are of one kind, some kinds have few
		kind := bits.Len(uint(i))
		return []string{strconv.Itoa(kind), strconv.Itoa(i % 2)}
	}
	runs := number("WIRERATE_CANARY_RUNS", 25)
	for _, c := range []struct {
		name  string
		hosts int
		steps string
		alter func(*world)
		slow  bool // only with many runs
	}{
		{"40 hosts", 40, "1,10%,50%,100%", func(*world) {}, false},
		{"200 hosts", 200, "1,1%,10%,50%,95%", func(*world) {}, false},
		{"1000 hosts", 1000, "1,1%,10%,50%,100%", func(*world) {}, true},
		{"3000 hosts", 3000, "1,1%,10%,50%,95%", func(*world) {}, true},
		{"unequal blocks", 200, "1,1%,10%,50%,95%", func(w *world) { w.place = unequal }, false},
		{"heavy tails", 200, "1,1%,10%,50%,95%", func(w *world) { w.draw = heavy }, false},
		{"lasting states", 200, "1,1%,10%,50%,95%", func(w *world) { w.slow = 0.995 }, false},
		{"independent samples", 200, "1,1%,10%,50%,95%", func(w *world) { w.slow, w.fast = 0, 0 }, false},
		{"40 hosts, heavy tails, unequal blocks", 40, "1,10%,50%,100%", func(w *world) { w.draw, w.place = heavy, unequal }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.slow && runs < 100 {
				t.Skip("many hosts; WIRERATE_CANARY_RUNS=100 or more runs it")
			}
			w := plain(c.hosts)
			c.alter(&w)
			ends := map[Action]int{}
			for run := range runs {
				ends[simulate(t, w, uint64(9000+run), c.steps, simulatedDesign(), announced(t)).action]++
			}
			t.Logf("what is announced is found in %d of %d; %v", ends[Promote], runs, ends)
			if power := float64(ends[Promote]) / float64(runs); math.Abs(power-0.8) > 0.05+3*math.Sqrt(0.16/float64(runs)) {
				t.Errorf("the power is %.2f, announced 0.80", power)
			}
		})
	}
}
