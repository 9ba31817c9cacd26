package flow

// Flags of a TCP header (RFC 9293).
const (
	FIN = 1 << iota
	SYN
	RST
	PSH
	ACK
	URG
	ECE
	CWR
	AE // RFC 9768: AccECN, formerly NS
)

// Segment is what is known of one captured TCP segment.
type Segment struct {
	Number   int64 // of the packet in its capture, from 1
	Time     int64 // nanoseconds since 1970
	Seq, Ack uint32
	Window   uint16 // as on the wire, not scaled
	Flags    uint16
	Len      int    // bytes of payload on the wire, also of what the capture cut off
	ID       uint16 // of the IPv4 header, 0 in IPv6
	ECN      uint8  // the two bits of the IP header
	DSCP     uint8  // the six bits before them
	TTL      uint8
	Options  Options
}

// Options are the TCP options that matter here.
type Options struct {
	MSS           uint16 // 0: not offered
	Scale         int8   // window scale, -1: not offered (RFC 7323)
	SACKPermitted bool
	HasTimestamp  bool
	TSVal, TSEcr  uint32
	SACK          [4]Range // RFC 2018; the first may be a duplicate's (RFC 2883)
	SACKs         int
	Cut           bool  // the capture cut some off: what is not here may have been offered
	Length        uint8 // of all, also of those that were cut off
}

// Range is a part of the sequence space: First up to, not including, Last.
type Range struct{ First, Last uint32 }

func (s *Segment) is(flag uint16) bool { return s.Flags&flag != 0 }

// unwrap continues a position in the sequence space, which wraps at 2^32,
// from one nearby.
func unwrap(near int64, seq uint32) int64 { return near + int64(int32(seq-uint32(near))) }
