package packets

import (
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/wirerate/wirerate/internal/flow"
)

// maxSegment is what a card may divide or join: BIG TCP's 512 KiB.
const maxSegment = 1 << 19

// What switches wrote as the outer tag's EtherType before 802.1ad.
const (
	vlan9100 = 0x9100
	vlan9200 = 0x9200
	vlan9300 = 0x9300
)

// endpoints name a flow as one packet has it.
type endpoints struct {
	from, to netip.AddrPort
	udp      bool
}

// packet is what is kept of a decoded packet.
type packet struct {
	endpoints
	flow.Segment
	iface   int
	payload []byte // of UDP, what was captured, until the next packet
}

// decoder finds the innermost IP packet, behind VLAN tags and tunnels.
type decoder struct {
	first   map[gopacket.LayerType]*gopacket.DecodingLayerParser
	decoded []gopacket.LayerType
	end     error // why the last packet was read no further
	eth     layers.Ethernet
	ip4     layers.IPv4
	ip6     layers.IPv6
	tcp     tcp
	udp     layers.UDP
}

func newDecoder() *decoder {
	d := &decoder{first: map[gopacket.LayerType]*gopacket.DecodingLayerParser{}}
	all := gopacket.DecodingLayerArray(nil)
	var set gopacket.DecodingLayerContainer = all
	for _, l := range []gopacket.DecodingLayer{
		&d.eth, &layers.Dot1Q{}, &layers.LinuxSLL{}, &layers.LinuxSLL2{}, &layers.Loopback{},
		&layers.PFLog{}, &layers.LLC{}, &layers.SNAP{}, &session{}, &layers.GRE{}, &layers.VXLAN{}, &layers.Geneve{},
		&layers.IPv6ExtensionSkipper{}, &layers.IPv6Fragment{},
		&layers.IPSecAH{}, &layers.ERSPANII{}, &d.ip4, &d.ip6, &d.tcp, &d.udp,
	} {
		set = set.Put(l)
	}
	for _, t := range []gopacket.LayerType{layers.LayerTypeEthernet, layers.LayerTypeLinuxSLL,
		layers.LayerTypeLinuxSLL2, layers.LayerTypeLoopback, layers.LayerTypePFLog,
		layers.LayerTypePPPoE, layers.LayerTypeDot1Q, layers.LayerTypeIPv4, layers.LayerTypeIPv6} {
		p := gopacket.NewDecodingLayerParser(t)
		p.SetDecodingLayerContainer(set)
		d.first[t] = p
	}
	return d
}

// firstLayer is what a packet of a link type begins with; 0 for those that are
// not read.
func firstLayer(link layers.LinkType, data []byte) gopacket.LayerType {
	switch link {
	case layers.LinkTypeEthernet:
		return layers.LayerTypeEthernet
	case layers.LinkTypeLinuxSLL:
		return layers.LayerTypeLinuxSLL
	case layers.LinkTypeLinuxSLL2:
		return layers.LayerTypeLinuxSLL2
	case layers.LinkTypeNull, layers.LinkTypeLoop:
		return layers.LayerTypeLoopback
	case layers.LinkTypePPPEthernet: // OpenBSD's and NetBSD's pppoe(4)
		return layers.LayerTypePPPoE
	case layers.LinkTypePFLog:
		return layers.LayerTypePFLog
	case layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6, 12, 14:
		if len(data) > 0 && data[0]>>4 == 6 {
			return layers.LayerTypeIPv6
		}
		return layers.LayerTypeIPv4
	}
	return 0
}

// decode reads one packet; false when no TCP or UDP is in it.
func (d *decoder) decode(link layers.LinkType, data []byte, ci gopacket.CaptureInfo, p *packet) bool {
	d.eth.EthernetType = 0
	ip, transport := d.layers(firstLayer(link, data), data)
	if t := d.eth.EthernetType; ip == 0 && (t == vlan9100 || t == vlan9200 || t == vlan9300) {
		ip, transport = d.layers(layers.LayerTypeDot1Q, d.eth.Payload)
	}
	if ip == 0 {
		if inner := d.behind(link, data); inner != nil {
			ip, transport = d.layers(firstLayer(layers.LinkTypeRaw, inner), inner)
		}
	}
	if ip == 0 || transport == 0 {
		return false
	}
	*p = packet{iface: ci.InterfaceIndex}
	p.Time = ci.Timestamp.UnixNano()
	from, to, length := d.network(ip, data, ci.Length, p)
	if transport == layers.LayerTypeUDP {
		p.udp = true
		p.from = netip.AddrPortFrom(from, uint16(d.udp.SrcPort))
		p.to = netip.AddrPortFrom(to, uint16(d.udp.DstPort))
		p.Len = max(0, int(d.udp.Length)-8)
		p.payload = d.udp.Payload
		return true
	}
	p.from = netip.AddrPortFrom(from, be16(d.tcp.Contents))
	p.to = netip.AddrPortFrom(to, be16(d.tcp.Contents[2:]))
	d.tcp.segment(&p.Segment, length)
	return true
}

// layers reads on from the first layer, and tells the innermost IP layer and
// what it holds; 0 when there is none.
func (d *decoder) layers(first gopacket.LayerType, data []byte) (ip, transport gopacket.LayerType) {
	d.decoded = d.decoded[:0]
	d.end = gopacket.UnsupportedLayerType(first)
	if parser := d.first[first]; parser != nil {
		d.end = parser.DecodeLayers(data, &d.decoded) // what came before an error is there
	}
	for _, t := range d.decoded {
		switch t {
		case layers.LayerTypeIPv4, layers.LayerTypeIPv6:
			ip, transport = t, 0
		case layers.LayerTypeTCP, layers.LayerTypeUDP:
			transport = t
		}
	}
	return ip, transport
}

// network reads the IP header, and returns how long its payload was on the
// wire. Segments that the card divides may bear a length of 0.
func (d *decoder) network(ip gopacket.LayerType, data []byte, wire int, p *packet) (from, to netip.Addr, length int) {
	if ip == layers.LayerTypeIPv4 {
		at := cap(data) - cap(d.ip4.Contents)
		length = int(d.ip4.Length)
		if c := d.ip4.Contents; c[2] == 0 && c[3] == 0 {
			length = wire - at
		}
		p.ID, p.ECN, p.DSCP, p.TTL = d.ip4.Id, d.ip4.TOS&3, d.ip4.TOS>>2, d.ip4.TTL
		from, _ = netip.AddrFromSlice(d.ip4.SrcIP)
		to, _ = netip.AddrFromSlice(d.ip4.DstIP)
		return from, to, length - int(d.ip4.IHL)*4 - d.extensions(d.ip4.Contents)
	}
	at := cap(data) - cap(d.ip6.Contents)
	if length = int(d.ip6.Length); length == 0 {
		length = wire - at - 40
	}
	p.ECN, p.DSCP, p.TTL = d.ip6.TrafficClass&3, d.ip6.TrafficClass>>2, d.ip6.HopLimit
	from, _ = netip.AddrFromSlice(d.ip6.SrcIP)
	to, _ = netip.AddrFromSlice(d.ip6.DstIP)
	return from, to, length - d.extensions(d.ip6.Contents)
}

// extensions is the length of what lies between an IP header and TCP's.
func (d *decoder) extensions(header []byte) int {
	return max(0, cap(header)-len(header)-cap(d.tcp.Contents))
}

func be16(b []byte) uint16 { return uint16(b[0])<<8 | uint16(b[1]) }

func be32(b []byte) uint32 { return uint32(be16(b))<<16 | uint32(be16(b[2:])) }
