package flow

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// transfer builds a connection whose sender keeps at most so many bytes under
// way, seen at the sender's end of a path with a round trip.
type transfer struct {
	c      *Conn
	t      int64
	number int64
	rtt    int64
	window uint16
}

func newTransfer(rtt int64, window uint16) *transfer {
	x := &transfer{c: New(256), t: 1e18, rtt: rtt, window: window}
	opt := Options{MSS: 1460, Scale: -1, SACKPermitted: true}
	x.add(Segment{Seq: 0, Flags: SYN, Window: 65535, Options: opt}, true)
	x.t += rtt
	x.add(Segment{Seq: 0, Ack: 1, Flags: SYN | ACK, Window: window, Options: opt}, false)
	x.t += 1000
	x.add(Segment{Seq: 1, Ack: 1, Flags: ACK, Window: 65535}, true)
	return x
}

func (x *transfer) add(s Segment, fromA bool) {
	x.number++
	s.Number, s.Time = x.number, x.t
	if s.Options.MSS == 0 {
		s.Options.Scale = -1
	}
	x.c.Add(&s, fromA)
}

// data sends n full segments at a sequence number.
func (x *transfer) data(seq uint32, n int) {
	for i := range n {
		x.add(Segment{Seq: seq + uint32(i*1460), Ack: 1, Flags: ACK, Window: 65535, Len: 1460}, true)
		x.t += 10_000
	}
}

func (x *transfer) ack(seq uint32, window uint16) {
	x.add(Segment{Seq: 1, Ack: seq, Flags: ACK, Window: window}, false)
}

func (x *transfer) largest(t *testing.T) Share {
	t.Helper()
	shares := x.c.Direction(true).Shares
	if len(shares) == 0 {
		t.Fatal("no share of any limit")
	}
	return shares[0]
}

func TestPeerWindow(t *testing.T) {
	x := newTransfer(20*ms, 14600)
	seq := uint32(1)
	for range 50 {
		x.data(seq, 10)
		seq += 14600
		x.t += x.rtt - 100_000
		x.ack(seq, 14600)
		x.t += 10_000
	}
	if s := x.largest(t); s.Limit != PeerWindow || s.Share < 0.9 {
		t.Errorf("a window of ten segments that is always full: %v", s)
	}
}

func TestSlowReader(t *testing.T) {
	x := newTransfer(20*ms, 58400)
	seq := uint32(1)
	for range 30 {
		x.data(seq, 40)
		seq += 58400
		x.t += x.rtt
		x.ack(seq, 0)
		x.t += 100 * ms
		x.ack(seq, 58400)
		x.t += 10_000
	}
	if s := x.largest(t); s.Limit != SlowReader || s.Share < 0.8 {
		t.Errorf("a window that closes to zero: %v", s)
	}
}

func TestProgram(t *testing.T) {
	x := newTransfer(20*ms, 65535)
	seq := uint32(1)
	for range 30 {
		x.data(seq, 5)
		seq += 5 * 1460
		x.t += x.rtt
		x.ack(seq, 65535)
		x.t += 100 * ms
	}
	if s := x.largest(t); s.Limit != Program || s.Share < 0.7 {
		t.Errorf("bursts every 120 ms: %v", s)
	}
}

func TestBlackHole(t *testing.T) {
	x := newTransfer(20*ms, 65535)
	x.data(1, 2)
	wait := 220 * ms
	for range 5 {
		x.t += wait
		wait *= 2
		x.add(Segment{Seq: 1, Ack: 1, Flags: ACK, Window: 65535, Len: 1460}, true)
	}
	if s := x.largest(t); s.Limit != BlackHole || s.Share < 0.9 {
		t.Errorf("a full segment that is sent again five times and never arrives: %v", s)
	}
}

