package packets

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/klauspost/compress/zstd"
)

// Files of every order of bytes, resolution and compression say the same.
func TestFiles(t *testing.T) {
	client, _ := transfer()
	plain := written(t, layers.LinkTypeEthernet, onEthernet, client)
	var zipped bytes.Buffer
	z, err := zstd.NewWriter(&zipped)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = z.Write(plain)
	_ = z.Close()
	big, micro := bytes.Clone(plain), bytes.Clone(plain)
	swap(big)
	binary.LittleEndian.PutUint32(micro, 0xa1b2c3d4)
	for at := 24; at < len(micro); at += 16 + int(binary.LittleEndian.Uint32(micro[at+8:])) {
		binary.LittleEndian.PutUint32(micro[at+4:], binary.LittleEndian.Uint32(micro[at+4:])/1000)
	}
	for name, data := range map[string][]byte{"nanoseconds": plain, "microseconds": micro, "big endian": big,
		"zstd": zipped.Bytes()} {
		trace, err := Read(bytes.NewReader(data))
		if err != nil || len(trace.Flows) != 1 {
			t.Errorf("%s: %v, %+v", name, err, trace)
			continue
		}
		l := Analyze(name, trace).Flows[0]
		if l.Bytes != 140000 || l.Again != 1 || l.RTT.Min < 20 || l.RTT.Min > 20.1 {
			t.Errorf("%s: %d bytes, %d sent again, RTT %v", name, l.Bytes, l.Again, l.RTT)
		}
	}
}

// swap turns the numbers of a pcap file's headers round.
func swap(b []byte) {
	turn := func(b []byte, sizes ...int) {
		for _, n := range sizes {
			for i := range n / 2 {
				b[i], b[n-1-i] = b[n-1-i], b[i]
			}
			b = b[n:]
		}
	}
	turn(b, 4, 2, 2, 4, 4, 4, 4)
	for at := 24; at < len(b); {
		n := int(binary.LittleEndian.Uint32(b[at+8:]))
		turn(b[at:], 4, 4, 4, 4)
		at += 16 + n
	}
}

// A pcapng file of two sections, each with two interfaces of different links,
// says how many packets the capture itself dropped.
func TestSections(t *testing.T) {
	client, _ := transfer()
	var b bytes.Buffer
	for half := range 2 {
		w, err := pcapgo.NewNgWriter(&b, layers.LinkTypeEthernet)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := w.AddInterface(pcapgo.NgInterface{LinkType: layers.LinkTypeRaw, SnapLength: 96})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range client[half*len(client)/2 : (half+1)*len(client)/2] {
			ci := gopacket.CaptureInfo{Timestamp: time.Unix(1_700_000_000, 0).Add(p.at)}
			around := onEthernet
			if i%2 == 1 {
				ci.InterfaceIndex = raw
				around = func(ip gopacket.SerializableLayer) []gopacket.SerializableLayer {
					return []gopacket.SerializableLayer{ip}
				}
			}
			data := serialized(t, around, p)
			ci.Length, ci.CaptureLength = len(data), min(96, len(data))
			if err := w.WritePacket(ci, data[:ci.CaptureLength]); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2 {
			stats := pcapgo.NgInterfaceStatistics{LastUpdate: time.Unix(1_700_000_009, 0), PacketsReceived: 9,
				PacketsDropped: uint64(3 + i)}
			if err := w.WriteInterfaceStats(i, stats); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	trace, err := Read(&b)
	if err != nil || len(trace.Flows) != 1 || trace.Drops != 14 || trace.Read != int64(len(client)) {
		t.Fatalf("%v, %+v", err, trace)
	}
	if l := Analyze("sections", trace).Flows[0]; l.Bytes != 140000 || l.Again != 1 {
		t.Errorf("%d bytes, %d sent again", l.Bytes, l.Again)
	}
}
