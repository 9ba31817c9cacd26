package emulator

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// packetSpec describes a unit to build.
type packetSpec struct {
	v6, udp      bool
	payload, gso int
	flags        byte // TCP
	options      int  // bytes of TCP options
	ecn          byte
	id           uint16
	seq          uint32
}

func drawPacket(t *rapid.T) packetSpec {
	s := packetSpec{
		v6: rapid.Bool().Draw(t, "v6"), udp: rapid.Bool().Draw(t, "udp"),
		gso:     rapid.IntRange(1, 1448).Draw(t, "gso"),
		flags:   rapid.Byte().Draw(t, "flags"),
		options: 4 * rapid.IntRange(0, 10).Draw(t, "options"),
		ecn:     byte(rapid.IntRange(0, 3).Draw(t, "ecn")),
		id:      rapid.Uint16().Draw(t, "id"), seq: rapid.Uint32().Draw(t, "seq"),
	}
	s.payload = rapid.IntRange(s.gso+1, min(60*s.gso, 60000)+1).Draw(t, "payload")
	return s
}

// build makes the unit as the kernel hands it over: the checksum field holds
// the sum of the pseudo-header.
func (s packetSpec) build() []byte {
	ip, l4 := 20, 20+s.options
	if s.v6 {
		ip = 40
	}
	if s.udp {
		l4 = 8
	}
	u := make([]byte, vnetLen+ip+l4+s.payload)
	for i := range s.payload {
		u[vnetLen+ip+l4+i] = byte(i * 7)
	}
	u[vnetFlags] = vnetNeedsCsum
	binary.NativeEndian.PutUint16(u[vnetHdrLen:], uint16(ip+l4))
	binary.NativeEndian.PutUint16(u[vnetGSOSize:], uint16(s.gso))
	binary.NativeEndian.PutUint16(u[vnetCsumStart:], uint16(ip))
	p := u[vnetLen:]
	proto, offset := byte(6), 16
	if s.udp {
		proto, offset = 17, 6
		u[vnetGSOType] = gsoUDP
		binary.BigEndian.PutUint16(p[ip+4:], uint16(l4+s.payload))
	} else {
		u[vnetGSOType] = gsoTCP4
		if s.v6 {
			u[vnetGSOType] = gsoTCP6
		}
		if s.flags&tcpCWR != 0 {
			u[vnetGSOType] |= gsoECN
		}
		binary.BigEndian.PutUint32(p[ip+4:], s.seq)
		p[ip+12] = byte(l4/4) << 4
		p[ip+13] = s.flags
	}
	binary.NativeEndian.PutUint16(u[vnetCsumOffset:], uint16(offset))
	if s.v6 {
		p[0], p[1] = 0x60, s.ecn<<4
		binary.BigEndian.PutUint16(p[4:], uint16(l4+s.payload))
		p[6], p[7] = proto, 64
		copy(p[8:], bytes.Repeat([]byte{0xfd, 3}, 16))
	} else {
		p[0], p[1] = 0x45, s.ecn
		binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
		binary.BigEndian.PutUint16(p[4:], s.id)
		p[8], p[9] = 64, proto
		copy(p[12:], []byte{10, 77, 0, 1, 10, 77, 0, 2})
		binary.BigEndian.PutUint16(p[10:], ^slowSum(p[:20]))
	}
	pseudo := slowPseudo(p, proto, l4+s.payload)
	binary.BigEndian.PutUint16(p[ip+offset:], pseudo)
	return u
}

// slowSum is RFC 1071 as it is written there.
func slowSum(b []byte) uint16 {
	var acc uint32
	for i := 0; i < len(b); i += 2 {
		word := uint32(b[i]) << 8
		if i+1 < len(b) {
			word |= uint32(b[i+1])
		}
		if acc += word; acc > 0xffff {
			acc -= 0xffff
		}
	}
	return uint16(acc)
}

func slowPseudo(ip []byte, proto byte, length int) uint16 {
	addrs := ip[12:20]
	if ip[0]>>4 == 6 {
		addrs = ip[8:40]
	}
	return slowSum(append(append([]byte{}, addrs...), 0, proto, byte(length>>8), byte(length)))
}

