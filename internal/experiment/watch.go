package experiment

import (
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

const (
	// lateShare is the part of the round-trip time by which the emulator may
	// be late in a run: beyond it a sender took this machine's stall for the
	// path. On short paths lateLeast counts, which a busy machine reaches all
	// the time.
	lateShare = 0.2
	lateLeast = 4 * time.Millisecond
	// disturbedAgain is how often in a row a run is made that something
	// outside disturbs; what still is then stands, with a warning.
	disturbedAgain = 4
	// lostAtLeast runs may be lost, and one more for each that was in time:
	// where hardly any is, repeating only takes the time of further pairs.
	lostAtLeast = 4
)

// watch judges the runs of a session by how far the emulator was behind, never
// by what they measured.
type watch struct {
	clean  int // runs in time
	lost   int
	inARow int           // lost ones since the last that stood
	worst  time.Duration // lateness in the runs that stand
}

// judge decides about a run that was disturbed so: whether it is made again,
// or stands, perhaps with a warning.
func (w *watch) judge(d lab.Disturbance, rtt time.Duration) (again, warn bool) {
	over := d.TooMuch() || d.WorstLate > lateLimit(rtt)
	if over && w.inARow+1 < disturbedAgain && w.lost < lostAtLeast+w.clean {
		w.lost++
		w.inARow++
		return true, false
	}
	if !over {
		w.clean++
	}
	w.inARow, w.worst = 0, max(w.worst, d.WorstLate)
	return false, over
}

// atLink says that the link bounds a run that fills it, and marks one whose
// goodput is more than the link's rate, from which the framing is not even taken. reason is what
// else is known of the path.
func (s *session) atLink(r *workload.Run, reason string) {
	if !s.known || !s.transfers() {
		return
	}
	rate, carries := float64(s.path.Rate), s.path.LinkGoodput()
	if s.bothWays() {
		rate, carries = 2*rate, 2*carries
	}
	if carries > 0 && r.GoodputBPS >= linkFull*carries {
		r.Limit = &workload.Limit{Code: workload.LimitPath,
			Text: fmt.Sprintf("the link: %.0f%% of the payload that its rate can carry", 100*r.GoodputBPS/carries)}
	}
	if part := r.GoodputBPS / rate; rate > 0 && part > 1 {
		why := "of the path: " + reason
		if r.Tool != "builtin" {
			why += fmt.Sprintf("; or %s counted what had been sent before it began to count and was repaired then",
				r.Tool)
		}
		r.Warnings = append(r.Warnings, workload.Warning{Code: workload.CodeAboveLink, Value: part,
			Text: fmt.Sprintf("%.1f%% of the link's rate: more than it can carry; %s", 100*part, why)})
	}
}

// linkFull is the part of what a link carries from which it is what bounds a run.
const linkFull = 0.95

// transfers tells whether the workload's result is its goodput.
func (s *session) transfers() bool {
	kind, err := workload.FindKind(s.Spec.Workload)
	return err == nil && kind.Primary().Name == workload.Goodput
}

// bothWays tells whether a run's goodput is that of both directions.
func (s *session) bothWays() bool {
	spec, err := s.fullSpec(s.rtt)
	return err == nil && spec.Direction == workload.Both
}

// overload judges a run that goes beyond what the path carries on purpose: an
// emulator that falls behind then is a limit to be named, not a disturbance.
func (w *watch) overload(r *workload.Run, d lab.Disturbance, rtt time.Duration) {
	w.clean++
	if !d.TooMuch() && d.WorstLate <= lateLimit(rtt) {
		w.worst = max(w.worst, d.WorstLate)
		return
	}
	if r.Limit != nil && r.Limit.Code == workload.LimitPath {
		r.Limit = &workload.Limit{Code: workload.LimitEmulator,
			Text: fmt.Sprintf("this machine: beyond that its emulated link could not keep up (%s); %s", d,
				r.Limit.Text)}
	}
}

// lateLimit is how late the emulator may be on a path.
func lateLimit(rtt time.Duration) time.Duration {
	return max(time.Duration(lateShare*float64(rtt)), lateLeast)
}

// watchRun looks after a run, before which a lab's kernels forget the one before: one that carried more than the link
// can is marked, and one in which the emulator was too far behind is lost
// (workload.ErrDisturbed).
func (s *session) watchRun() func(*workload.Run) error {
	if s.lab == nil {
		return func(r *workload.Run) error {
			s.atLink(r, "it is faster than it was declared or measured to be")
			return nil
		}
	}
	if err := s.lab.Forget(); err != nil {
		s.note("what the run before left in the lab's kernels stays there: %v", err)
	}
	mark := s.lab.Mark()
	return func(r *workload.Run) error {
		d := s.lab.Since(mark)
		s.atLink(r, d.String())
		if kind, err := workload.FindKind(s.Spec.Workload); err == nil && kind.Search {
			s.watch.overload(r, d, s.rtt)
			return nil
		}
		again, warn := s.watch.judge(d, s.rtt)
		if again {
			return &workload.DisturbedError{Why: fmt.Sprintf("%s (at most %s and %s%% are taken)", d,
				units.Duration(lateLimit(s.rtt)), units.Digits(100*lab.MaxStalled, 2))}
		}
		if warn {
			r.Warnings = append(r.Warnings, workload.Warning{Code: workload.CodeEmulator, Value: d.Share(),
				Text: fmt.Sprintf("%s, and was so when the run was repeated: this machine, not only the path, "+
					"shaped it", d)})
		}
		return nil
	}
}
