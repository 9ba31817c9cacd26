package packets

import (
	"encoding/binary"
	"math"
	"testing"
)

// sent gives a Datagrams packets a millisecond apart, each of 100 bytes that do
// makes of its number; a negative answer leaves it out.
func sent(n int, do func(i int, data []byte) (at int)) *Datagrams {
	var u Datagrams
	for i := range n {
		data := make([]byte, 100)
		if at := do(i, data); at >= 0 {
			p := packet{}
			p.Time, p.Len = 1e18+int64(at)*1e6, len(data)
			u.add(&p, data)
		}
	}
	return &u
}

func TestPauses(t *testing.T) {
	u := sent(1000, func(i int, _ []byte) int {
		if i >= 500 {
			return i + 300
		}
		return i
	})
	if u.Pauses != 1 || u.Paused != 301e6 || u.Longest != 301e6 || u.Packets != 1000 || u.Peak != 100*100 {
		t.Errorf("%+v", u)
	}
}

func TestRTP(t *testing.T) {
	stream := func(i int, data []byte) int {
		data[0] = 0x80
		binary.BigEndian.PutUint16(data[2:], uint16(65530+i)) // wraps
		if i == 7 || i == 50 {
			return -1
		}
		return i
	}
	if r := sent(100, stream).rtp; !r.is() || r.lost != 2 || r.late != 0 {
		t.Errorf("%+v", r)
	}
	other := sent(100, func(i int, data []byte) int {
		data[0] = byte(i)
		return i
	})
	if other.rtp.is() {
		t.Errorf("%+v", other.rtp)
	}
}

func TestSpin(t *testing.T) {
	run := func(turn func(i int) bool) *quic {
		return &sent(1000, func(i int, data []byte) int {
			data[0] = 0x40
			if i == 0 {
				data[0], data[4] = 0xc0, 1
			} else if turn(i) {
				data[0] |= 0x20
			}
			return i
		}).quic
	}
	if r := run(func(i int) bool { return i/50%2 == 1 }).rtt(); r == nil || math.Abs(r.Median-50) > 1e-9 {
		t.Errorf("a round trip of 50 ms: %+v", r)
	}
	for name, turn := range map[string]func(int) bool{"constant": func(int) bool { return true },
		"random": func(i int) bool { return uint32(i)*2654435761>>31 == 1 }} {
		if r := run(turn).rtt(); r != nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func FuzzUDP(f *testing.F) {
	f.Add([]byte("\x80\x60\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07"))
	f.Add([]byte("\xc0\x00\x00\x00\x01\x08"))
	f.Add([]byte("\x60\x00\x00\x00\x01\x08"))
	f.Fuzz(func(t *testing.T, data []byte) {
		u := sent(64, func(i int, out []byte) int {
			copy(out, data[min(i, len(data)):])
			return i * 50
		})
		if u.Packets != 64 || u.rtp.lost < 0 || len(u.quic.trips) > maxSpin {
			t.Errorf("%+v", u)
		}
	})
}
