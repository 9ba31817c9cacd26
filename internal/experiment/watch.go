package experiment

import (
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
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

// lateLimit is how late the emulator may be on a path.
func lateLimit(rtt time.Duration) time.Duration {
	return max(time.Duration(lateShare*float64(rtt)), lateLeast)
}

// watchLab looks after the emulator during a run: one in which it was too far
// behind is lost (workload.ErrDisturbed).
func (s *session) watchLab() func(*workload.Run) error {
	if s.lab == nil {
		return func(*workload.Run) error { return nil }
	}
	mark := s.lab.Mark()
	return func(r *workload.Run) error {
		d := s.lab.Since(mark)
		again, warn := s.watch.judge(d, s.rtt)
		if again {
			return &workload.DisturbedError{Why: fmt.Sprintf("%s (at most %s and %.2g%% are taken)", d, lateLimit(s.rtt), 100*lab.MaxStalled)}
		}
		if warn {
			r.Warnings = append(r.Warnings, workload.Warning{Code: workload.CodeEmulator, Value: d.Share(),
				Text: fmt.Sprintf("%s, and was so when the run was repeated: this machine, not only the path, shaped it", d)})
		}
		return nil
	}
}