// segments is the reference: it makes the wire's segments of a unit one by
// one, checksums complete.
func (s packetSpec) segments() [][]byte {
	whole := s.build()
	p := whole[vnetLen:]
	ip := ipHeaderLen(p)
	offset := int(binary.NativeEndian.Uint16(whole[vnetCsumOffset:]))
	hdr := len(p) - s.payload
	var out [][]byte
	for i := 0; i*s.gso < s.payload; i++ {
		data := p[hdr+i*s.gso : min(hdr+(i+1)*s.gso, len(p))]
		last := i*s.gso+len(data) == s.payload
		seg := append(append([]byte{}, p[:hdr]...), data...)
		if s.v6 {
			binary.BigEndian.PutUint16(seg[4:], uint16(len(seg)-40))
		} else {
			binary.BigEndian.PutUint16(seg[2:], uint16(len(seg)))
			binary.BigEndian.PutUint16(seg[4:], s.id+uint16(i))
			seg[10], seg[11] = 0, 0
			binary.BigEndian.PutUint16(seg[10:], ^slowSum(seg[:20]))
		}
		proto := byte(17)
		if s.udp {
			binary.BigEndian.PutUint16(seg[ip+4:], uint16(len(seg)-ip))
		} else {
			proto = 6
			binary.BigEndian.PutUint32(seg[ip+4:], s.seq+uint32(i*s.gso))
			if !last {
				seg[ip+13] &^= tcpFIN | tcpPSH
			}
			if i > 0 {
				seg[ip+13] &^= tcpCWR
			}
		}
		seg[ip+offset], seg[ip+offset+1] = 0, 0
		sum := slowSum(append(seg[ip:len(seg):len(seg)], make([]byte, len(seg)%2)...))
		total := uint32(sum) + uint32(slowPseudo(seg, proto, len(seg)-ip))
		c := ^uint16(total % 0xffff)
		if total != 0 && total%0xffff == 0 {
			c = 0
		}
		if c == 0 {
			c = 0xffff
		}
		binary.BigEndian.PutUint16(seg[ip+offset:], c)
		out = append(out, seg)
	}
	return out
}

// pieceOf cuts u and joins the two parts.
func pieceOf(u []byte, first, n int, ce bool) []byte {
	var head [vnetLen + maxHeaders]byte
	h, payload := cut(head[:], u, shapeOf(u), first, n, ce)
	return append(append([]byte{}, head[:h]...), payload...)
}

// A unit cut anywhere, and its pieces cut again, gives the segments that the
// reference makes of it, bit for bit.
func TestCutGivesTheSegmentsOfTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawPacket(t)
		want := spec.segments()
		u := spec.build()
		s := shapeOf(u)
		if int(s.segs) != len(want) {
			t.Fatalf("%d segments, want %d", s.segs, len(want))
		}
		for at := 0; at < len(want); {
			n := rapid.IntRange(1, len(want)-at).Draw(t, "piece")
			piece := pieceOf(u, at, n, false)
			again := shapeOf(piece)
			if int(again.segs) != n {
				t.Fatalf("a piece of %d segments reads as %d", n, again.segs)
			}
			for i := range n {
				seg := pieceOf(piece, i, 1, false)
				complete(seg)
				if !bytes.Equal(seg[vnetLen:], want[at+i]) {
					t.Fatalf("segment %d of %d:\n got %x\nwant %x", at+i, len(want), seg[vnetLen:], want[at+i])
				}
				if again.ipBytes(i) != len(want[at+i]) {
					t.Fatalf("segment %d has %d bytes, want %d", at+i, again.ipBytes(i), len(want[at+i]))
				}
			}
			at += n
		}
	})
}

func TestCutMarksAndKeepsTheHeaderSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawPacket(t)
		u := spec.build()
		before := bytes.Clone(u)
		whole := pieceOf(u, 0, int(shapeOf(u).segs), true)
		ip := whole[vnetLen:]
		if ecnOf(ip) != ecnCE {
			t.Fatalf("ECN field %d", ecnOf(ip))
		}
		if !spec.v6 && slowSum(ip[:20]) != 0xffff {
			t.Fatal("IPv4 header sum is wrong")
		}
		if !bytes.Equal(u, before) {
			t.Fatal("the unit itself was changed")
		}
	})
}

func TestWireBytesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawPacket(t)
		s := shapeOf(spec.build())
		for _, f := range []link.Framing{link.FramingEthernet, link.FramingIP} {
			var want int64
			for _, seg := range spec.segments() {
				want += int64(f.Cost(len(seg)))
			}
			first := rapid.IntRange(0, int(s.segs)).Draw(t, "first")
			got := s.wireBytes(f, 0, first) + s.wireBytes(f, first, int(s.segs)-first)
			if got != want {
				t.Fatalf("%s: %d bytes, want %d", f, got, want)
			}
		}
	})
}

// What the kernel would never write must still not crash the emulator.
func FuzzShape(f *testing.F) {
	f.Add(packetSpec{payload: 5000, gso: 1000}.build())
	f.Add(packetSpec{payload: 5000, gso: 1000, v6: true, udp: true}.build())
	f.Add(append(make([]byte, vnetLen), 0x45))
	f.Fuzz(func(t *testing.T, u []byte) {
		if len(u) <= vnetLen || len(u) > maxUnit {
			return
		}
		s := shapeOf(u)
		if s.segs == 0 {
			t.Fatal("no segments")
		}
		pieceOf(u, int(s.segs)-1, 1, ecnOf(u[vnetLen:]) != 0)
		pieceOf(u, 0, int(s.segs), false)
		control(u[vnetLen:])
		complete(bytes.Clone(u))
	})
}
