package canary

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// either is one effect or another, as ratios.
func either(bad bool, worse, better float64) float64 {
	if bad {
		return math.Log(worse)
	}
	return math.Log(better)
}

// nth tells whether a host is one of every n of a fleet, as hosts are named.
func nth(h Host, n int) bool {
	sum := 0
	for _, r := range h.Name {
		sum = 7*sum + int(r)
	}
	return sum%n == 0
}

// TestHarmIsNotPromoted plants harms that a gain elsewhere hides in the mean of all
// hosts: none is promoted.
func TestHarmIsNotPromoted(t *testing.T) {
	const day = 24 * time.Hour
	// gone loses the samples of hosts that are changed, from then on.
	gone := func(of func(Host) bool, at func(time.Time) bool) func(*fleet, *State) {
		return func(f *fleet, s *State) {
			for i, h := range s.Hosts {
				if of(h) {
					f.lost[i] = func(when time.Time) bool { return f.effects[i] != nil && when.After(s.Made) && at(when) }
				}
			}
		}
	}
	night := func(at time.Time) bool { return at.Hour() < 6 }
	for _, c := range []struct {
		name    string
		changes effect
		alter   func(*world, *Design)
		want    Action
		because string
	}{
		{"on one hardware", func(h Host, _ time.Time, _ time.Duration) float64 { return either(h.Facts[0] == "1", 0.85, 1.12) },
			nil, Stop, "hardware=1"},
		{"at night", func(_ Host, at time.Time, _ time.Duration) float64 { return either(night(at), 0.75, 1.12) },
			nil, Stop, "00:00 to 06:00"},
		{"that grows within the window", func(_ Host, _ time.Time, since time.Duration) float64 { return either(since > 15*time.Hour, 0.85, 1.2) },
			nil, Stop, "became worse"},
		{"that comes days later", func(_ Host, _ time.Time, since time.Duration) float64 {
			return either(since > day+3*time.Hour, 0.8, 1.15)
		},
			nil, Stop, "changed in earlier steps"},
		{"on a tenth of the hosts", func(h Host, _ time.Time, _ time.Duration) float64 { return either(nth(h, 8), 0.55, 1.15) },
			nil, Stop, "far worse"},
		{"on most hosts, hidden by the gain of some", func(h Host, _ time.Time, _ time.Duration) float64 { return either(!nth(h, 8), 0.95, 4) },
			nil, Undecided, "is that of few hosts"},
		{"of hosts that vanish", func(h Host, _ time.Time, _ time.Duration) float64 { return either(nth(h, 6), 0.3, 1.1) },
			func(w *world, _ *Design) {
				w.began = gone(func(h Host) bool { return nth(h, 6) }, func(time.Time) bool { return true })
			}, Stop, "changed hosts lack speed"},
		{"of hosts that vanish when it is bad", func(h Host, at time.Time, _ time.Duration) float64 { return either(nth(h, 6) && night(at), 0.3, 1.1) },
			func(w *world, _ *Design) { w.began = gone(func(h Host) bool { return nth(h, 6) }, night) }, Stop, "changed hosts lack speed"},
		{"of hosts that serve nothing, in no time", func(h Host, _ time.Time, _ time.Duration) float64 { return either(nth(h, 6), 0, 1) },
			func(_ *world, d *Design) { d.Metric.HigherIsBetter = false }, Stop, "changed hosts lack speed"},
		{"in a guard, on one hardware", func(Host, time.Time, time.Duration) float64 { return math.Log(1.1) },
			func(w *world, d *Design) {
				d.Guards = []Metric{{Query: "guard"}}
				w.began = func(f *fleet, s *State) {
					for i, h := range s.Hosts {
						f.guarded[i] = func(time.Time) float64 {
							if f.effects[i] == nil {
								return 0
							}
							return either(h.Facts[0] == "2", 1.3, 0.87)
						}
					}
				}
			}, Stop, "the guard guard of hardware=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := 0
			for seed := range uint64(5) {
				w, d := plain(240), simulatedDesign()
				if c.alter != nil {
					c.alter(&w, &d)
				}
				end := simulate(t, w, seed, "1,10%,50%,100%", d, func(*State) effect { return c.changes })
				said := strings.Join(append(end.because, end.notes...), "\n")
				if end.action != c.want {
					t.Errorf("seed %d: %s, because %s; want %s", seed, end.action, said, c.want)
				}
				if strings.Contains(said, c.because) {
					found++
				}
			}
			// Some other sign of the same harm may come first.
			if found < 3 {
				t.Errorf("%q is said in %d of 5", c.because, found)
			}
		})
	}
}

