package flow

import (
	"slices"
	"time"
)

// Bytes is how much data one end sent.
func (c *Conn) Bytes(byA bool) int64 { return c.half(byA).Counts.Bytes }

func (c *Conn) half(ofA bool) *half {
	if ofA {
		return &c.halves[0]
	}
	return &c.halves[1]
}

// Vantage is where on the path a capture was made.
type Vantage string

// The vantages, seen along a direction's data.
const (
	AtSender   Vantage = "sender"
	AtReceiver Vantage = "receiver"
	Between    Vantage = "between"
	Nowhere    Vantage = "unknown"
)

// Direction is what is known of one end's data at the end of the capture.
type Direction struct {
	Counts
	Start, End time.Duration // since the connection's first packet
	Spans      []Span
	Shares     []Share
	MSS        int64
	RTT        time.Duration // least of the whole path, 0 not known
	Typical    time.Duration // the median over the intervals
	Longest    time.Duration // the longest mean over an interval
	Vantage    Vantage
	Unanswered bool    // nothing of the other end is in the capture
	Capacity   float64 // bits a second at which the path delivered, 0 not known
	Flight     int64   // the most bytes under way
	Window     int64   // the largest that the peer offered, in bytes
	Events     []Event
	Points     []Point
}

// Point is an interval of the course.
type Point struct {
	Start     time.Duration // since the connection's first packet
	Next, Una int64         // bytes of the direction sent and acknowledged at its end
	Edge      int64         // right edge of the window there, as a byte of the direction
	Flight    int64         // the most bytes under way
	Delivered int64         // bytes
	RTT       time.Duration // mean, 0 none measured
	Again     int32         // segments sent again
	Timers    int32         // retransmission timers that expired
	Zero      int32         // windows of zero that the peer offered
	Sacked    int64         // behind the last byte that was acknowledged selectively, 0 none
	Limit     Limit
}

// Direction judges one end's data. It may be called once, at the end.
func (c *Conn) Direction(ofA bool) Direction {
	h := c.half(ofA)
	d := Direction{Counts: h.Counts, MSS: h.mss, Window: h.window, Vantage: h.vantage(),
		RTT: time.Duration(h.rtt()), Events: h.events, Capacity: h.rates.capacity() * 8e9}
	if d.Vantage == Nowhere { // from the capture to one end is not the path
		d.RTT = 0
	}
	d.Unanswered = h.lastHeard == 0
	d.Spurious = max(d.Spurious, h.needless) // both ways see the same ones
	for i := range d.Events {
		d.Events[i].Seconds = float64(d.Events[i].time-c.start) / 1e9
	}
	if !h.begun {
		return d
	}
	d.Start, d.End = time.Duration(h.firstTime-c.start), time.Duration(h.lastTime-c.start)
	d.Spans = h.spans()
	d.Shares = Shares(d.Spans)
	var rtts []int64
	for i := range h.course.list {
		v := &h.course.list[i]
		d.Flight = max(d.Flight, v.flight)
		if v.rttCount > 0 {
			rtts = append(rtts, v.rtt())
		}
		d.Points = append(d.Points, Point{Start: time.Duration(v.start - c.start), Next: max(0, v.next-h.first),
			Una: max(0, v.una-h.first), Edge: max(0, v.edge-h.first), Flight: v.flight, Delivered: v.acked,
			RTT: time.Duration(v.rtt()), Again: v.lost, Timers: v.timers, Zero: v.zero,
			Sacked: max(0, v.sack-h.first), Limit: limitAt(d.Spans, v.start)})
	}
	if len(rtts) > 0 {
		slices.Sort(rtts)
		d.Typical, d.Longest = time.Duration(rtts[len(rtts)/2]), time.Duration(rtts[len(rtts)-1])
	}
	return d
}

func limitAt(spans []Span, t int64) Limit {
	for _, s := range spans {
		if t < s.End {
			return s.Limit
		}
	}
	return Unknown
}

// RTT is the least round trip of the whole path that was seen so far, 0 when
// none was.
func (c *Conn) RTT(ofA bool) time.Duration { return time.Duration(c.half(ofA).rtt()) }

// Beyond is the least time from a segment's passing the capture to its
// acknowledgement's: the longer, the nearer to the sender; 0 not seen.
func (c *Conn) Beyond(ofA bool) time.Duration { return time.Duration(c.half(ofA).near) }

// vantage compares the two parts of the round trip.
func (h *half) vantage() Vantage {
	near, far := h.near, h.far
	switch {
	case near == 0 || far == 0:
		return Nowhere
	case near > 10*far:
		return AtSender
	case far > 10*near:
		return AtReceiver
	}
	return Between
}

// Handshake is what one end offered when the connection was opened.
type Handshake struct {
	Seen bool
	Options
	ECN    bool // RFC 3168, or AccECN's ACE flags
	AccECN bool // RFC 9768
	Window uint16
	TTL    uint8
	DSCP   uint8
	Seq    uint32
}

// Handshake is what the end A, or B, offered.
func (c *Conn) Handshake(ofA bool) Handshake {
	i := 1
	if ofA {
		i = 0
	}
	s := &c.syn[i]
	if !c.hasSyn[i] {
		return Handshake{}
	}
	h := Handshake{Seen: true, Options: s.Options, Window: s.Window, TTL: s.TTL, DSCP: s.DSCP, Seq: s.Seq}
	ace := s.Flags & (ECE | CWR | AE)
	if i == 0 {
		h.ECN, h.AccECN = ace&(ECE|CWR) == ECE|CWR, ace == ECE|CWR|AE
	} else {
		h.AccECN = ace == CWR || ace == AE || ace == CWR|AE || ace == AE|ECE
		h.ECN = ace == ECE || h.AccECN
	}
	return h
}

// Reset is the packet that reset the connection, and who sent it; 0 for none.
func (c *Conn) Reset() (number int64, byA bool) { return c.reset, c.resetBy == 0 }

// Start is the time of the connection's first segment.
func (c *Conn) Start() int64 { return c.start }
