package flow

import "slices"

const (
	maxDetails = 1 << 17 // segments under way that are told apart, in each direction
	maxHoles   = 1 << 12
	maxHistory = 1 << 13 // acknowledgements of the last round trips
	maxLosses  = 1 << 11
	maxWindow  = 1 << 30  // RFC 7323
	minTimeout = 190 * ms // Linux and FreeBSD's default stack wait 200 ms and more, RFC 6298 a second
	// FreeBSD's RACK stack waits 30 ms and more, Windows for data centres 20 ms; on
	// Linux it can be set for a route.
	quickTimeout = 20 * ms
	ms           = int64(1e6)
)

// sent is a segment under way.
type sent struct {
	first, last int64
	time        int64 // of its last transmission
	number      int64
	times       int    // how often it was sent
	tsval       uint32 // of the last time, 0 for the first
	sacked      bool
}

// hole is a part of the sequence space that was passed over.
type hole struct {
	first, last int64
	time        int64 // when it was seen
	tsval       uint32
	id          uint16 // of the packet behind it
}

// heard is an acknowledgement of the receiver, as it passed the capture.
type heard struct {
	time  int64
	ack   int64
	edge  int64 // right edge of the window
	tsval uint32
}

// loss is where data was lost: the moment, and the bytes that were delivered
// until then.
type loss struct {
	time, bytes int64
	queue       int64 // round trip above the least, in nanoseconds
	segments    int64 // of the same round trip that were lost
}

// half is one direction of a connection: data one way, acknowledgements the
// other. Positions count bytes of the sequence space without wrapping.
type half struct {
	begun     bool
	first     int64 // of the data
	next      int64 // behind the last byte that was sent
	una       int64 // acknowledged
	delivered int64 // bytes, also selectively acknowledged ones
	edge      int64 // right edge of the window that the peer offers
	window    int64 // the largest window that the peer offered
	mss       int64

	firstTime, lastTime int64 // of the data, and of the last acknowledgement of data
	lastSend            int64
	lastLen             int64 // of the last segment
	lastNumber          int64
	lastRoom            int64 // in the window after the last segment
	lowWindow           int64 // the least window offered since then
	widest              int64 // the largest window that the sender knew of
	out                 []sent
	holes               []hole
	history             []heard
	losses              []loss
	recover             int64 // losses below belong to one event
	course              course
	ackGap              int64 // a running mean of the time between acknowledgements
	lastAck             int64 // when the last acknowledgement of data came
	lastHeard           int64 // when any acknowledgement came

	lastRTT       int64
	near, far     int64 // least round trips: capture - receiver, capture - sender; 0 not seen
	Counts        Counts
	fin, finAcked bool
	finAt         int64 // its place in the sequence space
	finTime       int64 // when it was sent last
	probe         int64 // the byte beyond the window that was sent last, to probe it
	events        []Event
	stalls        []stall
	burst         int64 // bytes sent without a pause
	freed         int64 // when the first acknowledgement of data since the last send was known; 0 none
	limit         int   // of intervals
	details       int   // of everything else that is listed
	echoed        uint32
	unscaled      bool  // no handshake was seen
	guess         int8  // of the peer's window scale then
	joined        bool  // segments that a card divides or joins were seen then
	common, alike int64 // the largest segment then that fits Ethernet, and how many had its size
	rates         rates
	pauses        pauses
	passed        bool  // a full segment was acknowledged
	needless      int64 // segments that were sent again and acknowledged as the first ones, by timestamps
}

// Counts are what happened to the data of a direction.
type Counts struct {
	Segments  int64 `json:"segments"`
	Bytes     int64 `json:"bytes"`      // acknowledged or sent, each once
	Sent      int64 `json:"sent_bytes"` // as often as they were sent
	Again     int64 `json:"retransmitted_segments"`
	Fast      int64 `json:"fast_retransmissions"`
	Timer     int64 `json:"timeouts"`
	Tail      int64 `json:"tail_probes"`
	Spurious  int64 `json:"spurious_retransmissions"`
	Reordered int64 `json:"reordered_segments"`
	Unseen    int64 `json:"unseen_bytes"` // acknowledged, though the capture does not hold them
	Events    int64 `json:"loss_events"`
	ZeroWin   int64 `json:"zero_windows"`
	Marked    int64 `json:"ecn_marks"` // segments that a router marked
}

