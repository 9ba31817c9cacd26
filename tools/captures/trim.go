package main

import (
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

const snaplen = 96

// trim copies the first packets of a pcap, 96 bytes of each; OUT ends in .pcap
// or .pcapng, and .gz behind it.
func trim(args []string) (err error) {
	f := flag.NewFlagSet("trim", flag.ExitOnError)
	most := f.Int("packets", 1000, "the first `N` packets")
	_ = f.Parse(args)
	if f.NArg() != 2 {
		return errors.New("trim: IN and OUT are expected")
	}
	in, err := os.Open(f.Arg(0))
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := pcapgo.NewReader(in)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Arg(0), err)
	}
	out, err := os.Create(f.Arg(1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	var w io.Writer = out
	name, zipped := strings.CutSuffix(f.Arg(1), ".gz")
	if zipped {
		z, _ := gzip.NewWriterLevel(out, gzip.BestCompression)
		defer func() { err = errors.Join(err, z.Close()) }()
		w = z
	}
	write, flush, err := writer(w, r.LinkType(), strings.HasSuffix(name, "ng"))
	if err != nil {
		return err
	}
	for range *most {
		data, ci, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		data = data[:min(len(data), snaplen)]
		ci.CaptureLength = len(data)
		if err := write(ci, data); err != nil {
			return err
		}
	}
	return flush()
}

// writer begins a pcap or pcapng file.
func writer(w io.Writer, link layers.LinkType, ng bool) (write func(gopacket.CaptureInfo, []byte) error,
	flush func() error, err error) {
	if !ng {
		p := pcapgo.NewWriter(w)
		return p.WritePacket, func() error { return nil }, p.WriteFileHeader(snaplen, link)
	}
	p, err := pcapgo.NewNgWriterInterface(w, pcapgo.NgInterface{LinkType: link, SnapLength: snaplen},
		pcapgo.NgWriterOptions{})
	if err != nil {
		return nil, nil, err
	}
	return func(ci gopacket.CaptureInfo, data []byte) error {
		ci.InterfaceIndex = 0
		return p.WritePacket(ci, data)
	}, p.Flush, nil
}
