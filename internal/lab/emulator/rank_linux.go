package emulator

import (
	"time"

	"golang.org/x/sys/unix"
)

// rank is the place of the emulator's thread among the threads of the machine.
//
// A nice value counts only within a session (autogroup, see sched(7)) or a
// control group; before the programs of others a thread of nice -20 waits its
// turn, for several milliseconds where they keep the processors busy. So the
// thread is of a real-time class while it needs little time. One that needs most
// of a processor must not be: the programs under test would starve, and the kernel
// takes the processor from such threads for 50 ms at a time.
type rank struct {
	budget            *Budget
	realTime, refused bool
	at, used          int64 // when the share of time was last looked at, and the processor time until then
}

const (
	rankEvery = int64(20 * time.Millisecond)
	// Shares of a processor, while no other lab runs, from which the thread leaves the real-time class, and
	// below which it comes back.
	mostRealTime, lessRealTime = 0.7, 0.5
)

// begin gives the calling thread its first rank and rids it of timer slack
// (50 us by default). Refusals cost accuracy on a busy machine, nothing else.
func (r *rank) begin() {
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	r.fair()
	r.raise()
}

// follow changes the rank of the calling thread, which has used so much processor
// time at now, to what it needs.
func (r *rank) follow(now, used int64) {
	if now-r.at < rankEvery {
		return
	}
	share := float64(used-r.used) / float64(now-r.at)
	r.at, r.used = now, used
	switch {
	case r.realTime && share > mostRealTime*r.budget.most():
		r.fair()
	case !r.realTime && !r.refused && share < lessRealTime*r.budget.most():
		r.raise()
	}
}

// raise makes the thread one of the lowest real-time priority. What it starts
// does not inherit that.
func (r *rank) raise() {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	r.realTime = unix.SchedSetAttr(0, &attr, 0) == nil
	r.refused = !r.realTime
}

// fair makes the thread one of the ordinary class, with a short time slice (Linux
// 6.12) and, where allowed, priority over the others of its session.
func (r *rank) fair() {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Nice: -20, Runtime: uint64(100 * time.Microsecond),
		Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	if unix.SchedSetAttr(0, &attr, 0) != nil {
		if own, err := unix.SchedGetAttr(0, 0); err == nil {
			attr.Nice = own.Nice
			unix.SchedSetAttr(0, &attr, 0)
		}
	}
	r.realTime = false
}
