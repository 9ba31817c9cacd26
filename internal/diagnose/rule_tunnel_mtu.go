package diagnose

import (
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// tunnelMTU finds tunnels that send packets larger than the path takes.
func tunnelMTU() Rule {
	return Rule{
		ID: "tunnel-mtu", Title: "A tunnel's packets exceed the path MTU", Needs: []string{"messages|links|ifconfig"},
		Severity: Warning,
		Because: "Packets that exceed the path MTU with the tunnel headers added are dropped or fragmented: full-sized " +
			"segments are lost while small packets pass.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, tooLong)
			if n == 0 {
				return oversizedTunnels(in.Facts)
			}
			if found := endsMTUs(in.Facts); found != nil {
				return found
			}
			if mtu := told(lines[0].Text); mtu > 0 {
				return do(fmt.Sprintf("OpenVPN 2.6 or later: mssfix %d mtu, earlier: mssfix %d; for non-TCP traffic also fragment "+
					"with the same "+
					"value, at both ends", mtu, mtu-ipAndUDP), one("openvpn", lines, "the path MTU is %d bytes, and larger packets "+
					"were sent (%s)", mtu, counted(n, "line")))
			}
			if merged, n := matching(in.Facts, mergedPackets); n > 0 {
				found := one("udp2raw", merged, "it drops packets that are larger than it takes (%s)", counted(n, "line"))
				found[0].Because = "GRO of the receiving interface merges packets, and udp2raw sees the merged one; or the tunnel inside sends " +
					"packets that are too large."
				return do("start udp2raw with --fix-gro at both ends, or switch GRO off on the interface that receives (ethtool -K NAME gro off); "+
					"otherwise lower the MTU of the tunnel inside", found)
			}
			return do("lower the MSS inside the tunnel (OpenVPN: mssfix 1360 and one tun-mtu at both ends; "+
				"WireGuard: MTU 80 below that of the outgoing interface, 1420 for 1500 and 1200 for 1280), or "+
				"clamp it where packets are forwarded ("+clampedMSS(in.Facts.System,
				1360)+")", one("tunnel", lines, "its packets were refused as too large (%s)", counted(n, "line")))
		},
		Fires: linuxExample("dmesg", "ovpn-server[812]: client/192.0.2.9:1194 write UDPv4: Message too long (code=90)\n"),
		Quiet: linuxExample("dmesg", "ovpn-server[812]: client/192.0.2.9:1194 TLS: soft reset sec=3600/3600\n"),
	}
}

// endsMTUs finds what OpenVPN says of the sizes that its two ends are set to (options.c). Of link-mtu it says so as well where
// they negotiated another cipher than the configured one.
func endsMTUs(f *facts.Facts) []Finding {
	if _, n := matching(f, refusedSize); n > 0 {
		return nil // packets were refused: that is more
	}
	lines, n := matching(f, tunMTUs)
	if n == 0 {
		lines, n = matching(f, linkMTUs)
		m := linkMTUs.FindStringSubmatch(lines[0].Text)
		found := with(Info, one("OpenVPN", lines, "the two ends have a different link-mtu: %s here, %s at the "+
			"other end (%s)",
			m[1], m[2], counted(n, "line")))
		found[0].Because = "link-mtu is computed from tun-mtu, cipher, digest and compression. If tun-mtu is the " +
			"same at both ends, the difference is harmless: the ends negotiate the cipher after this comparison."
		return do("set the same tun-mtu, auth and compression at both ends", found)
	}
	m := tunMTUs.FindStringSubmatch(lines[0].Text)
	found := one("OpenVPN", lines, "the two ends use different tunnel MTUs: tun-mtu %s here, %s at the other end (%s)", m[1], m[2],
		counted(n, "line"))
	found[0].Because = "One end sends packets that are too large for the other, and these are lost: small packets " +
		"pass, large transfers hang."
	found[0].Confirm = "Pings with DF set pass through the tunnel up to a larger size in one direction than in " +
		"the other."
	return do("set the same tun-mtu in the configuration of both ends (1500, with mssfix 1360, unless the path "+
		"needs less)", found)
}

