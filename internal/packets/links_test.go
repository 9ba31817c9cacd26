package packets

import (
	"bytes"
	"net"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// head is bytes before an IP packet that no layer of the library writes.
type head []byte

func (h head) LayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

func (h head) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	to, err := b.PrependBytes(len(h))
	copy(to, h)
	return err
}

// Behind every link and tunnel the same connection is found.
func TestLinks(t *testing.T) {
	outer := func(next layers.IPProtocol) *layers.IPv4 {
		return &layers.IPv4{Version: 4, TTL: 9, Protocol: next, SrcIP: net.IP{10, 9, 9, 1}, DstIP: net.IP{10, 9, 9, 2}}
	}
	type stack = []gopacket.SerializableLayer
	for name, c := range map[string]struct {
		link layers.LinkType
		wrap wrap
	}{
		"ethernet": {layers.LinkTypeEthernet, onEthernet},
		"vlan": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(layers.EthernetTypeDot1Q), &layers.Dot1Q{VLANIdentifier: 7, Type: layers.EthernetTypeIPv4}, ip}
		}},
		"qinq": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(layers.EthernetTypeQinQ), &layers.Dot1Q{VLANIdentifier: 7, Type: layers.EthernetTypeDot1Q},
				&layers.Dot1Q{VLANIdentifier: 8, Type: layers.EthernetTypeIPv4}, ip}
		}},
		"gre": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(layers.EthernetTypeIPv4), outer(layers.IPProtocolGRE),
				&layers.GRE{Protocol: layers.EthernetTypeIPv4}, ip}
		}},
		"vxlan": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(layers.EthernetTypeIPv4), outer(layers.IPProtocolUDP),
				&layers.UDP{SrcPort: 5000, DstPort: 4789}, &layers.VXLAN{ValidIDFlag: true, VNI: 5},
				ethernet(layers.EthernetTypeIPv4), ip}
		}},
		"raw":     {layers.LinkTypeRaw, func(ip gopacket.SerializableLayer) stack { return stack{ip} }},
		"openbsd": {layers.LinkTypeLoop, func(ip gopacket.SerializableLayer) stack { return stack{head{0, 0, 0, 2}, ip} }},
		"null":    {layers.LinkTypeNull, func(ip gopacket.SerializableLayer) stack { return stack{head{2, 0, 0, 0}, ip} }},
		"sll": {layers.LinkTypeLinuxSLL, func(ip gopacket.SerializableLayer) stack {
			return stack{head{0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0}, ip}
		}},
		"sll2": {layers.LinkTypeLinuxSLL2, func(ip gopacket.SerializableLayer) stack {
			return stack{head{8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0}, ip}
		}},
	} {
		client, _ := transfer()
		snaplen := 96
		if name == "vxlan" { // its headers end at 104
			snaplen = 128
		}
		trace, err := Read(bytes.NewReader(snapped(t, snaplen, c.link, c.wrap, client)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(trace.Flows) != 1 || trace.Read != trace.Packets {
			t.Errorf("%s: %d flows, %d of %d packets read", name, len(trace.Flows), trace.Read, trace.Packets)
			continue
		}
		l := Analyze(name, trace).Flows[0]
		if l.From != "192.0.2.1:40000" || l.Bytes != 140000 || l.Again != 1 || l.Vantage != "sender" {
			t.Errorf("%s: %s, %d bytes, %d sent again, captured at %s", name, l.From, l.Bytes, l.Again, l.Vantage)
		}
	}
}

// One direction alone says what it can, and no more.
func TestOneDirection(t *testing.T) {
	client, _ := transfer()
	for _, up := range []bool{true, false} {
		var half []shown
		for _, p := range client {
			if p.up == up {
				half = append(half, p)
			}
		}
		trace, err := Read(bytes.NewReader(written(t, layers.LinkTypeEthernet, onEthernet, half)))
		if err != nil {
			t.Fatal(err)
		}
		l := Analyze("half", trace).Flows[0]
		if l.Vantage != "unknown" || l.RTT != nil {
			t.Errorf("up %v: captured at %s, round trip %v", up, l.Vantage, l.RTT)
		}
		if up && (l.Bytes != 140000 || l.Again != 1) {
			t.Errorf("%d bytes, %d sent again", l.Bytes, l.Again)
		}
	}
}

// AccECN is told by the three flags of the handshake (RFC 9768, table 2).
func TestAccECN(t *testing.T) {
	client, _ := transfer()
	client[0].tcp.ECE, client[0].tcp.CWR, client[0].tcp.NS = true, true, true
	client[1].tcp.CWR = true
	trace, err := Read(bytes.NewReader(written(t, layers.LinkTypeEthernet, onEthernet, client)))
	if err != nil {
		t.Fatal(err)
	}
	if o := Analyze("ecn", trace).Flows[0].Opened; !o.From.AccECN || !o.To.AccECN {
		t.Errorf("%+v, %+v", o.From, o.To)
	}
}
