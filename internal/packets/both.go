package packets

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
)

// Both is what two captures of one connection tell together.
type Both struct {
	Sender   string `json:"nearer_the_sender"` // the captures
	Receiver string `json:"nearer_the_receiver"`
	From     string `json:"from"`
	To       string `json:"to"`
	Matched  int    `json:"matched"`      // segments and acknowledgements seen in both
	Between  int64  `json:"lost_between"` // segments that the sender's capture holds and the receiver's does not
	Beyond   int64  `json:"lost_beyond"`  // segments sent again though the receiver's capture holds them
	// Missed are segments that arrived, for they were never sent again, and are not in the receiver's capture: it lost them.
	Missed int64 `json:"missed_by_capture,omitempty"`
	// AcksLost are pure acknowledgements, of Acks, that the receiver sent and the sender's capture does not hold.
	AcksLost int    `json:"acknowledgements_lost,omitempty"`
	Acks     int    `json:"acknowledgements,omitempty"`
	Offset   Offset `json:"clock_offset"`  // of the receiver's clock
	Forward  *Delay `json:"delay_forward"` // of data; null: nothing matched
	Back     *Delay `json:"delay_back"`    // of acknowledgements
	// Changed is what a box between the captures changed.
	Changed []Change `json:"changed"`
}

// Offset is how far a clock goes before another's. It is known up to the
// difference between the least delays of both directions, which is taken to be
// none; at most Within.
type Offset struct {
	Seconds float64 `json:"seconds"`
	Within  float64 `json:"within_ms"`
	Known   bool    `json:"known"`
}

// Delay is that of one direction, by the clocks set right.
type Delay struct {
	Min     float64 `json:"min_ms"`
	Median  float64 `json:"median_ms"`
	Longest float64 `json:"longest_ms"`
}

// Change is a property that a packet had before a box and has not behind it.
type Change struct {
	Packet string `json:"packet"` // SYN, SYN/ACK, connection
	What   string `json:"what"`
	Before string `json:"before"`
	Behind string `json:"behind"`
}

// File is a capture that can be read again.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
}

func (f File) read() (*Trace, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t, err := Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return t, nil
}

// AnalyzeBoth judges the flows of a capture, and holds the TCP connection with the
// most data of both against a capture of the other end.
func AnalyzeBoth(one, other File) (Analysis, error) {
	a, err := one.read()
	if err != nil {
		return Analysis{}, err
	}
	b, err := other.read()
	if err != nil {
		return Analysis{}, err
	}
	fa, fb := common(a, b)
	if fa == nil {
		return Analysis{}, fmt.Errorf("no TCP connection of %s is in %s", one.Name, other.Name)
	}
	byA := fa.Conn.Bytes(true) >= fa.Conn.Bytes(false)
	near, far := side{File: one, flow: fa}, side{File: other, flow: fb}
	if fb.Conn.Beyond(byA) > fa.Conn.Beyond(byA) {
		near, far = far, near
	}
	if err := errors.Join(near.collect(byA), far.collect(byA)); err != nil {
		return Analysis{}, err
	}
	both := match(&near, &far, byA)
	result := Analyze(one.Name, a)
	result.Both = both
	return result, nil
}

// common is the TCP connection with the most data that both hold: by its ends,
// or where a box translates them by its initial sequence numbers.
func common(a, b *Trace) (fa, fb *Flow) {
	for i := range a.Flows {
		f := &a.Flows[i]
		if f.UDP {
			continue
		}
		same := func(g Flow) bool { return !g.UDP && g.A == f.A && g.B == f.B }
		if j := slices.IndexFunc(b.Flows, same); j >= 0 {
			return f, &b.Flows[j]
		}
		seq := f.Conn.Handshake(true)
		translated := func(g Flow) bool {
			return !g.UDP && seq.Seen && g.Conn.Handshake(true).Seen && g.Conn.Handshake(true).Seq == seq.Seq
		}
		if j := slices.IndexFunc(b.Flows, translated); j >= 0 {
			return f, &b.Flows[j]
		}
	}
	return nil, nil
}

// side is one capture of the connection.
type side struct {
	File
	flow   *Flow
	pieces []piece // of the data's direction, by their place in it
	acks   map[ackKey]int64
	next   int64
	begun  bool
	sent   int64 // bytes
	again  int64 // bytes that had been seen before
}

// piece is data that was seen for the first time; again: and once more.
type piece struct {
	first, last, time int64
	again             bool
}