var (
	tunMTUs  = regexp.MustCompile(`'tun-mtu' is used inconsistently, local='tun-mtu (\d{1,5})', remote='tun-mtu (\d{1,5})'`)
	linkMTUs = regexp.MustCompile(`'link-mtu' is used inconsistently, local='link-mtu (\d{1,5})', remote='link-mtu (\d{1,5})'`)
)

// oversizedTunnels finds tunnels whose packets, with the headers around them, no interface of the host carries.
func oversizedTunnels(f *facts.Facts) (out []Finding) {
	var widest *facts.NIC
	for i := range f.NICs {
		n := &f.NICs[i]
		if _, tunnel := tunnelHeaders(n); !tunnel && physical(n) && n.Up && (widest == nil || n.MTU > widest.MTU) {
			widest = n
		}
	}
	for i := range f.NICs {
		n := &f.NICs[i]
		added, tunnel := tunnelHeaders(n)
		if !tunnel || !n.Up || widest == nil || widest.MTU == 0 || n.MTU+added <= widest.MTU {
			continue
		}
		found := one(n.Name, []facts.Source{n.Source, widest.Source}, "its MTU of %d plus %d bytes of headers makes packets "+
			"of %d bytes, but %s carries %d", n.MTU, added, n.MTU+added, widest.Name, widest.MTU)
		mtu := widest.MTU - added
		if added == wireguardHeaders {
			mtu -= ipv6Longer // as its default is: the peer's address may become one of IPv6
		}
		found[0].Confirm = fmt.Sprintf("Pings through the tunnel with DF set pass with up to %d bytes of data.", mtu-icmpHeaders)
		fix := Fix{Setting: "link:mtu", Interface: n.Name, Value: strconv.Itoa(mtu)}
		if f.System != system.Linux {
			fix.Command = fmt.Sprintf("ifconfig %s mtu %d", n.Name, mtu)
		}
		out = append(out, withFix(fix, found)...)
	}
	return out
}

// wireguardHeaders are what WireGuard adds over IPv4 (its paper, section 5.4.6), ipv6Longer what IPv6 adds to that, in bytes.
const (
	wireguardHeaders = 60
	ipv6Longer       = 20
)

// tunnelHeaders are the bytes that a tunnel adds to a packet over IPv4: WireGuard, VXLAN and Geneve (RFC 7348, RFC 8926
// without options), GRE (RFC 2784), IP in IP.
func tunnelHeaders(n *facts.NIC) (bytes int, is bool) {
	switch kind := firstGroup(tunnelName, n.Name); {
	case n.Kind == "wireguard" || kind == "wg":
		return wireguardHeaders, true
	case n.Kind == "vxlan" || n.Kind == "geneve" || kind == "vxlan" || kind == "flannel.":
		return 50, true
	case n.Kind == "gre" || kind == "gre":
		return 24, true
	case n.Kind == "ipip" || n.Kind == "sit" || kind == "gif":
		return 20, true
	}
	return 0, false
}

var tunnelName = regexp.MustCompile(`^(wg|vxlan|flannel\.|gre|gif)\d`)

// ipAndUDP is what mssfix of OpenVPN before 2.6 leaves out (doc/man-sections/link-options.rst).
const ipAndUDP = 28

// told is the MTU of the path that a line of OpenVPN says, 0 where it says none.
func told(line string) int {
	const least, most = 576, 9000
	if mtu, err := strconv.Atoi(firstGroup(pathTold, line)); err == nil && mtu >= least && mtu <= most {
		return mtu
	}
	return 0
}

var pathTold = regexp.MustCompile(`EMSGSIZE Path-MTU=(\d{3,5})\]`)

// mergedPackets are of udp2raw, which tells its user of --fix-gro in newer versions.
var mergedPackets = regexp.MustCompile(`huge packet, data_len (?:\d+ )?> \d+(?:\(max_data_len\) |,)dropped`)

var (
	refusedSize = regexp.MustCompile(facts.RefusedSizes)
	tooLong     = regexp.MustCompile(facts.RefusedSizes + `|'(?:link|tun)-mtu' is used inconsistently, local='\S+ \d{1,5}', remote='\S+ \d{1,5}'`)
)
