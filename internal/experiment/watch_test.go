package experiment

import (
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
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

// TestAtLink: a run that fills its path is bounded by it, and one that is faster than that was measured wrongly, or the
// path was.
func TestAtLink(t *testing.T) {
	c, _ := pair(t)
	for _, tt := range []struct {
		part        float64 // of what the link carries
		tool        string
		full, above bool
	}{{0.5, "iperf3", false, false}, {0.96, "iperf3", true, false}, {1.2, "iperf3", true, true}, {1.2, "builtin", true, true}} {
		s := opened(t, c, window)
		run := workload.Run{Tool: tt.tool, GoodputBPS: tt.part * s.path.LinkGoodput()}
		if err := s.watchRun()(&run); err != nil || (run.Limit != nil) != tt.full || (len(run.Warnings) > 0) != tt.above {
			t.Fatalf("%g: %+v, %v", tt.part, run, err)
		}
		if tt.full && (run.Limit.Code != workload.LimitPath || !strings.HasPrefix(run.Limit.Text, "the link: ")) {
			t.Errorf("%g: %+v", tt.part, run.Limit)
		}
		if tt.above && (run.Warnings[0].Code != workload.CodeAboveLink ||
			strings.Contains(run.Warnings[0].Text, "iperf3 counted") != (tt.tool == "iperf3")) {
			t.Errorf("%g: %+v", tt.part, run.Warnings)
		}
	}
	c.Spec.Direction = workload.Both
	s := opened(t, c, window)
	run := workload.Run{GoodputBPS: 1.5 * s.path.LinkGoodput()}
	if s.atLink(&run, ""); run.Limit != nil || len(run.Warnings) > 0 {
		t.Errorf("both directions carry twice as much: %+v", run)
	}
}

// TestOverload: where a run goes beyond the link on purpose, an emulator that falls behind is the limit that is named.
func TestOverload(t *testing.T) {
	const rtt = 50 * time.Millisecond
	for _, tt := range []struct {
		late time.Duration
		code string
	}{{2 * time.Millisecond, workload.LimitPath}, {30 * time.Millisecond, workload.LimitEmulator}} {
		var w watch
		run := workload.Run{Limit: &workload.Limit{Code: workload.LimitPath, Text: "the link"}}
		w.overload(&run, lab.Disturbance{Elapsed: time.Second, WorstLate: tt.late}, rtt)
		if run.Limit.Code != tt.code || w.clean != 1 || w.lost != 0 {
			t.Errorf("%s late: %+v, %+v", tt.late, run.Limit, w)
		}
		other := workload.Run{}
		if w.overload(&other, lab.Disturbance{Elapsed: time.Second, WorstLate: tt.late}, rtt); other.Limit != nil {
			t.Errorf("%s late, below the link: %+v", tt.late, other.Limit)
		}
	}
}

// TestNothingToTry: a plan that changes nothing is a result without a measurement.
func TestNothingToTry(t *testing.T) {
	c, said := pair(t)
	c.kind = kindTune
	s := opened(t, c, func(int, trial.Values) (float64, error) { t.Error("a run is made"); return 0, nil })
	s.announcePlans()
	for _, want := range []string{"path rate=1gbit,rtt=50ms", "the lowest ceiling is ", "settings to try: 0 on a, 0 on b"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
	r, err := s.nothingToTry(t.Context())
	if err != nil || r.Verdict != stats.NoDifference || r.Design != nil || len(r.Warnings) == 0 ||
		!strings.HasPrefix(r.Warnings[len(r.Warnings)-1], "the plan changes nothing") {
		t.Errorf("%+v, %v", r, err)
	}
}