// ackKey tells a pure acknowledgement from others.
type ackKey struct {
	seq, ack, tsval uint32
	window          uint16
	sack            flow.Range
}

const maxPieces = 1 << 20

// collect reads the capture once more for the segments of the connection.
func (s *side) collect(byA bool) error {
	s.acks = map[ackKey]int64{}
	r, err := s.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	from, to := s.flow.A, s.flow.B
	if !byA {
		from, to = to, from
	}
	var t Trace
	return t.each(r, func(p *packet) {
		switch {
		case p.udp:
		case p.from == from && p.to == to && p.Len > 0:
			s.data(p)
		case p.from == to && p.to == from && p.Len == 0 && p.Flags&(flow.SYN|flow.FIN|flow.RST) == 0:
			k := ackKey{p.Seq, p.Ack, p.Options.TSVal, p.Window, p.Options.SACK[0]}
			if _, ok := s.acks[k]; !ok && len(s.acks) < maxPieces {
				s.acks[k] = p.Time
			}
		}
	})
}

func (s *side) data(p *packet) {
	if !s.begun {
		s.begun, s.next = true, int64(p.Seq)
	}
	first := s.next + int64(int32(p.Seq-uint32(s.next)))
	last := first + int64(p.Len)
	s.sent += int64(p.Len)
	if first < s.next {
		s.repeated(first, min(last, s.next))
	}
	if last <= s.next {
		return
	}
	if len(s.pieces) < maxPieces {
		s.pieces = append(s.pieces, piece{first: max(first, s.next), last: last, time: p.Time})
	}
	s.next = last
}

// repeated marks pieces that were seen again; what lies between two pieces had
// not been seen.
func (s *side) repeated(first, last int64) {
	for i := s.at(first); i < len(s.pieces) && s.pieces[i].first < last; i++ {
		o := &s.pieces[i]
		s.again += min(last, o.last) - max(first, o.first)
		o.again = true
	}
}

// at is the index of the piece that holds a byte, or the next one.
func (s *side) at(position int64) int {
	i, _ := slices.BinarySearchFunc(s.pieces, position, func(o piece, at int64) int {
		if o.last <= at {
			return -1
		}
		return 1
	})
	return i
}

// match holds both sides against each other; near is the sender's.
func match(near, far *side, byA bool) *Both {
	b := &Both{Sender: near.Name, Receiver: far.Name, From: near.flow.A.String(), To: near.flow.B.String(),
		Changed: changes(near, far, byA)}
	if !byA {
		b.From, b.To = b.To, b.From
	}
	var forward, back []int64
	shift := int64(0) // between the counts of both
	if len(near.pieces) > 0 && len(far.pieces) > 0 {
		d := int32(uint32(far.pieces[0].first) - uint32(near.pieces[0].first))
		shift = far.pieces[0].first - near.pieces[0].first - int64(d)
	}
	for _, o := range far.pieces {
		at := o.last - 1 - shift
		if i := near.at(at); i < len(near.pieces) && near.pieces[i].first <= at && !near.pieces[i].again && !o.again {
			forward = append(forward, o.time-near.pieces[i].time)
		}
	}
	for k, sent := range far.acks {
		if seen, ok := near.acks[k]; ok {
			back = append(back, seen-sent)
		}
	}
	b.Acks, b.AcksLost = lostAcks(near, far)
	b.Matched = len(forward) + len(back)
	mss := int64(max(1, near.mss(byA)))
	missing, missed := missingAt(near, far, shift)
	b.Between, b.Missed = max(0, (missing-missed+mss/2)/mss), (missed+mss/2)/mss
	b.Beyond = (far.again + mss/2) / mss
	b.delays(forward, back)
	return b
}

// missingAt is how many bytes the sender's capture holds more than the receiver's, of what both were there for, and how many of
// these were never sent again: TCP would have, had they not arrived.
func missingAt(near, far *side, shift int64) (missing, missed int64) {
	if len(near.pieces) == 0 || len(far.pieces) == 0 {
		return 0, 0
	}
	from := max(near.pieces[0].first, far.pieces[0].first-shift)
	to := min(near.pieces[len(near.pieces)-1].last, far.pieces[len(far.pieces)-1].last-shift)
	missing = near.sent - near.outside(from, to) - (far.sent - far.outside(from+shift, to+shift))
	for _, o := range near.pieces {
		if o.again || o.first < from || o.last > to {
			continue
		}
		if i := far.at(o.last - 1 + shift); i == len(far.pieces) || far.pieces[i].first > o.last-1+shift {
			missed += o.last - o.first
		}
	}
	return missing, min(missed, max(missing, 0))
}