// Event is what a packet proves.
type Event struct {
	Number  int64   `json:"packet"`
	Seconds float64 `json:"time_s"` // since the connection's first packet
	What    string  `json:"what"`
	time    int64
}

// stall is the time until a timer sent a segment again.
type stall struct {
	from, to    int64
	first, last int64 // of the segment
}

const maxEvents = 16 // of one kind

func (h *half) event(s *Segment, what string) {
	n := 0
	for i := range h.events {
		if h.events[i].What == what {
			n++
		}
	}
	if n < min(maxEvents, max(2, h.details/8)) {
		h.events = append(h.events, Event{Number: s.Number, What: what, time: s.Time})
	}
}

// rtt is the least round trip of the whole path that was seen, 0 when none was.
func (h *half) rtt() int64 { return h.near + h.far }

// known is what the sender knew as acknowledged, and the right edge of its
// window, when it sent what passes the capture now: at the receiver's end of
// the path that is older than what passed last.
func (h *half) known(s *Segment) (una, edge int64) {
	if len(h.history) == 0 {
		return h.una, h.edge
	}
	last := len(h.history) - 1
	if h.far < max(ms/2, h.near/16) {
		return h.history[last].ack, h.history[last].edge
	}
	i, _ := slices.BinarySearchFunc(h.history, s.Time-h.far+h.far/16, func(e heard, t int64) int {
		if e.time <= t {
			return -1
		}
		return 1
	})
	for i = max(0, i-1); i > 0 && s.Options.HasTimestamp && int32(h.history[i].tsval-s.Options.TSEcr) > 0; i-- {
	}
	return h.history[i].ack, h.history[i].edge
}

// sends takes a segment with data that the sender sent.
func (h *half) sends(s *Segment) {
	length := int64(s.Len)
	if !h.begun {
		h.begin(s)
	}
	first := unwrap(h.next, s.Seq)
	if s.is(SYN) {
		first++
	}
	last := first + length
	h.farSample(s)
	una, edge := h.known(s)
	old := min(last, h.next) // up to here it was sent before; BSD adds new data to what it sends again
	h.spend(s, first, last, una, first < old)
	v := h.course.at(s.Time, h.limit)
	v.segments += int32(h.count(length))
	if h.mss > 0 && length%h.mss != 0 {
		v.short++
	}
	h.Counts.Segments += h.count(length)
	h.Counts.Sent += length
	if s.ECN == 3 {
		h.Counts.Marked++
	}
	if first < old {
		h.repeats(s, first, old, v)
	}
	if last > h.next {
		if first > h.next {
			h.skips(s, first)
		}
		fresh := last - max(first, h.next)
		v.sent += fresh
		h.Counts.Bytes += fresh
		h.track(sent{first: max(first, h.next), last: last, time: s.Time, number: s.Number, times: 1})
		if h.next = max(h.next, last); length == 1 && first >= edge {
			h.probe = last
		}
	}
	v.next = h.next
	v.flight = max(v.flight, h.next-una)
	for h.unscaled && h.guess < 14 && edge > una && h.next > edge+1 { // a probe of the window is one byte
		edge += edge - una
		h.rescale()
	}
	h.lastRoom, h.lowWindow, h.widest = edge-h.next, edge-una, max(h.widest, edge-una)
	h.lastSend, h.lastLen, h.lastNumber, h.lastTime = s.Time, length, s.Number, s.Time
	h.freed = 0
}

func (h *half) begin(s *Segment) {
	h.begun = true
	first := int64(s.Seq)
	if s.is(SYN) {
		first++
	}
	if h.next == 0 {
		h.next = first
	} else {
		first = unwrap(h.next, s.Seq)
	}
	if h.una == 0 || h.una > first {
		h.una = first
	}
	h.first, h.firstTime, h.lastSend = first, s.Time, s.Time
	if h.course.step == 0 {
		h.course.step = min(max(h.rtt(), 5*ms), 1000*ms)
	}
}

