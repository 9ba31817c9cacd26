// Package packets reads packet captures, from any system, and finds what bound
// each connection in them.
package packets

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/wirerate/wirerate/internal/input"
)

// Is tells whether what r yields begins like a capture, as it is or compressed as
// Wireshark and tcpdump's users compress them.
func Is(r io.Reader) bool {
	b, err := unpack(r, 4096)
	if err != nil {
		return false
	}
	magic, err := b.Peek(4)
	return err == nil && (isPcap(magic) || isPcapng(magic))
}

func isPcapng(magic []byte) bool { return string(magic) == "\x0a\x0d\x0d\x0a" }

func isPcap(magic []byte) bool {
	for _, m := range []uint32{0xa1b2c3d4, 0xa1b23c4d} {
		if binary.LittleEndian.Uint32(magic) == m || binary.BigEndian.Uint32(magic) == m {
			return true
		}
	}
	return false
}

// unpack reads through compression, in this goroutine.
func unpack(r io.Reader, size int) (*bufio.Reader, error) {
	text, _, err := input.Unpack(r, 1)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(text, size), nil
}

// source yields the packets of a capture file.
type source struct {
	next  func() ([]byte, gopacket.CaptureInfo, error)
	link  func(gopacket.CaptureInfo) layers.LinkType
	drops uint64 // that the capture itself counted, pcapng alone
}

func newSource(r io.Reader) (*source, error) {
	b, err := unpack(r, 1<<18)
	if err != nil {
		return nil, notCapture(err)
	}
	magic, err := b.Peek(4)
	if err != nil {
		return nil, notCapture(err)
	}
	s := &source{}
	switch {
	case isPcapng(magic):
		return s, s.ng(b)
	case isPcap(magic):
		p, err := pcapgo.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("a damaged header, or of a version that is not read: %w", err)
		}
		s.next = p.ZeroCopyReadPacketData
		s.link = func(gopacket.CaptureInfo) layers.LinkType { return p.LinkType() }
		return s, nil
	}
	return nil, fmt.Errorf("not a packet capture: it begins with %q; pcap and pcapng are read, also in gzip, zstd and bzip2",
		magic)
}

func notCapture(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("empty: a packet capture is expected")
	}
	return err
}

func (s *source) ng(r io.Reader) error {
	stats := map[int]uint64{}
	opt := pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true,
		StatisticsCallback: func(i int, n pcapgo.NgInterfaceStatistics) {
			if len(stats) < 1<<12 && n.PacketsDropped != pcapgo.NgNoValue64 {
				s.drops += n.PacketsDropped - min(stats[i], n.PacketsDropped)
				stats[i] = n.PacketsDropped
			}
		},
		SectionEndCallback: func([]pcapgo.NgInterface, pcapgo.NgSectionInfo) { clear(stats) }}
	p, err := pcapgo.NewNgReader(r, opt)
	if err != nil {
		return fmt.Errorf("a damaged header, or of a version that is not read: %w", err)
	}
	s.next = p.ZeroCopyReadPacketData
	s.link = func(ci gopacket.CaptureInfo) layers.LinkType {
		if len(ci.AncillaryData) > 0 {
			if t, ok := ci.AncillaryData[0].(layers.LinkType); ok {
				return t
			}
		}
		return layers.LinkTypeEthernet
	}
	return nil
}
