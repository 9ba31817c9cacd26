package emulator

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// A unit is what one read of a TUN device with IFF_VNET_HDR returns: a
// virtio_net_hdr (linux/virtio_net.h), then an IP packet that may stand for
// many segments of the wire. The kernel leaves the checksum of such a packet
// to the device: the TCP or UDP checksum field holds the sum of the
// pseudo-header, which covers the length, so that a cut changes it.
const (
	vnetLen = 10
	// maxUnit is the largest unit: header, IPv6 header, 65535 bytes of payload.
	maxUnit = vnetLen + 40 + 65535

	vnetNeedsCsum = 1    // VIRTIO_NET_HDR_F_NEEDS_CSUM
	gsoTCP4       = 1    // VIRTIO_NET_HDR_GSO_TCPV4
	gsoTCP6       = 4    // VIRTIO_NET_HDR_GSO_TCPV6
	gsoUDP        = 5    // VIRTIO_NET_HDR_GSO_UDP_L4
	gsoECN        = 0x80 // VIRTIO_NET_HDR_GSO_ECN: the first segment alone carries CWR

	tcpFIN, tcpPSH, tcpCWR = 0x01, 0x08, 0x80

	ecnMask, ecnCE = 3, 3 // RFC 3168, section 5
)

// Offsets in struct virtio_net_hdr; the byte order is the machine's.
const (
	vnetFlags, vnetGSOType, vnetHdrLen, vnetGSOSize, vnetCsumStart, vnetCsumOffset = 0, 1, 2, 4, 6, 8
)

// shape is how a unit divides into segments: each is hdr bytes of headers and
// up to gso bytes of payload. A packet that is one segment has hdr 0.
type shape struct {
	ipLen uint32 // bytes of IP packet in the unit
	gso   uint32
	hdr   uint16
	segs  uint16
}

// shapeOf reads the division from the headers of a unit. A unit whose headers
// do not fit what the virtio header says is taken as one segment: the kernel
// made it, and only the kernel can say what is wrong with it.
func shapeOf(u []byte) shape {
	ip := u[vnetLen:]
	whole := shape{ipLen: uint32(len(ip)), gso: uint32(len(ip)), segs: 1}
	kind := u[vnetGSOType] &^ gsoECN
	size := int(binary.NativeEndian.Uint16(u[vnetGSOSize:]))
	start := int(binary.NativeEndian.Uint16(u[vnetCsumStart:]))
	if size == 0 || u[vnetFlags]&vnetNeedsCsum == 0 || start < 20 {
		return whole
	}
	var hdr int
	switch {
	case (kind == gsoTCP4 || kind == gsoTCP6) && len(ip) >= start+20:
		hdr = start + int(ip[start+12]>>4)*4
	case kind == gsoUDP && len(ip) >= start+8:
		hdr = start + 8
	default:
		return whole
	}
	sum := start + int(binary.NativeEndian.Uint16(u[vnetCsumOffset:]))
	if hdr > maxHeaders || hdr >= len(ip) || sum+2 > hdr || hdr < start+8 || ipHeaderLen(ip) > start ||
		ipHeaderLen(ip) < 20 {
		return whole
	}
	return shape{
		ipLen: uint32(len(ip)),
		gso:   uint32(size),
		hdr:   uint16(hdr),
		segs:  uint16((len(ip) - hdr + size - 1) / size),
	}
}

// maxHeaders bounds the headers that a cut copies: IPv6 with extension
// headers, and TCP with all its options, are well below it.
const maxHeaders = 512

// ipBytes returns the length of segment i's IP packet.
func (s shape) ipBytes(i int) int {
	if i < int(s.segs)-1 {
		return int(s.hdr) + int(s.gso)
	}
	return int(s.ipLen) - int(s.gso)*(int(s.segs)-1)
}

// wireBytes returns the cost on the wire of segments first..first+n-1.
func (s shape) wireBytes(f link.Framing, first, n int) int64 {
	if n == 0 {
		return 0
	}
	last := f.Cost(s.ipBytes(first + n - 1))
	if n == 1 {
		return int64(last)
	}
	return int64(n-1)*int64(f.Cost(s.ipBytes(first))) + int64(last)
}

// cut writes to dst the virtio header and the packet headers that make
// segments first..first+n-1 of u a unit of their own, and returns its length
// and the payload in u that follows it. dst needs vnetLen+maxHeaders bytes.
// With ce set, which ecnOf must allow, the piece carries Congestion
// Experienced. u is not changed.
//
// What a cut changes is what the kernel's own segmentation would: IP length
// and identification, TCP sequence number, FIN and PSH (last segment only), CWR
// (first only), UDP length, and the pseudo-header's sum.
func cut(dst, u []byte, s shape, first, n int, ce bool) (int, []byte) {
	hdr := int(s.hdr)
	if hdr == 0 { // one segment: only its ECN field can change
		if !ce {
			return copy(dst, u[:vnetLen]), u[vnetLen:]
		}
		hdr = ipHeaderLen(u[vnetLen:])
	}
	copy(dst, u[:vnetLen+hdr])
	ip := dst[vnetLen : vnetLen+hdr]
	from := hdr
	to := int(s.ipLen)
	if s.hdr != 0 {
		from = hdr + first*int(s.gso)
		to = min(from+n*int(s.gso), to)
		relabel(dst[:vnetLen+hdr], s, first, n, to-from)
	}
	setIP(ip, hdr+to-from, first, ce, s.hdr != 0)
	return vnetLen + hdr, u[vnetLen+from : vnetLen+to]
}

