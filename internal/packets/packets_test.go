package packets

import (
	"bytes"
	"compress/gzip"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/wirerate/wirerate/internal/flow"
)

// capture writes a connection that a window of ten segments limits.
func capture(t testing.TB, pcapng bool) []byte {
	t.Helper()
	var b bytes.Buffer
	var write func(gopacket.CaptureInfo, []byte) error
	if pcapng {
		w, err := pcapgo.NewNgWriter(&b, layers.LinkTypeEthernet)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Flush()
		write = func(ci gopacket.CaptureInfo, data []byte) error {
			if err := w.WritePacket(ci, data); err != nil {
				return err
			}
			return w.Flush()
		}
	} else {
		w := pcapgo.NewWriterNanos(&b)
		if err := w.WriteFileHeader(96, layers.LinkTypeEthernet); err != nil {
			t.Fatal(err)
		}
		write = w.WritePacket
	}
	now := time.Unix(1_700_000_000, 0)
	send := func(up bool, tcp layers.TCP, n int) {
		ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP,
			SrcIP: net.IP{192, 0, 2, 1}, DstIP: net.IP{192, 0, 2, 2}}
		tcp.SrcPort, tcp.DstPort = 40000, 80
		if !up {
			ip.SrcIP, ip.DstIP = ip.DstIP, ip.SrcIP
			tcp.SrcPort, tcp.DstPort = 80, 40000
		}
		_ = tcp.SetNetworkLayerForChecksum(ip)
		out := gopacket.NewSerializeBuffer()
		eth := &layers.Ethernet{SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6),
			EthernetType: layers.EthernetTypeIPv4}
		if err := gopacket.SerializeLayers(out, gopacket.SerializeOptions{FixLengths: true}, eth, ip, &tcp,
			gopacket.Payload(make([]byte, n))); err != nil {
			t.Fatal(err)
		}
		data := out.Bytes()
		if err := write(gopacket.CaptureInfo{Timestamp: now, Length: len(data), CaptureLength: min(96, len(data))},
			data[:min(96, len(data))]); err != nil {
			t.Fatal(err)
		}
	}
	mss := []layers.TCPOption{{OptionType: layers.TCPOptionKindMSS, OptionLength: 4, OptionData: []byte{5, 180}}}
	send(true, layers.TCP{SYN: true, Window: 65535, Options: mss}, 0)
	now = now.Add(20 * time.Millisecond)
	send(false, layers.TCP{SYN: true, ACK: true, Ack: 1, Window: 14600, Options: mss}, 0)
	now = now.Add(time.Microsecond)
	send(true, layers.TCP{ACK: true, Seq: 1, Ack: 1, Window: 65535}, 0)
	for seq := uint32(1); seq < 50*14600; seq += 14600 {
		for i := range uint32(10) {
			send(true, layers.TCP{ACK: true, Seq: seq + i*1460, Ack: 1, Window: 65535}, 1460)
			now = now.Add(10 * time.Microsecond)
		}
		now = now.Add(20 * time.Millisecond)
		send(false, layers.TCP{ACK: true, Seq: 1, Ack: seq + 14600, Window: 14600}, 0)
		now = now.Add(10 * time.Microsecond)
	}
	return b.Bytes()
}

func TestRead(t *testing.T) {
	plain := capture(t, false)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(plain)
	_ = z.Close()
	for name, data := range map[string][]byte{"pcap": plain, "pcapng": capture(t, true), "gzip": zipped.Bytes()} {
		if !Is(bytes.NewReader(data)) {
			t.Errorf("%s: not taken for a capture", name)
		}
		trace, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a := Analyze(name, trace)
		if len(a.Flows) != 1 {
			t.Fatalf("%s: %d flows", name, len(a.Flows))
		}
		l := a.Flows[0]
		if l.Limit != flow.PeerWindow || l.Bytes != 50*14600 || l.Vantage != "sender" || l.MSS != 1460 {
			t.Errorf("%s: %s, %d bytes, captured at the %s, MSS %d", name, l.Limit, l.Bytes, l.Vantage, l.MSS)
		}
		if l.RTT == nil || l.RTT.Min < 20 || l.RTT.Min > 20.2 {
			t.Errorf("%s: round trip %v", name, l.RTT)
		}
	}
}

// A file that is cut off is read as far as it goes.
func TestCutOff(t *testing.T) {
	data := capture(t, false)
	trace, err := Read(bytes.NewReader(data[:len(data)/2+3]))
	if err != nil || !trace.Truncated || len(trace.Flows) != 1 {
		t.Errorf("%v, %+v", err, trace)
	}
}

func TestNoCapture(t *testing.T) {
	for _, s := range []string{"", "x", "tcp 0 0 *.80", "\x1f\x8bnot gzip"} {
		if Is(strings.NewReader(s)) {
			t.Errorf("%q is taken for a capture", s)
		}
		if _, err := Read(strings.NewReader(s)); err == nil {
			t.Errorf("%q: no error", s)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(capture(f, false)[:2000])
	f.Add(capture(f, true)[:2000])
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := Read(bytes.NewReader(data))
		if err == nil {
			Analyze("fuzz", trace)
		}
	})
}

// A window that the handshake's scale does not let grow is the scale's doing.
func TestScaleEnds(t *testing.T) {
	for scale, want := range map[int]bool{2: true, 3: false} {
		l := Life{Window: 65535 << 2, Opened: Opened{From: &Offer{Scale: &scale}, To: &Offer{Scale: &scale}}}
		fixes := l.fixes(flow.PeerWindow, flow.Direction{})
		if said := fixes[len(fixes)-1].Setting == "kern.ipc.maxsockbuf"; said != want {
			t.Errorf("scale %d: %+v", scale, fixes)
		}
	}
}
