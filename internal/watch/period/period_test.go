package period

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/watch"
)

var begin = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// recorded gives a builder ten minutes of a host, of which the goodput is changed
// by a factor after five; a limit holds in the third minute.
func recorded(factor float64) *Builder {
	rng := rand.New(rand.NewPCG(1, 2))
	b := New(begin, begin.Add(10*time.Minute))
	for i := range 600 {
		s := watch.State{Host: "local", Time: begin.Add(time.Duration(i) * time.Second), Interval: 1,
			Verdict: watch.Verdict{Limit: watch.NoLimit}, Traffic: watch.Traffic{Sent: 1e8 * (1 + 0.1*rng.NormFloat64()), RTT: 20, P50: 20, P99: 40}}
		if i >= 300 {
			s.Traffic.Sent *= factor
		}
		if i >= 120 && i < 180 {
			s.Verdict = watch.Verdict{Limit: "send-buffer", Flows: 2, Peer: "192.0.2.7", Since: begin.Add(2 * time.Minute)}
		}
		if i == 400 {
			s.Gone, s.Traffic = "no route", watch.Traffic{}
		}
		b.Add(s)
	}
	return b
}

func TestCourse(t *testing.T) {
	r := recorded(1).Report([]Mark{{At: begin.Add(time.Minute), ID: "b"}, {At: begin.Add(-time.Minute), ID: "early"}, {At: begin, ID: "a"}})
	if len(r.Marks) != 2 || r.Marks[0].ID != "a" {
		t.Errorf("marks %+v", r.Marks)
	}
	h := r.Hosts[0]
	if h.States != 600 || len(h.Points) != 200 && len(h.Points) != 300 && len(h.Points) != 240 {
		t.Errorf("%d states in %d columns", h.States, len(h.Points))
	}
	if len(h.Limits) != 1 || h.Limits[0].Limit != "send-buffer" || math.Abs(h.Limits[0].Seconds-60) > 2 || h.Limits[0].Times != 1 {
		t.Errorf("%+v", h.Limits)
	}
	if len(h.Onsets) != 2 || !h.Onsets[0].At.Equal(begin.Add(2*time.Minute)) || h.Onsets[0].Words != "send buffer: 2 flows with 192.0.2.7" ||
		h.Onsets[1].Problem != "not-reached" || h.Gone != 1 {
		t.Errorf("%+v, gone for %v s", h.Onsets, h.Gone)
	}
	if p := h.Points[0]; p.RTT != 20 || p.SlowRTT != 40 || math.Abs(p.Sent-1e8) > 3e7 {
		t.Errorf("%+v", p)
	}
}

func TestBeforeAndAfter(t *testing.T) {
	mark := Mark{At: begin.Add(5 * time.Minute), ID: "x"}
	for _, test := range []struct {
		factor float64
		want   stats.Verdict
	}{{1.3, stats.Helps}, {0.7, stats.Hurts}, {1, stats.NoDifference}} {
		b := recorded(test.factor)
		r := b.Report([]Mark{mark})
		b.Compare(r, mark)
		e := r.Comparison.Lines[0]
		if e.Metric != "goodput" || e.Verdict != test.want || e.Drifts {
			t.Errorf("%+v", e)
		}
	}
	b := recorded(1)
	r := b.Report(nil)
	b.Compare(r, Mark{At: begin.Add(2 * time.Second)})
	if e := r.Comparison.Lines[0]; e.Verdict != stats.NotEnough || e.Why == "" {
		t.Errorf("two seconds before: %+v", e)
	}
}

// Whatever is recorded, a report can be made of it.
func TestWildStates(t *testing.T) {
	b := New(begin, begin.Add(time.Hour))
	for i := range 5000 {
		at := begin.Add(time.Duration(rand.Int64N(int64(2*time.Hour))) - time.Hour)
		b.Add(watch.State{Host: string(rune('a' + i%3)), Time: at, Interval: rand.Float64() * 10, Resolution: float64(i % 2 * 60),
			Verdict: watch.Verdict{Limit: []string{"none", "program", "x"}[i%3]}, Traffic: watch.Traffic{Sent: rand.NormFloat64()}})
	}
	r := b.Report(nil)
	b.Compare(r, Mark{At: begin})
	for _, h := range r.Hosts {
		for _, l := range h.Limits {
			if l.Share < 0 || l.Share > 1 || math.IsNaN(l.Share) {
				t.Errorf("%+v", l)
			}
		}
	}
}