// count is how many segments of the wire a captured one stands for.
func (h *half) count(length int64) int64 {
	if h.mss <= 0 || length <= h.mss {
		return 1
	}
	return (length + h.mss - 1) / h.mss
}

func (h *half) track(o sent) {
	if len(h.out) < h.details {
		h.out = append(h.out, o)
	}
}

func (h *half) skips(s *Segment, first int64) {
	if len(h.holes) < min(maxHoles, h.details) {
		h.holes = append(h.holes, hole{h.next, first, s.Time, s.Options.TSVal, s.ID})
	}
	h.next = first
}

// hears takes an acknowledgement of the receiver.
func (h *half) hears(s *Segment, scale int8) {
	if !s.is(ACK) {
		return
	}
	if h.una == 0 && h.next == 0 {
		h.una, h.next = int64(s.Ack), int64(s.Ack)
	}
	ack := h.position(s.Ack)
	if h.begun && ack-h.next > maxWindow {
		return // not of this connection
	}
	window := int64(s.Window)
	if !s.is(SYN) && scale > 0 {
		window <<= uint(scale)
	}
	if window == 0 && h.window > 0 && !s.is(RST) {
		if h.edge > h.una {
			h.Counts.ZeroWin++
			h.event(s, "window of zero")
			if h.begun {
				h.course.at(s.Time, h.limit).zero++
			}
		}
	}
	if !s.is(SYN) || !h.unscaled { // a SYN's is never scaled, what is guessed is that of others
		h.window = max(h.window, window)
	}
	h.edge = max(h.edge, ack+window)
	h.lowWindow = min(h.lowWindow, h.edge-max(ack, h.una))
	h.remember(s, ack)
	if h.begun {
		h.selective(s, ack)
	}
	if ack > h.una {
		h.advances(s, ack)
	}
	h.lastHeard = s.Time
	if h.begun {
		v := h.course.at(s.Time, h.limit)
		v.window, v.edge, v.una = window, h.edge, h.una
	}
}

func (h *half) remember(s *Segment, ack int64) {
	most := min(maxHistory, h.details)
	drop := most / 8
	if n := len(h.history); n > drop && (n >= most || s.Time-h.history[drop].time > 4*max(h.rtt(), 100*ms)) {
		h.history = slices.Delete(h.history, 0, drop)
	}
	e := heard{s.Time, max(ack, h.una), h.edge, s.Options.TSVal}
	if n := len(h.history); n > 0 && h.history[n-1].ack == e.ack && h.history[n-1].edge == e.edge &&
		h.history[n-1].tsval == e.tsval {
		return
	}
	h.history = append(h.history, e)
}

// advances takes an acknowledgement of data for the first time.
func (h *half) advances(s *Segment, ack int64) {
	if ack > h.next {
		if h.begun {
			h.Counts.Unseen += ack - h.next
			h.Counts.Bytes += ack - h.next
		}
		h.next = ack
	}
	if h.begun {
		h.lastTime = s.Time
		if h.lastAck > 0 {
			h.ackGap += (s.Time - h.lastAck - h.ackGap) / 16
		}
		h.lastAck = s.Time
		if h.freed == 0 {
			h.freed = s.Time
		}
	}
	delivered := ack - h.una
	if len(h.out) > 0 && s.Options.HasTimestamp {
		// Eifel's detection (RFC 3522): what was not needed is acknowledged for the time it was first sent.
		if o := &h.out[0]; o.first == h.una && o.last <= ack && o.tsval != 0 && int32(s.Options.TSEcr-o.tsval) < 0 {
			h.needless++
		}
	}
	h.una = ack
	n := 0
	var sample int64
	for n < len(h.out) && h.out[n].last <= ack {
		h.passed = h.passed || h.mss > 0 && h.out[n].last-h.out[n].first >= h.mss
		if h.out[n].sacked {
			delivered -= h.out[n].last - h.out[n].first
		}
		if o := &h.out[n]; o.times == 1 && !o.sacked {
			sample = s.Time - o.time
		}
		n++
	}
	h.out = h.out[n:]
	h.delivers(s.Time, delivered)
	if sample > 0 {
		h.nearSample(s.Time, sample)
	}
	for len(h.holes) > 0 && h.holes[0].last <= ack {
		h.Counts.Unseen += h.holes[0].last - h.holes[0].first
		h.holes = slices.Delete(h.holes, 0, 1)
	}
}

