package lab

import (
	"fmt"
	"strings"
	"time"
)

// Stats counts what one direction of a link did since it came up.
type Stats struct {
	Units    int64 `json:"units"`    // packets as the kernel handed them over, up to 64 KiB
	Segments int64 `json:"segments"` // packets on the wire that they stand for
	Bytes    int64 `json:"bytes"`    // IP bytes of those segments

	Delivered int64 `json:"delivered"` // segments handed to the receiving kernel
	Writes    int64 `json:"writes"`    // units that carried them

	DropQueue int64 `json:"drop_queue"` // segments that found the queue full
	DropCoDel int64 `json:"drop_codel"`
	DropLoss  int64 `json:"drop_loss"`
	// DropMemory, DropKernel and DropDevice count units that the emulator lost
	// against what was asked: no memory left, refused by the receiving kernel, or
	// come to a device that was full of what the emulator had not yet read.
	DropMemory int64 `json:"drop_memory"`
	DropKernel int64 `json:"drop_kernel"`
	DropDevice int64 `json:"drop_device"`

	// Pauses counts how often a full queue held back the links before it.
	Pauses int64 `json:"pauses"`

	Marked     int64 `json:"marked"`
	Duplicated int64 `json:"duplicated"`
	Corrupted  int64 `json:"corrupted"`
	Reordered  int64 `json:"reordered"`

	MaxQueue  int64 `json:"max_queue_bytes"` // most bytes (on the wire) seen waiting
	MaxMemory int64 `json:"max_memory_bytes"`

	// WorstLate is the longest that a delivery came after its time. Late is the
	// number of units that were delivered more than LateLimit behind, or had
	// waited unread that long before an idle link.
	WorstLate time.Duration `json:"worst_late_ns"`
	Late      int64         `json:"late"`
	// WorstBacklog is the longest that packets have waited unread before the
	// emulator, or may have where the kernel does not tell it when they came.
	WorstBacklog time.Duration `json:"worst_backlog_ns"`
	// LateBy counts deliveries by how late they were: the i-th those that were
	// late by LateSteps[i] at least, and by less than the next step.
	LateBy [len(LateSteps)]int64 `json:"late_by"`
	// Stalled is the time during which the emulator was behind: from the moment
	// at which something should have been done until it was, where that took
	// more than LateLimit. Moments that overlap count once.
	Stalled time.Duration `json:"stalled_ns"`
	// CPU is the processor time that the emulator took for this direction. What
	// the receiving kernel does with a delivered packet at once, TCP's part of
	// it, is in it.
	CPU time.Duration `json:"cpu_ns"`
}

// LateSteps are the steps of Stats.LateBy.
var LateSteps = [...]time.Duration{
	LateLimit, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second,
}

// late counts a delivery that came late after its time.
func (s *Stats) late(late time.Duration) {
	s.WorstLate = max(s.WorstLate, late)
	if late <= LateLimit {
		return
	}
	s.Late++
	i := len(LateSteps) - 1
	for late < LateSteps[i] {
		i--
	}
	s.LateBy[i]++
}

// Since returns what happened after mark, an earlier look at the same direction.
// WorstLate is exact where it grew, else the step of LateBy that was reached.
// MaxQueue and MaxMemory remain those since the link came up.
func (s Stats) Since(mark Stats) Stats {
	d := s
	for _, c := range []struct{ d, m *int64 }{
		{&d.Units, &mark.Units}, {&d.Segments, &mark.Segments}, {&d.Bytes, &mark.Bytes},
		{&d.Delivered, &mark.Delivered}, {&d.Writes, &mark.Writes},
		{&d.DropQueue, &mark.DropQueue}, {&d.DropCoDel, &mark.DropCoDel}, {&d.DropLoss, &mark.DropLoss}, {&d.Pauses, &mark.Pauses},
		{&d.DropMemory, &mark.DropMemory}, {&d.DropKernel, &mark.DropKernel}, {&d.DropDevice, &mark.DropDevice}, {&d.Marked, &mark.Marked},
		{&d.Duplicated, &mark.Duplicated}, {&d.Corrupted, &mark.Corrupted}, {&d.Reordered, &mark.Reordered},
		{&d.Late, &mark.Late},
	} {
		*c.d -= *c.m
	}
	d.Stalled -= mark.Stalled
	d.CPU -= mark.CPU
	if s.WorstBacklog == mark.WorstBacklog {
		d.WorstBacklog = 0
	}
	if s.WorstLate == mark.WorstLate {
		d.WorstLate = 0
	}
	for i := range d.LateBy {
		d.LateBy[i] -= mark.LateBy[i]
		if d.LateBy[i] > 0 {
			d.WorstLate = max(d.WorstLate, LateSteps[i])
		}
	}
	return d
}

