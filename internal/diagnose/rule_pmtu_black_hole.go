package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// pmtuBlackHole finds paths that swallow large packets.
func pmtuBlackHole() Rule {
	return Rule{
		ID: "pmtu-black-hole", Title: "Path MTU black hole: large packets are likely lost on some paths", Severity: Warning,
		Needs: []string{"linux:counters|round trips", "freebsd:counters|round trips", "openbsd:round trips"},
		Because: "If the ICMP messages of path MTU discovery are filtered, full-sized segments are lost and a connection " +
			"hangs until the sender tries smaller ones.",
		Confirm: "A full-sized ping with DF set (ping -M do -s 1472, FreeBSD: ping -D -s 1472) gets no reply, a small one does.",
		Check: func(in Input) []Finding {
			f := in.Facts
			if swallowed := swallowedPings(f); swallowed != nil {
				return swallowed
			}
			found := counters(f, "TcpExt.TCPMTUPFail", "TcpExt.TCPMTUPSuccess",
				"tcp.path_mtu_discovery_black_hole_detection_activation")
			severity := Warning
			if f.System == "linux" {
				// With tcp_mtu_probing=2 every connection probes. With 1 repeated
				// timeouts start it, which a dead peer causes as well.
				if v, ok := f.Integer("net.ipv4.tcp_mtu_probing"); ok && v != 1 {
					return nil
				}
				severity = Info
			}
			if len(found) == 0 || found[0].Value <= total(f, "tcp.path_mtu_discovery_black_hole_detection_failure") {
				return nil
			}
			return with(severity, do("allow ICMP type 3 code 4 and ICMPv6 type 2, or clamp the MSS at the tunnel",
				one("tcp", sources(found), "the sender had to probe for a smaller segment size: %s", happened(found[0]))))
		},
		Fires: freebsdExample("netstat -s", "tcp:\n\t100 packets sent\n\t12 Path MTU discovery black hole detection "+
			"activations\n"),
		Quiet: freebsdExample("netstat -s", "tcp:\n\t100 packets sent\n\t0 Path MTU discovery black hole detection "+
			"activations\n"),
	}
}

// swallowedPings finds large pings to a peer that nobody answers while smaller ones are, without a word of why.
func swallowedPings(f *facts.Facts) []Finding {
	const large, largest, ipICMP = 1000, 9216, 28
	for _, big := range f.Pings {
		if big.Data < large || big.Data > largest || big.Sent < 3 || big.Answered > 0 || big.TooLong {
			continue
		}
		for _, small := range f.Pings {
			if small.Peer != big.Peer || small.Data == 0 || small.Data >= big.Data || 2*small.Answered <= small.Sent {
				continue
			}
			answered := small.Source
			if small.Counted.Text != "" {
				answered = small.Counted
			}
			found := one(big.Peer, []facts.Source{big.Counted, answered}, "packets of %d bytes get no reply, those of %d do, and "+
				"no router reports an MTU", big.Data+ipICMP, small.Data+ipICMP)
			found[0].Confirm = "A hanging TCP transfer continues with a smaller MSS."
			return do(fmt.Sprintf("allow ICMP type 3 code 4; until then, clamp the MSS to %d on the "+
				"forwarding router", small.Data+ipICMP-headers), found)
		}
	}
	return nil
}
