package packets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// The BSDs' enc(4), which shows what IPsec has decrypted.
const (
	linkEnc   = 109
	encLength = 12
)

// session is a PPPoE header with PPP's behind it; the library's wants the whole
// packet.
type session struct {
	layers.BaseLayer
	protocol uint16
}

func (*session) LayerType() gopacket.LayerType  { return layers.LayerTypePPPoE }
func (*session) CanDecode() gopacket.LayerClass { return layers.LayerTypePPPoE }
func (s *session) NextLayerType() gopacket.LayerType {
	switch s.protocol {
	case 0x21:
		return layers.LayerTypeIPv4
	case 0x57:
		return layers.LayerTypeIPv6
	}
	return layers.LayerTypePPP
}

func (s *session) DecodeFromBytes(data []byte, _ gopacket.DecodeFeedback) error {
	const length = 8
	if len(data) < length {
		return errors.New("a short PPPoE header")
	}
	s.BaseLayer = layers.BaseLayer{Contents: data[:length], Payload: data[length:]}
	s.protocol = be16(data[6:])
	return nil
}

// behind is the IP packet of a link type, or behind a header, that is rare: PPP,
// MPLS, 802.11, FDDI; nil when there is none.
func (d *decoder) behind(link layers.LinkType, data []byte) []byte {
	var first gopacket.Decoder = link
	switch link {
	case linkEnc:
		if len(data) > encLength {
			return data[encLength:]
		}
		return nil
	case layers.LinkTypePPP_HDLC:
		first = layers.LayerTypePPP
	case layers.LinkTypePPP, layers.LinkTypeFDDI, layers.LinkTypeIEEE802_11, layers.LinkTypeIEEE80211Radio,
		layers.LinkTypePrismHeader:
	default:
		if d.end != gopacket.UnsupportedLayerType(layers.LayerTypeMPLS) {
			return nil
		}
	}
	p := gopacket.NewPacket(data, first, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	n := p.NetworkLayer()
	if n == nil {
		if all := p.Layers(); len(all) > 0 {
			d.end = gopacket.UnsupportedLayerType(all[len(all)-1].LayerType())
		}
		return nil
	}
	head := n.LayerContents()
	return head[:min(cap(head), len(head)+len(n.LayerPayload()))]
}

// what names a packet that decode did not read.
func (d *decoder) what(link layers.LinkType) string {
	t, ok := d.end.(gopacket.UnsupportedLayerType)
	switch l := gopacket.LayerType(t); {
	case d.end == nil:
		return d.unknown()
	case !ok || l == gopacket.LayerTypeDecodeFailure:
		return "damaged or cut off"
	case strings.HasPrefix(l.String(), "Dot11"):
		return "802.11 that is encrypted or holds no IP"
	case l == gopacket.LayerTypeZero:
		return "of the link type " + linkName(link) + ", which is not read"
	case l == gopacket.LayerTypeFragment:
		return "fragments of IP packets"
	default:
		return l.String()
	}
}

// unknown names what the last header announces and nothing is known of.
func (d *decoder) unknown() string {
	switch last := d.decoded[len(d.decoded)-1]; last {
	case layers.LayerTypeEthernet:
		return fmt.Sprintf("EtherType %#04x", uint16(d.eth.EthernetType))
	case layers.LayerTypeIPv4:
		return fmt.Sprintf("IP protocol %d", d.ip4.Protocol)
	case layers.LayerTypeIPv6:
		return fmt.Sprintf("IP protocol %d", d.ip6.NextHeader)
	default:
		return "unknown in " + last.String()
	}
}

func linkName(link layers.LinkType) string {
	if name := link.String(); !strings.HasPrefix(name, "Unknown") {
		return name
	}
	return fmt.Sprint(int(link))
}