// delivers counts bytes that reached the receiver, each once, whether they
// were acknowledged selectively or not.
func (h *half) delivers(t, bytes int64) {
	if h.begun && bytes > 0 {
		h.rates.add(t, bytes, h.mss, max(h.rtt(), h.lastRTT))
		h.delivered += bytes
		h.course.at(t, h.limit).acked += bytes
	}
}

func (h *half) nearSample(t, sample int64) {
	if h.near == 0 || sample < h.near {
		h.near = sample
	}
	if h.near >= h.far {
		h.lastRTT = sample + h.far
		h.course.at(t, h.limit).sampled(sample + h.far)
	}
}

// farSample measures how long an acknowledgement takes from the capture to the
// sender, and what it releases back, by the timestamp that is echoed.
func (h *half) farSample(s *Segment) {
	if !s.Options.HasTimestamp || h.echoed != 0 && int32(s.Options.TSEcr-h.echoed) <= 0 {
		return
	}
	h.echoed = s.Options.TSEcr
	for i := len(h.history) - 1; i >= 0; i-- {
		e := &h.history[i]
		if e.tsval == h.echoed && (i == 0 || h.history[i-1].tsval != e.tsval) {
			sample := s.Time - e.time
			if sample > 0 && (h.far == 0 || sample < h.far) {
				h.far = sample
			}
			if h.far > h.near {
				h.lastRTT = sample + h.near
				h.course.at(s.Time, h.limit).sampled(sample + h.near)
			}
			return
		}
		if int32(e.tsval-h.echoed) < 0 {
			return
		}
	}
}

// selective takes the blocks of selective acknowledgements.
func (h *half) selective(s *Segment, ack int64) {
	for i, r := range s.Options.SACK[:s.Options.SACKs] {
		first, last := h.position(r.First), h.position(r.Last)
		if i == 0 && h.duplicate(s, first, last, ack) {
			h.Counts.Spurious++
			h.event(s, "duplicate reported (DSACK)")
			continue
		}
		if last <= first || last > h.next {
			continue
		}
		h.divide(first)
		h.divide(last)
		v := h.course.at(s.Time, h.limit)
		v.sack = max(v.sack, last)
		j, _ := slices.BinarySearchFunc(h.out, first, func(o sent, at int64) int {
			if o.first < at {
				return -1
			}
			return 1
		})
		for ; j < len(h.out) && h.out[j].last <= last; j++ {
			if o := &h.out[j]; !o.sacked {
				o.sacked = true
				h.delivers(s.Time, o.last-o.first)
				if o.times == 1 && s.Time > o.time {
					h.nearSample(s.Time, s.Time-o.time)
				}
			}
		}
	}
}

// divide makes two of a segment that a block ends within: the card has divided
// it.
func (h *half) divide(at int64) {
	most := min(1<<13, h.details)
	i, _ := slices.BinarySearchFunc(h.out, at, func(o sent, at int64) int {
		if o.last <= at {
			return -1
		}
		return 1
	})
	if i == len(h.out) || h.out[i].first >= at || len(h.out) >= most {
		return
	}
	rest := h.out[i]
	rest.first, h.out[i].last = at, at
	h.out = slices.Insert(h.out, i+1, rest)
}

// duplicate tells a first block that reports data received twice (RFC 2883).
func (h *half) duplicate(s *Segment, first, last, ack int64) bool {
	if last <= ack {
		return true
	}
	if s.Options.SACKs < 2 {
		return false
	}
	f, l := h.position(s.Options.SACK[1].First), h.position(s.Options.SACK[1].Last)
	return first >= f && last <= l
}