// relabel adapts the virtio, TCP and UDP headers of a piece.
func relabel(b []byte, s shape, first, n, payload int) {
	kind := b[vnetGSOType] &^ gsoECN
	start := int(binary.NativeEndian.Uint16(b[vnetCsumStart:]))
	ip := b[vnetLen:]
	l4 := ip[start:]
	proto := byte(6)
	if kind == gsoUDP {
		proto = 17
		binary.BigEndian.PutUint16(l4[4:], uint16(8+payload))
	} else {
		seq := binary.BigEndian.Uint32(l4[4:])
		binary.BigEndian.PutUint32(l4[4:], seq+uint32(first)*s.gso)
		if first+n < int(s.segs) {
			l4[13] &^= tcpFIN | tcpPSH
		}
		if first > 0 {
			l4[13] &^= tcpCWR
			b[vnetGSOType] = kind
		}
	}
	if n == 1 {
		b[vnetGSOType] = 0
		binary.NativeEndian.PutUint16(b[vnetGSOSize:], 0)
	}
	binary.NativeEndian.PutUint16(b[vnetHdrLen:], s.hdr)
	at := start + int(binary.NativeEndian.Uint16(b[vnetCsumOffset:]))
	binary.BigEndian.PutUint16(ip[at:], pseudoSum(ip, proto, len(l4)+payload))
}

// setIP adapts the IP header of a piece of total bytes; first is the index of
// its first segment. moved says that length and identification change.
func setIP(ip []byte, total, first int, ce, moved bool) {
	if ip[0]>>4 == 6 {
		if moved {
			binary.BigEndian.PutUint16(ip[4:], uint16(total-40))
		}
		if ce {
			ip[1] |= ecnCE << 4
		}
		return
	}
	if moved {
		binary.BigEndian.PutUint16(ip[2:], uint16(total))
		binary.BigEndian.PutUint16(ip[4:], binary.BigEndian.Uint16(ip[4:])+uint16(first))
	}
	if ce {
		ip[1] |= ecnCE
	}
	h := ipHeaderLen(ip)
	binary.BigEndian.PutUint16(ip[10:], 0)
	binary.BigEndian.PutUint16(ip[10:], ^fold(sum(ip[:h], 0)))
}

// ipHeaderLen returns the length of the fixed part of an IP header.
func ipHeaderLen(ip []byte) int {
	if ip[0]>>4 == 6 {
		return 40
	}
	return int(ip[0]&0xf) * 4
}

// ecnOf returns the ECN field of an IP header: 0 is not ECN-capable, as is
// what is not an IP packet.
func ecnOf(ip []byte) byte {
	switch {
	case len(ip) >= 40 && ip[0]>>4 == 6:
		return ip[1] >> 4 & ecnMask
	case len(ip) >= 20 && ip[0]>>4 == 4 && ip[0]&0xf >= 5 && len(ip) >= ipHeaderLen(ip):
		return ip[1] & ecnMask
	}
	return 0
}

// pseudoSum returns the folded sum of the pseudo-header (RFC 9293, section
// 3.1; RFC 8200, section 8.1), which is what a device is given to complete.
func pseudoSum(ip []byte, proto byte, length int) uint16 {
	addrs := ip[12:20]
	if ip[0]>>4 == 6 {
		addrs = ip[8:40]
	}
	return fold(sum(addrs, uint64(proto)+uint64(length)))
}

// sum adds b as big-endian 16-bit words (RFC 1071); an odd byte is the high
// half of a last word.
func sum(b []byte, acc uint64) uint64 {
	for len(b) >= 8 {
		var carry uint64
		acc, carry = bits.Add64(acc, binary.BigEndian.Uint64(b), 0)
		acc += carry
		b = b[8:]
	}
	// What is left is shorter than a word of the loop; its carry is kept too.
	var tail [8]byte
	copy(tail[:], b)
	acc, carry := bits.Add64(acc, binary.BigEndian.Uint64(tail[:]), 0)
	return acc + carry
}

// fold reduces a ones' complement sum to 16 bits.
func fold(acc uint64) uint16 {
	for acc>>16 != 0 {
		acc = acc>>16 + acc&0xffff
	}
	return uint16(acc)
}

// complete computes the checksum that was left to the device, so that the
// receiver verifies it; a corrupted packet is noticed only then.
func complete(u []byte) {
	if u[vnetFlags]&vnetNeedsCsum == 0 {
		return
	}
	start := int(binary.NativeEndian.Uint16(u[vnetCsumStart:]))
	offset := int(binary.NativeEndian.Uint16(u[vnetCsumOffset:]))
	ip := u[vnetLen:]
	if start+offset+2 > len(ip) {
		return
	}
	l4 := ip[start:]
	c := ^fold(sum(l4, 0)) // the field itself holds the pseudo-header's sum
	if c == 0 {
		c = 0xffff // 0 means "no checksum" in UDP (RFC 768)
	}
	binary.BigEndian.PutUint16(l4[offset:], c)
	u[vnetFlags] &^= vnetNeedsCsum
}

// control recognises what a kernel sends on a link by itself: IPv6 to
// link-local multicast (neighbour and router discovery, MLD). Nobody on a
// point-to-point link answers it, and it must not be counted as traffic.
func control(ip []byte) bool {
	return len(ip) >= 40 && ip[0]>>4 == 6 && ip[24] == 0xff && ip[25]&0xf == 2
}

// corrupt flips one bit behind the IP header.
func corrupt(u []byte, rng *rand.Rand) {
	ip := u[vnetLen:]
	if from := ipHeaderLen(ip); from < len(ip) {
		bit := rng.IntN((len(ip) - from) * 8)
		ip[from+bit/8] ^= 1 << (bit % 8)
	}
}