// Mark is a moment in the life of a lab.
type Mark struct {
	at   time.Time
	dirs []Stats
}

// Disturbance is how far a lab was from what was asked of it between two
// moments, in its worst direction.
type Disturbance struct {
	Elapsed time.Duration `json:"elapsed_ns"`
	// Stalled is for how long the emulator was behind. What it carried then came
	// late by as much, so that a rate may be off by up to Stalled/Elapsed.
	Stalled time.Duration `json:"stalled_ns"`
	// WorstLate is the longest that a delivery came after its time, to the step
	// of LateSteps below.
	WorstLate time.Duration `json:"worst_late_ns"`
	// Lost counts units that the emulator lost against what was asked.
	Lost int64 `json:"lost"`
}

// MaxStalled is the share of time stalled from which a measurement says more
// about the machine than about the link: half of a difference of 2%.
const MaxStalled = 0.01

// Share returns the share of the time in which the emulator was behind, 0 to 1.
func (d Disturbance) Share() float64 {
	if d.Elapsed <= 0 {
		return 0
	}
	return min(d.Stalled.Seconds()/d.Elapsed.Seconds(), 1)
}

// TooMuch says whether a measurement that took this time is worth nothing.
func (d Disturbance) TooMuch() bool { return d.Lost > 0 || d.Share() > MaxStalled }

// String is a line for people.
func (d Disturbance) String() string {
	s := fmt.Sprintf("the emulator was behind for %.2g%% of the time, by %s at the worst", 100*d.Share(), d.WorstLate.Round(time.Microsecond))
	if d.Lost > 0 {
		s += fmt.Sprintf(", and lost %d units", d.Lost)
	}
	return s
}

// between compares two looks at the same directions.
func between(mark, now Mark) Disturbance {
	d := Disturbance{Elapsed: now.at.Sub(mark.at)}
	for i := range now.dirs {
		s := now.dirs[i].Since(mark.dirs[i])
		d.Stalled = max(d.Stalled, s.Stalled)
		d.WorstLate = max(d.WorstLate, s.WorstLate)
		d.Lost += s.unitsLost()
	}
	return d
}

// LateLimit is how much later than its time a unit may be delivered before it
// counts as late.
const LateLimit = time.Millisecond

// KeptUp says whether the emulator was what it claims to be: at most one unit
// in each 1000 begun was delivered more than LateLimit after its time, and none
// was lost that the link did not drop. A number measured while it did not keep up
// is of this machine, not of the link.
func (s Stats) KeptUp() bool { return s.unitsLost() == 0 && s.Late*1000 < s.Writes+1000 }

func (s Stats) unitsLost() int64 { return s.DropMemory + s.DropKernel + s.DropDevice }

// String is a line for people.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d segments in %d units, %d delivered", s.Segments, s.Units, s.Delivered)
	for _, c := range []struct {
		n    int64
		what string
	}{
		{s.DropQueue, "dropped by the queue"}, {s.DropCoDel, "dropped by CoDel"},
		{s.DropLoss, "lost"}, {s.Pauses, "times held back the links before it"}, {s.Marked, "marked"}, {s.Duplicated, "duplicated"},
		{s.Corrupted, "corrupted"}, {s.Reordered, "reordered"},
		{s.DropMemory, "units without memory"}, {s.DropKernel, "units refused by the kernel"}, {s.DropDevice, "units that came faster than they were read"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, ", %d %s", c.n, c.what)
		}
	}
	kept := "yes"
	if !s.KeptUp() {
		kept = "no"
	}
	fmt.Fprintf(&b, "; emulator kept up: %s, worst lateness %s", kept, s.WorstLate.Round(time.Microsecond))
	return b.String()
}

// LinkReport is what one link of a lab did. Up and Down are nil, and KeptUp is
// Unknown, where nobody says; Unknown then says why.
type LinkReport struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Link    string `json:"link"`
	Up      *Stats `json:"up"`
	Down    *Stats `json:"down"`
	KeptUp  Answer `json:"kept_up"`
	Unknown string `json:"unknown,omitempty"`
}

// since returns what the link did after mark, an earlier report of it.
func (r LinkReport) since(mark LinkReport) LinkReport {
	if r.Up == nil || r.Down == nil {
		return r
	}
	up, down := *r.Up, *r.Down
	if mark.Up != nil && mark.Down != nil {
		up, down = up.Since(*mark.Up), down.Since(*mark.Down)
	}
	r.Up, r.Down, r.KeptUp = &up, &down, answer(up.KeptUp() && down.KeptUp())
	return r
}
