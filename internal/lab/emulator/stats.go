package emulator

import (
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/units"
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
		{&d.DropQueue, &mark.DropQueue}, {&d.DropCoDel, &mark.DropCoDel}, {&d.DropLoss, &mark.DropLoss},
		{&d.Pauses, &mark.Pauses},
		{&d.DropMemory, &mark.DropMemory}, {&d.DropKernel, &mark.DropKernel}, {&d.DropDevice, &mark.DropDevice},
		{&d.Marked, &mark.Marked},
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

// LateLimit is how much later than its time a unit may be delivered before it
// counts as late.
const LateLimit = time.Millisecond

// KeptUp says whether the emulator was what it claims to be: at most one unit
// in each 1000 begun was delivered more than LateLimit after its time, and none
// was lost that the link did not drop. A number measured while it did not keep up
// is of this machine, not of the link.
func (s Stats) KeptUp() bool { return s.Lost() == 0 && s.Late*1000 < s.Writes+1000 }

// Lost returns how many units the emulator lost against what was asked.
func (s Stats) Lost() int64 { return s.DropMemory + s.DropKernel + s.DropDevice }

// String is a line for people.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d segments in %d units, %d delivered", s.Segments, s.Units, s.Delivered)
	for _, c := range []struct {
		n    int64
		what string
	}{
		{s.DropQueue, "dropped by the queue"}, {s.DropCoDel, "dropped by CoDel"},
		{s.DropLoss, "lost"}, {s.Pauses, "times held back the links before it"}, {s.Marked, "marked"},
		{s.Duplicated, "duplicated"},
		{s.Corrupted, "corrupted"}, {s.Reordered, "reordered"},
		{s.DropMemory, "units without memory"}, {s.DropKernel, "units refused by the kernel"},
		{s.DropDevice, "units that came faster than they were read"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, ", %d %s", c.n, c.what)
		}
	}
	kept := "yes"
	if !s.KeptUp() {
		kept = "no"
	}
	fmt.Fprintf(&b, "; emulator kept up: %s, worst lateness %s", kept,
		units.Duration(s.WorstLate.Round(time.Microsecond)))
	return b.String()
}