// TestHarmAfterThePromotion plants a harm that begins when the change is promoted: the
// hosts that are kept unchanged show it.
func TestHarmAfterThePromotion(t *testing.T) {
	later := func(_ Host, _ time.Time, since time.Duration) float64 { return either(since > 27*time.Hour, 0.8, 1.15) }
	for seed := range uint64(5) {
		w := plain(240)
		end := simulate(t, w, seed, "40%,90%", simulatedDesign(), func(*State) effect { return later })
		if end.action != Promote || end.last != Stop {
			t.Errorf("seed %d: %s, then %s", seed, end.action, end.last)
		}
	}
}

// TestPromotionSaysWhatItRestsOn wants the look that promotes to name what it did not
// see: a rack whose few hosts scatter too much, other hours, and what comes later.
func TestPromotionSaysWhatItRestsOn(t *testing.T) {
	d := simulatedDesign()
	d.Before, d.Window, d.Resolution, d.GuardMargin = 36*3600, 30*3600, 3*3600, 0.01
	end := simulate(t, plain(120), 3, "1,10%,50%,100%", d, always(1.15))
	said := strings.Join(end.notes, "\n")
	for _, want := range []string{"is not worse by more than 1% of ", "rack=", "a harm at other hours is not seen", "a decay after this window is not seen"} {
		if end.action != Promote || !strings.Contains(said, want) {
			t.Errorf("%s, %q is not in %q", end.action, want, said)
		}
	}

	// Prometheus is down at night, two hosts fall, which may be chance, and no weekend is in it.
	w := plain(120)
	w.began = func(f *fleet, s *State) {
		for i := range s.Hosts {
			f.lost[i] = func(at time.Time) bool { return at.After(s.Made) && at.Hour() < 6 }
		}
	}
	end = simulate(t, w, 3, "1,10%,50%,100%", simulatedDesign(), func(s *State) effect {
		deciding := slices.IndexFunc(s.Hosts, func(h Host) bool { return h.Step == 2 })
		return func(h Host, _ time.Time, _ time.Duration) float64 {
			return either(h.Name == s.Hosts[deciding].Name, 0.3, 1.2)
		}
	})
	said = strings.Join(end.notes, "\n")
	for _, want := range []string{"00:00 to 06:00 UTC", "other days of the week", "1 of 60 changed hosts became far worse in speed"} {
		if end.action != Promote || !strings.Contains(said, want) {
			t.Errorf("%s, %q is not in %q", end.action, want, said)
		}
	}
}

// TestFirstHostRestarts starts the only changed host anew: no test of rates finds that.
func TestFirstHostRestarts(t *testing.T) {
	w, d := plain(120), simulatedDesign()
	d.Boot = "boot"
	w.began = func(f *fleet, s *State) {
		f.boots[slices.IndexFunc(s.Hosts, func(h Host) bool { return h.Step == 0 })] = f.now.Add(12 * time.Hour)
	}
	if end := simulate(t, w, 1, "1,50%,100%", d, always(1.1)); end.action != Stop || !strings.Contains(end.because[0], "1 of 1 changed hosts were started anew") {
		t.Errorf("%s, because %q", end.action, end.because)
	}
}

// TestWindowBegunAgain wants a look to say that its window is not the first.
func TestWindowBegunAgain(t *testing.T) {
	f, all := newFleet(plain(120), 4)
	d := simulatedDesign()
	f.pass(d.before() + (splits+5)*d.window())
	s, err := New(t.Context(), f, d, "instance", all, "1,50%")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(f.now); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Judge(t.Context(), f)
	f.pass(d.window() + f.step)
	if err := s.Again(); err != nil {
		t.Fatal(err)
	}
	var early *Early
	if _, err := s.Judge(t.Context(), f); !errors.As(err, &early) {
		t.Fatalf("a window that has just begun was judged: %v", err)
	}
	f.pass(d.window() + f.step)
	look, err := s.Judge(t.Context(), f)
	if err != nil || !strings.Contains(strings.Join(look.Notes, "\n"), "was begun 2 times") {
		t.Errorf("%+v, %v", look, err)
	}
}

// TestReach reads how far queries look back, and refuses those that look elsewhere.
func TestReach(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"node_load1":                                      0,
		"sum by (instance) (rate(x_total[10m]))":          10 * time.Minute,
		"rate(a[5m]) / rate(b[1h30m])":                    90 * time.Minute,
		"max_over_time(rate(x[5m])[1h:1m])":               65 * time.Minute,
		`x{path="a[1d] offset 5m @ 3"}`:                   0,
		"node_timex_offset_seconds + offset_of_something": 0,
		"x[nonsense]":                                     0,
	} {
		if got, err := reach(query); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", query, got, err, want)
		}
	}
	for _, query := range []string{"x offset 1d", "rate(x[5m] OFFSET 1w)", "x @ 1600000000", "x @ start()", "x offset -5m"} {
		if _, err := reach(query); !errors.Is(err, ErrQuery) {
			t.Errorf("%s: %v", query, err)
		}
	}
}
