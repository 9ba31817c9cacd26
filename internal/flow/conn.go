package flow

import "slices"

// timestampLength is that of the option with its padding.
const timestampLength = 12

// Conn is one TCP connection, from the segments of both directions. A is who
// opened it, or who was seen first. The zero value is not ready: see New.
type Conn struct {
	halves   [2]half // A's data, B's data
	syn      [2]Segment
	hasSyn   [2]bool
	openTime int64 // of the SYN/ACK
	opened   bool  // the handshake was seen to its end
	start    int64
	last     int64
	reset    int64 // number of the packet that reset it, 0 none
	resetBy  int
	packets  int64
}

// New makes a connection whose life is kept in at most so many intervals for
// each direction.
func New(intervals int) *Conn {
	c := &Conn{}
	c.Bound(intervals, maxDetails)
	return c
}

// Bound lowers how many intervals are kept, and how many segments under way,
// holes, losses and acknowledgements are told apart in each direction.
func (c *Conn) Bound(intervals, details int) {
	intervals = max(intervals, 8)
	for i := range c.halves {
		h := &c.halves[i]
		h.details = min(max(details, 8), maxDetails)
		h.out, h.holes = keep(h.out, h.details), keep(h.holes, h.details)
		h.losses, h.stalls = keep(h.losses, h.details), keep(h.stalls, h.details)
		if n := len(h.history) - h.details; n > 0 {
			h.history = slices.Clone(h.history[n:])
		}
		for h.limit = intervals; len(h.course.list) > h.limit; {
			h.course.halve()
		}
	}
}

// keep is a list of at most n, without the room that it had.
func keep[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return slices.Clone(list[:n])
}

// Last is the time of the last segment.
func (c *Conn) Last() int64 { return c.last }

// Over tells that both ends have closed, or one has reset.
func (c *Conn) Over() bool { return c.reset != 0 || c.halves[0].finAcked && c.halves[1].finAcked }

// Add takes the next segment; fromA tells its direction. Times that go back
// are those of the segment before.
func (c *Conn) Add(s *Segment, fromA bool) {
	c.packets++
	if c.packets == 1 {
		c.start = s.Time
	}
	s.Time = min(max(s.Time, c.last), 1<<62)
	c.last = s.Time
	us := 1
	if fromA {
		us = 0
	}
	own, other := &c.halves[us], &c.halves[1-us]
	if s.is(SYN) {
		c.handshake(s, us)
	} else if c.openTime != 0 && !c.opened && us == 0 && s.is(ACK) {
		c.opens(s)
	}
	own.unscaled = !c.offered(0) || !c.offered(1)
	other.hears(s, c.scale(us))
	if s.Len > 0 {
		if m := c.mss(us, s); m > 0 {
			own.mss = m
		} else {
			own.guesses(s)
		}
		own.sends(s)
	}
	c.closes(s, us)
}

func (c *Conn) closes(s *Segment, us int) {
	own := &c.halves[us]
	if s.is(RST) && c.reset == 0 {
		c.reset, c.resetBy = s.Number, us
		own.event(s, "reset")
	}
	if s.is(FIN) && !s.is(SYN) {
		own.finishes(s)
	}
}

func (c *Conn) handshake(s *Segment, us int) {
	h := &c.halves[us]
	if c.hasSyn[us] && c.syn[us].Seq == s.Seq { // sent again, and the last one is answered: timers are longer than trips
		h.Counts.Again++
		h.Counts.Timer++
		h.event(s, "handshake sent again")
	}
	c.syn[us], c.hasSyn[us] = *s, true
	if !h.begun {
		h.next, h.una, h.first = int64(s.Seq)+1, int64(s.Seq)+1, int64(s.Seq)+1
	}
	if s.is(ACK) && c.hasSyn[1-us] {
		c.openTime = s.Time
		near := max(s.Time-c.syn[1-us].Time, 1)
		c.halves[1-us].near, c.halves[us].far = near, near
	}
}

// opens takes the third segment of the handshake.
func (c *Conn) opens(s *Segment) {
	c.opened = true
	far := max(s.Time-c.openTime, 1)
	c.halves[0].far, c.halves[1].near = far, far
}

// offered tells that what an end offered in its SYN is known.
func (c *Conn) offered(end int) bool { return c.hasSyn[end] && !c.syn[end].Options.Cut }

// scale is by how many bits the windows that an end sends are shifted: both
// must have offered it (RFC 7323). Without the handshake it is not known.
func (c *Conn) scale(end int) int8 {
	if !c.offered(0) || !c.offered(1) {
		return c.guessedScale(end)
	}
	if c.syn[0].Options.Scale < 0 || c.syn[1].Options.Scale < 0 {
		return 0
	}
	return min(c.syn[end].Options.Scale, 14)
}

// guessedScale is the least shift at which the data that was seen under way
// fits into the window; what hears keeps of windows grows with it.
func (c *Conn) guessedScale(end int) int8 {
	if o := c.syn[end].Options; c.hasSyn[end] && (o.Scale >= 0 || !o.Cut) {
		return max(o.Scale, 0)
	}
	return c.halves[1-end].guess
}

// mss is the largest payload that an end may send: what the other offered,
// without the timestamps that every segment bears.
func (c *Conn) mss(us int, s *Segment) int64 {
	if !c.hasSyn[1-us] {
		return 0
	}
	m := int64(c.syn[1-us].Options.MSS)
	if m == 0 {
		if c.syn[1-us].Options.Cut {
			return 0
		}
		m = 536
	}
	if own := int64(c.syn[us].Options.MSS); c.hasSyn[us] && own > 0 {
		m = min(m, own)
	}
	switch {
	case c.offered(us) && c.offered(1-us):
		if c.syn[us].Options.HasTimestamp && c.syn[1-us].Options.HasTimestamp {
			m -= timestampLength
		}
	case s.Options.Length >= timestampLength: // which is what segments with data nearly always bear
		m -= timestampLength
	}
	return max(m, 1)
}