// Whatever the segments are, nothing panics, no interval has more time than
// it is long, and the shares add up.
func TestAnySegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(16)
		now := rapid.Int64Range(0, 1<<61).Draw(t, "start")
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			now += rapid.Int64Range(-1e9, 1e11).Draw(t, "step")
			s := Segment{Time: now, Seq: rapid.Uint32().Draw(t, "seq"), Ack: rapid.Uint32().Draw(t, "ack"),
				Window: rapid.Uint16().Draw(t, "window"), Flags: rapid.Uint16Range(0, 511).Draw(t, "flags"),
				Len: rapid.IntRange(0, 70000).Draw(t, "len")}
			s.Options.Scale = int8(rapid.IntRange(-1, 14).Draw(t, "scale"))
			s.Options.SACKs = rapid.IntRange(0, 4).Draw(t, "sacks")
			for i := range s.Options.SACKs {
				s.Options.SACK[i] = Range{rapid.Uint32().Draw(t, "f"), rapid.Uint32().Draw(t, "l")}
			}
			c.Add(&s, rapid.Bool().Draw(t, "fromA"))
		}
		for _, a := range []bool{true, false} {
			sum := 0.0
			for _, s := range c.Direction(a).Shares {
				sum += s.Share
			}
			if sum != 0 && (sum < 0.999 || sum > 1.001) {
				t.Fatalf("shares add up to %v", sum)
			}
		}
	})
}

// A SYN that is sent again counts, as the kernel counts it, and the last one is
// what the answer is timed from.
func TestHandshakeAgain(t *testing.T) {
	x := &transfer{c: New(256), t: 1e18, rtt: 20 * ms, window: 65535}
	opt := Options{MSS: 1460, Scale: -1}
	x.add(Segment{Flags: SYN, Window: 65535, Options: opt}, true)
	x.t += 1000 * ms
	x.add(Segment{Flags: SYN, Window: 65535, Options: opt}, true)
	x.t += x.rtt
	x.add(Segment{Ack: 1, Flags: SYN | ACK, Window: 65535, Options: opt}, false)
	x.t += 1000
	x.data(1, 1)
	x.t += 2 * x.rtt
	x.ack(1461, 65535)
	d := x.c.Direction(true)
	if d.Again != 1 || d.Timer != 1 || int64(d.RTT) < x.rtt || int64(d.RTT) > 21*ms {
		t.Errorf("%d sent again, %d by a timer, round trip %s", d.Again, d.Timer, d.RTT)
	}
}

// Without selective acknowledgements timestamps tell what was sent again in vain.
func TestNeedless(t *testing.T) {
	for _, needless := range []bool{true, false} {
		x := newTransfer(20*ms, 65535)
		send := func(up bool, ts, echo uint32, s Segment) {
			s.Flags, s.Window = ACK, 65535
			s.Options = Options{MSS: 1, Scale: -1, HasTimestamp: true, TSVal: ts, TSEcr: echo}
			x.add(s, up)
		}
		send(true, 100, 1, Segment{Seq: 1, Ack: 1, Len: 1460})
		x.t += 300 * ms
		send(true, 400, 1, Segment{Seq: 1, Ack: 1, Len: 1460})
		x.t += 10 * ms
		echo := uint32(400)
		if needless {
			echo = 100
		}
		send(false, 2, echo, Segment{Seq: 1, Ack: 1461})
		if d := x.c.Direction(true); d.Again != 1 || d.Spurious == 1 != needless {
			t.Errorf("needless %v: %d sent again, %d spurious", needless, d.Again, d.Spurious)
		}
	}
}

