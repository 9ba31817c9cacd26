package experiment

import (
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
)

// A run is made again when the emulator was late, but not for ever: neither
// one run, nor too many of all.
func TestWatchRepeatsAreBounded(t *testing.T) {
	const rtt = 50 * time.Millisecond
	fine, late := lab.Disturbance{Elapsed: time.Second, WorstLate: 2 * time.Millisecond}, lab.Disturbance{Elapsed: time.Second, WorstLate: 30 * time.Millisecond}
	var w watch
	if again, warn := w.judge(fine, rtt); again || warn {
		t.Error("a run in time is lost")
	}
	if again, _ := w.judge(late, rtt); !again {
		t.Error("a late run stands")
	}
	if again, warn := w.judge(fine, rtt); again || warn || w.worst != fine.WorstLate {
		t.Error("the repeated run does not stand, or the lost one counts: ", w)
	}
	w = watch{}
	for i := range disturbedAgain - 2 {
		if again, _ := w.judge(late, rtt); !again {
			t.Errorf("late run %d stands", i)
		}
	}
	for range 1000 {
		w.judge(late, rtt)
	}
	if w.lost != lostAtLeast || w.worst != late.WorstLate {
		t.Errorf("%d runs lost where none was in time, %d may be; worst %s", w.lost, lostAtLeast, w.worst)
	}
	for range 1000 {
		w.judge(fine, rtt)
		w.judge(late, rtt)
	}
	if w.lost < 900 {
		t.Errorf("%d runs lost where every second one was in time", w.lost)
	}
}

// Late by little but often, or at the cost of packets, is too much as well.
func TestWatchJudges(t *testing.T) {
	for name, c := range map[string]struct {
		d    lab.Disturbance
		lost bool
	}{
		"nothing":       {lab.Disturbance{Elapsed: time.Second}, false},
		"a short stall": {lab.Disturbance{Elapsed: time.Second, Stalled: 8 * time.Millisecond, WorstLate: 8 * time.Millisecond}, false},
		"a long one":    {lab.Disturbance{Elapsed: 10 * time.Second, Stalled: 11 * time.Millisecond, WorstLate: 11 * time.Millisecond}, true},
		"many":          {lab.Disturbance{Elapsed: time.Second, Stalled: 11 * time.Millisecond, WorstLate: 2 * time.Millisecond}, true},
		"lost packets":  {lab.Disturbance{Elapsed: time.Second, Lost: 1}, true},
	} {
		if again, _ := new(watch).judge(c.d, 50*time.Millisecond); again != c.lost {
			t.Errorf("%s: made again: %t", name, again)
		}
	}
}

func TestLateLimit(t *testing.T) {
	for rtt, want := range map[time.Duration]time.Duration{0: 4 * time.Millisecond, time.Millisecond: 4 * time.Millisecond, 50 * time.Millisecond: 10 * time.Millisecond} {
		if got := lateLimit(rtt); got != want {
			t.Errorf("%s: %s, want %s", rtt, got, want)
		}
	}
}
