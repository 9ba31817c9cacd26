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
	c.busy, c.peer, c.send = share(a.Busy, b.Busy), share(a.PeerLimited, b.PeerLimited), share(a.SendLimited, b.SendLimited)
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
	idleTime = 0.25 // without anything to send
)

// limit is what keeps the connection from carrying more; largest is the widest
// window that the peer has offered. None is "".
func (c *change) limit(largest uint32) flow.Limit {
	b := c.last
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
	case c.peer >= mostly && c.peer >= c.send:
		if c.offered < float64(largest)/2 || b.Probing {
			return flow.SlowReader
		}
		if c.standing() {
			return flow.Path
		}
		return flow.PeerWindow
	case c.send >= mostly:
		return flow.SendBuffer
	case b.PacingLimit < math.MaxUint64>>1 && b.PacingLimit > 0 && c.acked >= 0.85*float64(b.PacingLimit):
		return flow.Pacing
	case 1-c.busy >= idleTime, b.AppLimited && c.notSent == 0 && c.unacked < 0.8*c.window:
		return flow.Program
	}
	return c.congestion()
}

// congestion tells what keeps the congestion window from growing.
func (c *change) congestion() flow.Limit {
	b := c.last
	lossy := c.again > 0 || b.Lost > 0
	switch {
	case b.Modelled && float64(b.Delivery) > 1.25*float64(c.first.Delivery):
		return flow.SlowStart
	case b.Modelled: // its windows do not follow losses
		return flow.Path
	case lossy && c.policed():
		return flow.Policer
	case c.standing():
		return flow.Path
	case b.Threshold >= math.MaxInt32 && !lossy && b.Window > c.first.Window:
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
	b := c.last
	full := float64(b.ReceiveBuffer) / 3
	return b.ReceiveBuffer > 0 && c.unread >= full && float64(b.Receive) >= full && float64(c.first.Receive) >= full
}

// stalled is why nothing arrives though something waits.
func (c *change) stalled() flow.Limit {
	b := c.last
	switch {
	case b.Probing && b.NotSent+b.Send > 0:
		return flow.SlowReader
	case b.Backoff < 2 || c.acked > 0:
		return ""
	case b.Sacked > 0 && b.Send >= b.MSS && b.MSS > 536, c.largeAlone():
		return flow.BlackHole
	}
	return flow.Timeout
}

// largeAlone tells that a full segment is not acknowledged though the peer, which
// sent something since, is alive.
func (c *change) largeAlone() bool {
	b := c.last
	return b.MSS > 536 && b.Send >= b.MSS && c.received > 0
}

// standing tells a queue that does not drain: the round trip stays above the
// least one.
func (c *change) standing() bool {
	least := c.last.MinRTT
	return least > 0 && c.rtt-least > least/4+time.Millisecond
}

// policed tells the losses of a policer from those of a queue and of chance, from
// what can be seen without packets: the rate is the same in each second though
// segments are lost in each, round trips are not longer, and the rate is more than
// Reno and CUBIC reach at so much loss by chance (Mathis et al. 1997; RFC 9438,
// section 5.1), since a bucket that is empty takes many segments at once.
func (c *change) policed() bool {
	if len(c.all) < policeSamples || c.standing() || c.segments == 0 || c.rtt == 0 || c.last.MSS == 0 {
		return false
	}
	loss := c.again / c.segments
	if loss < 0.005 {
		return false
	}
	var rates []float64
	for i := 1; i < len(c.all); i++ {
		a, b := &c.all[i-1], &c.all[i]
		if b.Retransmits == a.Retransmits || b.at <= a.at {
			return false
		}
		rates = append(rates, float64(b.Acked-a.Acked)/(b.at-a.at).Seconds())
	}
	for _, r := range rates {
		if math.Abs(r-c.acked) > 0.1*c.acked {
			return false
		}
	}
	rtt := c.rtt.Seconds()
	reno := math.Sqrt(1.5/loss) / rtt
	cubic := 1.054 * math.Pow(rtt, -0.25) * math.Pow(loss, -0.75)
	return c.acked > 2*float64(c.last.MSS)*max(reno, cubic)
}

// policeSamples are needed to tell a policer.
const policeSamples = 4