// FuzzConn takes any segments: it ends, keeps what it promised to keep, and the
// spans lie one behind the other.
func FuzzConn(f *testing.F) {
	f.Add([]byte("\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x08" +
		"\x10\x12\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff\x00\x00\x00\x18" +
		"\x20\x10\x00\x00\x00\x01\x00\x00\x00\x01\xff\xff\x05\xa8\x10\x00" +
		"\x30\x10\x00\x00\x00\x01\x00\x00\x05\xa9\x00\x00\x00\x00\x10\x18"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New(64)
		c.Bound(16, 64)
		be := binary.BigEndian
		var now int64
		for n := int64(1); len(data) >= 16; n, data = n+1, data[16:] {
			// Times go ahead by up to a century, and back.
			now += int64(int8(data[0])) << (data[14] & 55)
			s := Segment{Number: n, Time: now, Flags: uint16(data[1]), Seq: be.Uint32(data[2:]),
				Ack: be.Uint32(data[6:]), Window: be.Uint16(data[10:]), Len: int(be.Uint16(data[12:])), ECN: data[15] & 3}
			s.Options = Options{Scale: int8(data[15]%17) - 1, MSS: uint16(data[14]), HasTimestamp: data[15]&4 != 0,
				TSVal: uint32(data[0]), TSEcr: uint32(data[15])}
			if data[15]&8 != 0 {
				s.Options.SACKs, s.Options.SACK[0] = 1, Range{s.Ack + uint32(data[14]), s.Ack + uint32(s.Window)}
			}
			c.Add(&s, data[15]&16 == 0)
		}
		for _, ofA := range []bool{true, false} {
			h := c.half(ofA)
			if len(h.out) > 64 || len(h.holes) > 64 || len(h.history) > 64 || len(h.losses) > 64 || len(h.course.list) > 16 {
				t.Errorf("more is kept than was allowed: %d, %d, %d, %d, %d", len(h.out), len(h.holes), len(h.history),
					len(h.losses), len(h.course.list))
			}
			d := c.Direction(ofA)
			for i, s := range d.Spans {
				if s.End <= s.Start || i > 0 && s.Start < d.Spans[i-1].End {
					t.Errorf("spans overlap: %v", d.Spans)
				}
			}
		}
	})
}

// What is sent again is told from what only looks so: a BSD adds new data to it
// and probes a window of zero with one byte, which is sent again until it opens.
func TestSentAgain(t *testing.T) {
	x := newTransfer(20*ms, 14600)
	data := func(seq uint32, n int, flags uint16) {
		x.add(Segment{Seq: seq, Ack: 1, Flags: ACK | flags, Window: 65535, Len: n}, true)
	}
	data(1, 8, 0)
	x.t += 300 * ms
	data(1, 335, 0) // by a timer, with 327 bytes that are new
	x.t += x.rtt
	x.ack(336, 14265)
	data(336, 14265, 0)
	x.t += x.rtt
	x.ack(14601, 0)
	for range 3 { // probes
		x.t += 5000 * ms
		data(14601, 1, 0)
		x.t += x.rtt
		x.ack(14601, 0)
	}
	x.ack(14601, 65535)
	data(14601, 500, 0)
	x.t += x.rtt
	x.ack(15101, 65535)
	data(15101, 0, FIN)
	x.t += 300 * ms
	data(15101, 0, FIN)
	x.t += x.rtt
	x.ack(15102, 65535)
	x.ack(15102+(1<<31-1), 65535) // of another connection
	d := x.c.Direction(true)
	if d.Again != 2 || d.Timer != 2 || d.Bytes != 15100 || d.Unseen != 0 {
		t.Errorf("%d sent again, %d by timers, %d bytes, %d not seen", d.Again, d.Timer, d.Bytes, d.Unseen)
	}
	if s := d.Shares[0]; s.Limit != SlowReader || s.Share < 0.9 {
		t.Errorf("a window that stays at zero: %v", s)
	}
}

// FreeBSD's RACK stack waits for less than 200 ms before a timer sends again.
func TestQuickTimer(t *testing.T) {
	x := newTransfer(20*ms, 65535)
	seq := uint32(1)
	for range 10 {
		x.data(seq, 5)
		x.t += 70 * ms
		x.data(seq, 1)
		x.t += x.rtt
		seq += 5 * 1460
		x.ack(seq, 65535)
		x.t += 10_000
	}
	d := x.c.Direction(true)
	if d.Timer != 10 || d.Shares[0].Limit != Timeout || d.Shares[0].Share < 0.6 {
		t.Errorf("10 timers of 70 ms: %d counted, %v", d.Timer, d.Shares)
	}
}

// What limited is not told by how much was under way when the capture lacks
// every third segment, nor is a path's rate where none was measured.
func TestPartial(t *testing.T) {
	x := newTransfer(20*ms, 65535)
	seq := uint32(1)
	for i := range 60 {
		x.data(seq, 2)
		x.t += x.rtt + int64(i%5)*10*ms
		seq += 3 * 1460
		x.ack(seq, 65535)
		x.t += 10_000
	}
	for _, s := range x.c.Direction(true).Shares {
		if (s.Limit == SendBuffer || s.Limit == Path) && s.Share > 0.1 {
			t.Errorf("a third is not in the capture: %v", s)
		}
	}
}
