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
	// DropMemory and DropKernel count units that the emulator lost against
	// what was asked: no memory left, or refused by the receiving kernel.
	DropMemory int64 `json:"drop_memory"`
	DropKernel int64 `json:"drop_kernel"`

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
	// WorstBacklog is the longest that packets may have waited unread before
	// the emulator, which then could not see when they came.
	WorstBacklog time.Duration `json:"worst_backlog_ns"`
}

// LateLimit is how much later than its time a unit may be delivered before it
// counts as late.
const LateLimit = time.Millisecond

// KeptUp says whether the emulator was what it claims to be: at most one unit
// in each 1000 begun was delivered more than LateLimit after its time, and none
// was lost for want of memory or refused by the kernel. A number measured while it did
// not keep up is of this machine, not of the link.
func (s Stats) KeptUp() bool {
	return s.DropMemory == 0 && s.DropKernel == 0 && s.Late*1000 < s.Writes+1000
}

// String is a line for people.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d segments in %d units, %d delivered", s.Segments, s.Units, s.Delivered)
	for _, c := range []struct {
		n    int64
		what string
	}{
		{s.DropQueue, "dropped by the queue"}, {s.DropCoDel, "dropped by CoDel"},
		{s.DropLoss, "lost"}, {s.Marked, "marked"}, {s.Duplicated, "duplicated"},
		{s.Corrupted, "corrupted"}, {s.Reordered, "reordered"},
		{s.DropMemory, "units without memory"}, {s.DropKernel, "units refused by the kernel"},
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

// LinkReport is what one link of a lab did.
type LinkReport struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Link   string `json:"link"`
	Up     Stats  `json:"up"`
	Down   Stats  `json:"down"`
	KeptUp bool   `json:"kept_up"`
}
