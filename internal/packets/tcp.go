package packets

import (
	"errors"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/wirerate/wirerate/internal/flow"
)

// tcp is a TCP header whose options the capture may have cut off, which the
// library's refuses.
type tcp struct {
	layers.BaseLayer
	offset int // of the payload
}

const tcpLength = 20

func (*tcp) LayerType() gopacket.LayerType     { return layers.LayerTypeTCP }
func (*tcp) CanDecode() gopacket.LayerClass    { return layers.LayerTypeTCP }
func (*tcp) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

func (t *tcp) DecodeFromBytes(data []byte, _ gopacket.DecodeFeedback) error {
	if len(data) < tcpLength {
		return errors.New("a short TCP header")
	}
	if t.offset = int(data[12]>>4) * 4; t.offset < tcpLength {
		return errors.New("a damaged TCP header")
	}
	t.BaseLayer = layers.BaseLayer{Contents: data[:min(t.offset, len(data))]}
	return nil
}

// segment tells what the header says of a segment of so many bytes with it.
func (t *tcp) segment(s *flow.Segment, length int) {
	c := t.Contents
	s.Len = min(max(0, length-t.offset), maxSegment)
	s.Seq, s.Ack, s.Window = be32(c[4:]), be32(c[8:]), be16(c[14:])
	s.Flags = uint16(c[13]) | uint16(c[12]&1)<<8 // the bits are flow's
	s.Options = options(c[tcpLength:])
	s.Options.Cut = len(c) < t.offset
	s.Options.Length = uint8(t.offset - tcpLength)
}

// options reads as many as are whole.
func options(list []byte) flow.Options {
	o := flow.Options{Scale: -1}
	for len(list) > 0 && list[0] != layers.TCPOptionKindEndList {
		if list[0] == layers.TCPOptionKindNop {
			list = list[1:]
			continue
		}
		if len(list) < 2 || list[1] < 2 || int(list[1]) > len(list) {
			break
		}
		option(&o, list[0], list[2:list[1]])
		list = list[list[1]:]
	}
	return o
}

func option(o *flow.Options, kind byte, v []byte) {
	switch {
	case kind == layers.TCPOptionKindMSS && len(v) == 2:
		o.MSS = be16(v)
	case kind == layers.TCPOptionKindWindowScale && len(v) == 1:
		o.Scale = int8(min(v[0], 14))
	case kind == layers.TCPOptionKindSACKPermitted:
		o.SACKPermitted = true
	case kind == layers.TCPOptionKindTimestamps && len(v) == 8:
		o.HasTimestamp, o.TSVal, o.TSEcr = true, be32(v), be32(v[4:])
	case kind == layers.TCPOptionKindSACK:
		for ; len(v) >= 8 && o.SACKs < len(o.SACK); v = v[8:] {
			o.SACK[o.SACKs] = flow.Range{First: be32(v), Last: be32(v[4:])}
			o.SACKs++
		}
	}
}
