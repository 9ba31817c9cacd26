package watch

import (
	"math"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
)

// moment is a connection at one of the samples of the window.
type moment struct {
	at time.Duration // on a clock that never jumps
	Connection
}

// change is what a connection did over a window.
type change struct {
	first, last      *moment
	all              []moment
	seconds          float64
	acked, received  float64 // bytes a second
	busy, peer, send float64 // shares of the time
	again, segments  float64 // segments a second
	rtt              time.Duration
	unacked, offered float64 // means over the samples
	notSent, unread  float64
	nothing          float64 // share of the samples in which nothing waited to be sent
	window           float64
}

// over measures a connection between the samples of a window; false where they
// cannot be compared: it needs two, and no number that went back.
func over(all []moment) (change, bool) {
	if len(all) < 2 {
		return change{}, false
	}
	c := change{first: &all[0], last: &all[len(all)-1], all: all}
	a, b := c.first, c.last
	c.seconds = (b.at - a.at).Seconds()
	if c.seconds <= 0 {
		return change{}, false
	}
	for i := 1; i < len(all); i++ {
		if all[i].wentBack(&all[i-1].Connection) {
			return change{}, false
		}
	}
	share := func(from, to time.Duration) float64 { return min((to-from).Seconds()/c.seconds, 1) }
	c.acked, c.received = float64(b.Acked-a.Acked)/c.seconds, float64(b.Received-a.Received)/c.seconds
	c.busy, c.peer, c.send = share(a.Busy, b.Busy), share(a.PeerLimited,
		b.PeerLimited), share(a.SendLimited, b.SendLimited)
	c.again = float64(b.Retransmits-a.Retransmits) / c.seconds // both are of 32 bits, and may wrap
	c.segments = float64(b.Segments-a.Segments) / c.seconds
	n := float64(len(all))
	var rtt float64
	for i := range all {
		m := &all[i]
		rtt += m.RTT.Seconds() / n
		c.unacked, c.offered = c.unacked+float64(m.Unacked)/n, c.offered+float64(m.Offered)/n
		c.notSent, c.unread = c.notSent+float64(m.NotSent)/n, c.unread+float64(m.Receive)/n
		c.window += float64(m.Window) / n
		if m.NotSent == 0 {
			c.nothing += 1 / n
		}
	}
	c.rtt = time.Duration(rtt * 1e9)
	return c, true
}

// wentBack tells a number that never shrinks and did.
func (c *Connection) wentBack(earlier *Connection) bool {
	return c.Acked < earlier.Acked || c.Received < earlier.Received || c.Busy < earlier.Busy ||
		c.PeerLimited < earlier.PeerLimited || c.SendLimited < earlier.SendLimited
}

// Shares of the time from which on a limit counts.
const (
	mostly   = 0.3  // of the peer's window and the send buffer, which the kernel counts only while they alone bind
	partly   = 0.1  // of the peer's window, where data waits though the congestion window has room
	idleTime = 0.25 // without anything to send
)

// past is what a connection showed before the window too.
type past struct {
	largest uint32  // window that the peer offered
	policed float64 // bytes a second that a policer let through, 0 where none was seen
}

// limit is what keeps the connection from carrying more. None is "".
func (c *change) limit(before *past) flow.Limit {
	b := c.last
	if b.QueuesOnly {
		return c.waits()
	}
	if c.slowHere() {
		return flow.SlowReader
	}
	if c.acked == 0 && b.Unacked == 0 && b.NotSent == 0 && b.Send == 0 {
		return ""
	}
	if stalled := c.stalled(); stalled != "" {
		return stalled
	}
	switch {
	case c.peer >= c.send && (c.peer >= mostly || c.peer >= partly && c.windowLeft()):
		return c.byPeer(before.largest)
	case c.send >= mostly:
		return flow.SendBuffer
	case b.PacingLimit < math.MaxUint64>>1 && b.PacingLimit > 0 && c.acked >= 0.85*float64(b.PacingLimit):
		return flow.Pacing
	case 1-c.busy >= idleTime, c.nothing >= 0.5 && c.unacked < 0.8*c.window:
		return flow.Program
	}
	return c.congestion(before)
}

// windowLeft tells that data waits though the congestion window has room. That of
// BBR always has: it is twice what is under way.
func (c *change) windowLeft() bool {
	return c.notSent > float64(c.last.MSS) && c.unacked < 0.75*c.window
}

// byPeer tells what keeps the peer's window from carrying more. A window that a
// program keeps empty carries itself once in a round trip, and is as wide at each
// look; a slow reader's is neither, and its acknowledgements come late, as if there
// were a queue.
func (c *change) byPeer(largest uint32) flow.Limit {
	least, most := c.first.Offered, c.first.Offered
	for i := range c.all {
		least, most = min(least, c.all[i].Offered), max(most, c.all[i].Offered)
	}
	varies := float64(most-least) > 0.03*float64(most)
	switch {
	case c.last.Probing, c.offered < float64(largest)/2,
		varies && c.acked*c.last.MinRTT.Seconds() < 0.6*float64(largest):
		return flow.SlowReader
	case c.standing():
		return flow.Path
	}
	return flow.PeerWindow
}

// congestion tells what keeps the congestion window from growing.
func (c *change) congestion(known *past) flow.Limit {
	b, before := c.last, &c.all[len(c.all)-2]
	lossy := c.again > 0 || b.Lost > 0
	switch {
	case b.Modelled && float64(b.Delivery) > 1.25*float64(before.Delivery):
		return flow.SlowStart
	case b.Modelled: // its windows do not follow losses
		return flow.Path
	case lossy && c.policed(), c.stillPoliced(known.policed):
		return flow.Policer
	case c.standing():
		return flow.Path
	case b.Threshold >= math.MaxInt32 && !lossy && b.Window > before.Window:
		return flow.SlowStart
	case b.Threshold < math.MaxInt32 || lossy:
		return flow.Congestion
	}
	return flow.Unknown
}

// slowHere tells that this host's program reads slowly: what it has not read
// fills the receive buffer. Beside payload a buffer holds the kernel's own
// bookkeeping, up to two thirds of it.
func (c *change) slowHere() bool {
	return c.last.unread() && c.first.unread() && c.unread >= float64(c.last.ReceiveBuffer)/3
}

// unread tells that so much was not read that it fills the receive buffer.
func (c *Connection) unread() bool { return c.ReceiveBuffer > 0 && c.Receive >= c.ReceiveBuffer/3 }

// stalled is why nothing arrives though something waits.
func (c *change) stalled() flow.Limit {
	b := c.last
	switch {
	case b.Probing && b.NotSent+b.Send > 0:
		return flow.SlowReader
	case b.Backoff < 2 || b.Acked > c.all[len(c.all)-2].Acked:
		return ""
	case b.Sacked > 0 && b.Send >= b.MSS && b.MSS > 536, c.largeAlone():
		return flow.BlackHole
	}
	return flow.Timeout
}

// largeAlone tells that a full segment is not acknowledged though the peer is
// alive: it sent something since, or answered the handshake, and never
// acknowledged a full segment.
func (c *change) largeAlone() bool {
	b := c.last
	return b.MSS > 536 && b.Send >= b.MSS && (c.received > 0 || b.Acked < uint64(b.MSS))
}

// standing tells a queue that does not drain: the round trip stays above the
// least one.
func (c *change) standing() bool { return c.last.queued(c.rtt) }

// queued tells a round trip that is longer than the least one by a queue.
func (c *Connection) queued(rtt time.Duration) bool {
	return c.MinRTT > 0 && rtt-c.MinRTT > c.MinRTT/4+time.Millisecond
}