// outside is how many bytes before and behind two places were seen; what was sent again counts twice.
func (s *side) outside(from, to int64) (sum int64) {
	for _, o := range s.pieces {
		n := o.last - o.first - max(0, min(o.last, to)-max(o.first, from))
		if sum += n; o.again {
			sum += n
		}
	}
	return sum
}

// lostAcks are the pure acknowledgements that the receiver's capture holds of the time of the sender's, by their numbers, and
// those of them that the sender's does not hold.
func lostAcks(near, far *side) (all, lost int) {
	if len(near.acks) == 0 || len(near.acks) >= maxPieces || len(far.acks) >= maxPieces {
		return 0, 0
	}
	var first, last uint32
	begun := false
	for k := range near.acks {
		if !begun {
			first, last, begun = k.ack, k.ack, true
		}
		if int32(k.ack-first) < 0 {
			first = k.ack
		}
		if int32(k.ack-last) > 0 {
			last = k.ack
		}
	}
	for k := range far.acks {
		if int32(k.ack-first) < 0 || int32(last-k.ack) < 0 {
			continue
		}
		if all++; near.acks[k] == 0 {
			lost++
		}
	}
	if lost == all { // a box rewrites them
		return 0, 0
	}
	return all, lost
}

// mss is the data of a full segment: timestamps take 12 bytes of each.
func (s *side) mss(byA bool) int64 {
	size := int64(1460)
	h, g := s.flow.Conn.Handshake(!byA), s.flow.Conn.Handshake(byA)
	if h.Seen && h.MSS > 0 {
		size = int64(h.MSS)
	}
	if h.Seen && g.Seen && h.HasTimestamp && g.HasTimestamp {
		size -= 12
	}
	return size
}

// delays sets the clocks right by the least delays of both directions.
func (b *Both) delays(forward, back []int64) {
	offset := int64(0)
	if len(forward) > 0 && len(back) > 0 {
		least, leastBack := slices.Min(forward), slices.Min(back)
		offset = (least - leastBack) / 2
		b.Offset = Offset{Seconds: float64(offset) / 1e9, Within: float64(least+leastBack) / 2e6, Known: true}
	}
	b.Forward, b.Back = delay(forward, -offset), delay(back, offset)
}

func delay(samples []int64, shift int64) *Delay {
	if len(samples) == 0 {
		return nil
	}
	slices.Sort(samples)
	in := func(i int) float64 { return float64(samples[i]+shift) / float64(time.Millisecond) }
	return &Delay{in(0), in(len(samples) / 2), in(len(samples) - 1)}
}

// changes is what differs in the handshake as both captures have it.
func changes(near, far *side, byA bool) []Change {
	all := []Change{}
	if a, b := ends(near.flow), ends(far.flow); a != b {
		all = append(all, Change{"connection", "addresses", a, b})
	}
	for _, byOpener := range []bool{true, false} {
		name, before, behind := "SYN", near, far
		if !byOpener {
			name = "SYN/ACK"
		}
		if byOpener != byA { // who sends the data does not send this packet
			before, behind = far, near
		}
		h, g := before.flow.Conn.Handshake(byOpener), behind.flow.Conn.Handshake(byOpener)
		if !h.Seen || !g.Seen || h.Cut || g.Cut {
			continue
		}
		for _, p := range []struct {
			what           string
			before, behind any
		}{{"MSS", h.MSS, g.MSS}, {"window scale", scaleText(h.Scale), scaleText(g.Scale)},
			{"selective acknowledgements", h.SACKPermitted, g.SACKPermitted},
			{"timestamps", h.HasTimestamp, g.HasTimestamp}, {"ECN", h.ECN, g.ECN}, {"AccECN", h.AccECN, g.AccECN},
			{"window", h.Window, g.Window}, {"DSCP", h.DSCP, g.DSCP}, {"TTL", h.TTL, g.TTL},
			{"sequence numbers", h.Seq, g.Seq}} {
			if p.before != p.behind {
				all = append(all, Change{name, p.what, fmt.Sprint(p.before), fmt.Sprint(p.behind)})
			}
		}
	}
	return all
}

func scaleText(scale int8) string {
	if scale < 0 {
		return "none"
	}
	return fmt.Sprint(scale)
}

func ends(f *Flow) string { return f.A.String() + " > " + f.B.String() }
