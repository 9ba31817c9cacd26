package packets

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// shown is a packet of a test's connection.
type shown struct {
	at  time.Duration
	up  bool
	tcp layers.TCP
	n   int // bytes of data
	id  uint16
	ttl uint8
	tos uint8
}

// wrap puts the layers of a link before an IP packet.
type wrap func(ip gopacket.SerializableLayer) []gopacket.SerializableLayer

func ethernet(next layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6), EthernetType: next}
}

func onEthernet(ip gopacket.SerializableLayer) []gopacket.SerializableLayer {
	return []gopacket.SerializableLayer{ethernet(layers.EthernetTypeIPv4), ip}
}

// written is a pcap file of packets, 96 bytes of each.
func written(t testing.TB, link layers.LinkType, around wrap, all []shown) []byte {
	return snapped(t, 96, link, around, all)
}

func snapped(t testing.TB, snaplen int, link layers.LinkType, around wrap, all []shown) []byte {
	t.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriterNanos(&b)
	if err := w.WriteFileHeader(uint32(snaplen), link); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		data := serialized(t, around, p)
		ci := gopacket.CaptureInfo{Timestamp: time.Unix(1_700_000_000, 0).Add(p.at), Length: len(data),
			CaptureLength: min(snaplen, len(data))}
		if err := w.WritePacket(ci, data[:ci.CaptureLength]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func serialized(t testing.TB, around wrap, p shown) []byte {
	t.Helper()
	ip := &layers.IPv4{Version: 4, TTL: max(p.ttl, 1), TOS: p.tos, Id: p.id, Protocol: layers.IPProtocolTCP,
		SrcIP: net.IP{192, 0, 2, 1}, DstIP: net.IP{192, 0, 2, 2}}
	tcp := p.tcp
	tcp.SrcPort, tcp.DstPort = 40000, 80
	if !p.up {
		ip.SrcIP, ip.DstIP = ip.DstIP, ip.SrcIP
		tcp.SrcPort, tcp.DstPort = 80, 40000
	}
	_ = tcp.SetNetworkLayerForChecksum(ip)
	out := gopacket.NewSerializeBuffer()
	stack := append(around(ip), &tcp, gopacket.Payload(make([]byte, p.n)))
	if err := gopacket.SerializeLayers(out, gopacket.SerializeOptions{FixLengths: true}, stack...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func mssOption(mss byte) []layers.TCPOption {
	return []layers.TCPOption{{OptionType: layers.TCPOptionKindMSS, OptionLength: 4, OptionData: []byte{5, mss}}}
}

// transfer is a connection of ten windows of ten segments in a round trip of
// 20 ms, as the client's end sees it and as the server's does: a segment is lost
// on the way, the box between lowers the MSS, and the server's clock is 3 s fast.
func transfer() (client, server []shown) {
	const oneWay, fast = 10 * time.Millisecond, 3 * time.Second
	now := time.Duration(0)
	pass := func(p shown, lost bool, behind func(*shown)) {
		p.at, p.ttl = now, 64
		far := p
		far.ttl = 63
		if behind != nil {
			behind(&far)
		}
		if p.up {
			far.at = now + oneWay + fast
			client = append(client, p)
			if !lost {
				server = append(server, far)
			}
			return
		}
		p.at, far.at = now+2*oneWay, now+oneWay+fast // an answer at once
		client, server = append(client, p), append(server, far)
	}
	lower := func(p *shown) { p.tcp.Options = mssOption(150) }
	pass(shown{up: true, tcp: layers.TCP{SYN: true, Window: 65535, Options: mssOption(180)}}, false, lower)
	pass(shown{tcp: layers.TCP{SYN: true, ACK: true, Ack: 1, Window: 14600, Options: mssOption(180)}}, false, nil)
	now += 2*oneWay + time.Microsecond
	pass(shown{up: true, tcp: layers.TCP{ACK: true, Seq: 1, Ack: 1, Window: 65535}}, false, nil)
	for i := range uint32(10) {
		seq := 1 + i*14000
		for j := range uint32(10) {
			pass(shown{up: true, n: 1400, tcp: layers.TCP{ACK: true, Seq: seq + j*1400, Ack: 1, Window: 65535}}, i == 4 && j == 9, nil)
			now += time.Microsecond
		}
		if i == 4 {
			now += 300 * time.Millisecond
			pass(shown{up: true, n: 1400, tcp: layers.TCP{ACK: true, Seq: seq + 9*1400, Ack: 1, Window: 65535}}, false, nil)
		}
		pass(shown{tcp: layers.TCP{ACK: true, Seq: 1, Ack: seq + 14000, Window: 14600}}, false, nil)
		now += 2*oneWay + time.Microsecond
	}
	return client, server
}

func TestBothEnds(t *testing.T) {
	client, server := transfer()
	file := func(name string, all []shown) File {
		data := written(t, layers.LinkTypeEthernet, onEthernet, all)
		return File{name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
	}
	a, err := AnalyzeBoth(file("server", server), file("client", client))
	if err != nil {
		t.Fatal(err)
	}
	b := a.Both
	if b.Sender != "client" || b.Receiver != "server" || b.Between != 1 || b.Beyond != 0 {
		t.Errorf("%+v", b)
	}
	if o := b.Offset; !o.Known || o.Seconds < 2.9999 || o.Seconds > 3.0001 {
		t.Errorf("the clock is %v before the other's, 3 s are expected", o)
	}
	if b.Forward == nil || b.Forward.Min < 9.9 || b.Forward.Longest > 10.1 {
		t.Errorf("delay of data %+v, 10 ms are expected", b.Forward)
	}
	want := map[string]bool{"SYN MSS 1460 1430": true, "SYN TTL 64 63": true, "SYN/ACK TTL 63 64": true}
	for _, c := range b.Changed {
		if s := c.Packet + " " + c.What + " " + c.Before + " " + c.Behind; !want[s] {
			t.Errorf("%s is not expected", s)
		} else {
			delete(want, s)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// TestBothEndsOfPartialCaptures holds that a capture that ends early, and one that lost packets, are not taken for losses on
// the path.
func TestBothEndsOfPartialCaptures(t *testing.T) {
	client, server := transfer()
	file := func(name string, all []shown) File {
		data := written(t, layers.LinkTypeEthernet, onEthernet, all)
		return File{name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
	}
	full := func(p shown) bool { return p.n == 1400 }
	var holed []shown
	seen := 0
	for _, p := range server {
		if full(p) {
			seen++
		}
		if !full(p) || seen != 13 && seen != 22 {
			holed = append(holed, p)
		}
	}
	acked := 0
	var fewAcks []shown
	for _, p := range client {
		if !p.up && !p.tcp.SYN {
			if acked++; acked%4 == 0 {
				continue
			}
		}
		fewAcks = append(fewAcks, p)
	}
	for _, c := range []struct {
		name            string
		client, server  []shown
		between, missed int64
		acks            int
	}{
		{"whole", client, server, 1, 0, 0},
		{"the receiver's ends early", client, server[:len(server)*3/4], 1, 0, 0},
		{"it ends before the loss", client, server[:len(server)/4], 0, 0, 0},
		{"the receiver's has holes", client, holed, 1, 2, 0},
		{"acknowledgements are lost", fewAcks, server, 1, 0, acked / 4},
	} {
		a, err := AnalyzeBoth(file("server", c.server), file("client", c.client))
		if err != nil {
			t.Fatal(err)
		}
		if b := a.Both; b.Between != c.between || b.Missed != c.missed || b.AcksLost != c.acks {
			t.Errorf("%s: %d lost between, %d missed, %d of %d acknowledgements lost; %d, %d, %d are expected", c.name, b.Between,
				b.Missed, b.AcksLost, b.Acks, c.between, c.missed, c.acks)
		}
	}
}
