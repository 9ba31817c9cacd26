package emulator

import "math"

// codelState is CoDel (RFC 8289, section 5) for one queue. It is asked about
// each segment at the time at which the segment would leave the queue.
type codelState struct {
	target, interval int64 // ns
	maxPacket        int64 // bytes: a queue of no more is never too long

	firstAbove int64 // when the delay will have been too long for an interval; 0: it is not
	dropNext   int64
	count      int64 // drops since dropping began
	lastCount  int64
	dropping   bool
	due        bool // a drop happened; dropNext is still to be moved
}

// decide says whether the segment that leaves at now, after sojourn ns, with
// backlog bytes behind it, is to be dropped (or marked).
func (c *codelState) decide(now, sojourn, backlog int64) bool {
	tooLong := c.tooLong(now, sojourn, backlog)
	if !c.dropping {
		if tooLong {
			c.begin(now)
		}
		return tooLong
	}
	if !tooLong {
		c.dropping, c.due = false, false
		return false
	}
	if c.due {
		c.due = false
		c.dropNext = c.law(c.dropNext)
	}
	if now < c.dropNext {
		return false
	}
	c.count++
	c.due = true
	return true
}

// tooLong says whether the delay has been over the target for an interval.
func (c *codelState) tooLong(now, sojourn, backlog int64) bool {
	if sojourn < c.target || backlog <= c.maxPacket {
		c.firstAbove = 0
		return false
	}
	if c.firstAbove == 0 {
		c.firstAbove = now + c.interval
		return false
	}
	return now >= c.firstAbove
}

// begin enters the dropping state. If it was left a short while ago, the drop
// rate that worked then is where this one starts.
func (c *codelState) begin(now int64) {
	c.dropping = true
	delta := c.count - c.lastCount
	c.count = 1
	if delta > 1 && now-c.dropNext < 16*c.interval {
		c.count = delta
	}
	c.lastCount = c.count
	c.dropNext = c.law(now)
}

// law is the control law: the time between drops falls with the square root
// of their number, which lowers a TCP sender's rate linearly.
func (c *codelState) law(t int64) int64 {
	return t + int64(float64(c.interval)/math.Sqrt(float64(c.count)))
}
