package packets

import (
	"bytes"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/wirerate/wirerate/internal/flow"
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
		"qinq of 0x9100": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(0x9100), head{0, 7, 0x81, 0, 0, 8, 8, 0}, ip}
		}},
		"authentication header": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(layers.EthernetTypeIPv4), outer(layers.IPProtocolAH),
				append(head{4, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1}, make(head, 12)...), ip}
		}},
		"erspan": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(layers.EthernetTypeIPv4), outer(layers.IPProtocolGRE),
				head{0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 7, 0, 5, 0, 0, 0, 0}, ethernet(layers.EthernetTypeIPv4), ip}
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
		"geneve": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(layers.EthernetTypeIPv4), outer(layers.IPProtocolUDP),
				&layers.UDP{SrcPort: 5000, DstPort: 6081}, head{0, 0, 0x65, 0x58, 0, 0, 5, 0},
				ethernet(layers.EthernetTypeIPv4), ip}
		}},
		"pflog of FreeBSD": {layers.LinkTypePFLog, func(ip gopacket.SerializableLayer) stack {
			return stack{append(head{61, 2}, make(head, 62)...), ip}
		}},
		"pflog of OpenBSD": {layers.LinkTypePFLog, func(ip gopacket.SerializableLayer) stack {
			return stack{append(head{100, 2}, make(head, 98)...), ip}
		}},
		"pppoe": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(layers.EthernetTypePPPoESession), head{0x11, 0, 0, 1, 2, 2, 0, 0x21}, ip}
		}},
		"pppoe of OpenBSD": {layers.LinkTypePPPEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{head{0x11, 0, 0, 1, 2, 2, 0, 0x21}, ip}
		}},
		"mpls": {layers.LinkTypeEthernet, func(ip gopacket.SerializableLayer) stack {
			return stack{ethernet(layers.EthernetTypeMPLSUnicast), head{0, 1, 0, 9, 0, 2, 1, 9}, ip}
		}},
		"ppp":                         {layers.LinkTypePPP, func(ip gopacket.SerializableLayer) stack { return stack{head{0xff, 3, 0, 0x21}, ip} }},
		"ipsec":                       {linkEnc, func(ip gopacket.SerializableLayer) stack { return stack{head{2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2}, ip} }},
		"ipv6":                        {layers.LinkTypeEthernet, onIPv6()},
		"ipv6 with extension headers": {layers.LinkTypeEthernet, onIPv6(0, 60, 43)},
	} {
		client, _ := transfer()
		snaplen, from := 96, "192.0.2.1:40000"
		if name != "raw" && len(c.wrap(outer(0))) > 3 || strings.HasPrefix(name, "pflog") { // headers end behind 96 bytes
			snaplen = 160
		}
		if strings.HasPrefix(name, "ipv6") {
			from = "[2001:db8::1]:40000"
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
		if l.From != from || l.Bytes != 140000 || l.Again != 1 || l.Vantage != "sender" {
			t.Errorf("%s: %s, %d bytes, %d sent again, captured at %s", name, l.From, l.Bytes, l.Again, l.Vantage)
		}
	}
}

// onIPv6 puts extension headers of these kinds behind an IPv6 header, in place
// of the IPv4 one.
func onIPv6(extensions ...byte) wrap {
	return func(ip gopacket.SerializableLayer) []gopacket.SerializableLayer {
		address := func(old net.IP) net.IP {
			return net.ParseIP("2001:db8::" + strconv.Itoa(int(old[len(old)-1])))
		}
		old := ip.(*layers.IPv4)
		six := &layers.IPv6{Version: 6, HopLimit: old.TTL, NextHeader: layers.IPProtocolTCP,
			SrcIP: address(old.SrcIP), DstIP: address(old.DstIP)}
		stack := []gopacket.SerializableLayer{ethernet(layers.EthernetTypeIPv6), six}
		for i, kind := range extensions {
			if i == 0 {
				six.NextHeader = layers.IPProtocol(kind)
			}
			next := byte(layers.IPProtocolTCP)
			if i+1 < len(extensions) {
				next = extensions[i+1]
			}
			h := head{next, 0, 1, 4, 0, 0, 0, 0} // padding
			if kind == 43 {
				h = head{next, 0, 4, 0, 0, 0, 0, 0} // segment routing without a segment left
			}
			stack = append(stack, h)
		}
		return stack
	}
}

// What is not read is named.
func TestNotRead(t *testing.T) {
	client, _ := transfer()
	for _, c := range []struct {
		link layers.LinkType
		head head
		want string
	}{
		{147, nil, "of the link type 147, which is not read 114"},
		{layers.LinkTypeEthernet, append(make(head, 12), 0x88, 0xf7), "EtherType 0x88f7 114"},
		{layers.LinkTypeEthernet, append(make(head, 12), 8, 6), "ARP 114"},
		{layers.LinkTypeRaw, head{0x45, 0, 0, 40, 0, 0, 0, 0, 9, 103, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}, "IP protocol 103 114"},
		{layers.LinkTypeIEEE802_11, head{0x80, 0}, "damaged or cut off 114"},
	} {
		data := written(t, c.link, func(ip gopacket.SerializableLayer) []gopacket.SerializableLayer {
			return []gopacket.SerializableLayer{c.head, ip}
		}, client)
		trace, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		a := Analyze("other", trace)
		if !strings.HasSuffix(a.Verdict, "; it holds "+c.want) || a.Duration == 0 {
			t.Errorf("%v: %s", c.want, a.Verdict)
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
		if up && l.Limit != flow.Unknown {
			t.Errorf("limited by %s, without an acknowledgement", l.Limit)
		}
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

// FuzzDecode decodes any bytes as packets of each link type.
func FuzzDecode(f *testing.F) {
	client, _ := transfer()
	for _, around := range []wrap{onEthernet, onIPv6(0, 60, 43)} {
		f.Add(uint32(0), uint16(layers.LinkTypeEthernet), serialized(f, around, client[0]))
	}
	raw := serialized(f, func(ip gopacket.SerializableLayer) []gopacket.SerializableLayer {
		return []gopacket.SerializableLayer{ip}
	}, client[0])
	for link, before := range map[layers.LinkType]head{layers.LinkTypeRaw: nil, layers.LinkTypeNull: {2, 0, 0, 0},
		layers.LinkTypeLoop: {0, 0, 0, 2}, layers.LinkTypePFLog: append(head{61, 2}, make(head, 62)...),
		layers.LinkTypePPPEthernet: {0x11, 0, 0, 1, 2, 2, 0, 0x21}, layers.LinkTypePPP: {0xff, 3, 0, 0x21},
		layers.LinkTypeIEEE80211Radio: {0, 0, 8, 0, 0, 0, 0, 0, 8}, layers.LinkTypeFDDI: nil,
		layers.LinkTypeLinuxSLL:  {0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0},
		layers.LinkTypeLinuxSLL2: {8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0}} {
		f.Add(uint32(0), uint16(link), append([]byte(before), raw...))
	}
	d := newDecoder()
	f.Fuzz(func(t *testing.T, more uint32, link uint16, data []byte) {
		var p packet
		ci := gopacket.CaptureInfo{Length: len(data) + int(more), CaptureLength: len(data)}
		if d.decode(layers.LinkType(link), data, ci, &p) && (p.Len < 0 || p.Len > maxSegment || p.Options.SACKs > 4) {
			t.Errorf("%+v", p)
		}
	})
}
