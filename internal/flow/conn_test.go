package flow

import (
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
