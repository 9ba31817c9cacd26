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
	return nil, fmt.Errorf("not a packet capture: it begins with %q; pcap and pcapng are read, "+
		"also in gzip, zstd and bzip2", magic)
}

func notCapture(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("empty: a packet capture is expected")
	}
	return err
}

func (s *source) ng(r io.Reader) error {
	stats, checked := map[int]uint64{}, 0 // interfaces whose clock is one that is read
	opt := pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true,
		StatisticsCallback: func(i int, n pcapgo.NgInterfaceStatistics) {
			if len(stats) < 1<<12 && n.PacketsDropped != pcapgo.NgNoValue64 {
				s.drops += n.PacketsDropped - min(stats[i], n.PacketsDropped)
				stats[i] = n.PacketsDropped
			}
		},
		SectionEndCallback: func([]pcapgo.NgInterface, pcapgo.NgSectionInfo) {
			clear(stats)
			checked = 0
		}}
	p, err := pcapgo.NewNgReader(r, opt)
	if err != nil {
		return fmt.Errorf("a damaged header, or of a version that is not read: %w", err)
	}
	s.next = func() ([]byte, gopacket.CaptureInfo, error) {
		data, ci, err := p.ZeroCopyReadPacketData()
		if n := p.NInterfaces(); err == nil && n != checked {
			checked, err = n, exact(p, n)
		}
		return data, ci, err
	}
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

var errClock = errors.New("its times are not read")

// exact refuses the interfaces whose times are in fractions that the library
// rounds: the seconds of a clock of 2^-30 would be too long by 7%.
func exact(p *pcapgo.NgReader, n int) error {
	for i := range n {
		in, err := p.Interface(i)
		if err != nil {
			return err
		}
		const rest = 9 // powers of two in 10^9
		if r := in.TimestampResolution; r.Binary() && r.Exponent() > rest {
			return fmt.Errorf("%w: those of interface %d are in units of 2^-%d s; editcap -F nsecpcap IN OUT converts them",
				errClock, i, r.Exponent())
		}
	}
	return nil
}
