package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
)

// pmtuBlackHole finds paths that swallow large packets.
func pmtuBlackHole() Rule {
	return Rule{
		ID: "pmtu-black-hole", Title: "Path MTU black hole: large packets are likely lost on some paths", Severity: Warning,
		Needs: []string{"linux:counters|round trips|path", "freebsd:counters|round trips|path", "openbsd:round trips|path"},
		Because: "If the ICMP messages of path MTU discovery are filtered, full-sized segments are lost and a connection " +
			"hangs until the sender tries smaller ones.",
		Confirm: "A full-sized ping with DF set (ping -M do -s 1472 PEER) gets no reply, a small one does.",
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
	const ethernet = 1500
	probes := append(slices.Clone(f.Pings), tracedPings(f)...)
	for _, big := range probes {
		const few = 3
		if big.Swept && big.Answered > 0 && big.Largest < big.Data && big.Sent-big.Answered >= few {
			return sweptPing(f, big)
		}
		small, ok := smallerAnswered(probes, big)
		if !ok || big.Sent < few {
			continue
		}
		size := big.Data + icmpHeaders
		found := one(cmp.Or(big.Peer, small.Peer), []facts.Source{cmp.Or(big.Counted, big.Missing, big.Source),
			cmp.Or(small.Counted, small.Source)}, "packets of %d bytes get no reply, smaller ones do, and no router reports an MTU", size)
		found[0].Confirm = "ping with DF set gets replies only up to a certain size."
		if size > ethernet {
			found[0].Because = "A switch or bridge drops frames above its MTU without a message. Handshakes and " +
				"short requests pass, full-sized segments are lost: transfers hang right after they begin."
			return do(fmt.Sprintf("set MTU %d on both hosts and on every switch port, VLAN, bridge and bond between them, or return to "+
				"1500 everywhere; ping -M do -s 1472 PEER shows whether 1500 passes", size), found)
		}
		return do("allow ICMP type 3 code 4 on the path; until then, find the largest size that passes (ping -M do "+
			"-s N PEER) and clamp the MSS on the forwarding router to N-12 ("+fixedMSS(f.System, 1360)+" for N = 1372)", found)
	}
	return nil
}

// tracedPings are what reports of mtr say of the host at the end, as pings of the size of their probes.
func tracedPings(f *facts.Facts) (out []facts.Ping) {
	for _, t := range f.Traces {
		if t.Target == "" || t.Size <= icmpHeaders || t.Cut {
			continue
		}
		end := t.Hops[len(t.Hops)-1]
		out = append(out, facts.Ping{Peer: t.Target, Data: t.Size - icmpHeaders, Sent: end.Sent,
			Answered: int(math.Round((1 - end.Loss) * float64(end.Sent))), Counted: end.Source, Source: end.Source})
	}
	return out
}

// sweptPing is a ping whose packets grew until no answer came.
func sweptPing(f *facts.Facts, p facts.Ping) []Finding {
	const tcpHeaders = 40
	passes := p.Largest + icmpHeaders
	found := one(p.Peer, []facts.Source{cmp.Or(p.Counted, p.Source)}, "packets of up to %d bytes get replies, larger ones do not "+
		"(tried to %d), and no router reports an MTU", passes, p.Data+icmpHeaders)
	found[0].Confirm = "A ping with DF set and a size between the two gets no reply whenever it is repeated."
	return do("allow ICMP type 3 code 4 on the path; until then, clamp the MSS on the forwarding router ("+
		fixedMSS(f.System, passes-tcpHeaders)+")", found)
}

// icmpHeaders are those of IPv4 and ICMP, in bytes.
const icmpHeaders = 28

// smallerAnswered finds the answered pings of a peer that answers none of large ones.
func smallerAnswered(pings []facts.Ping, large facts.Ping) (facts.Ping, bool) {
	const least, most = 1000, 9216
	if large.Data < least || large.Data > most || large.Sent == 0 || large.Answered > 0 || large.TooLong {
		return facts.Ping{}, false
	}
	for _, p := range pings {
		if 2*p.Answered > p.Sent && p.Data < large.Data && (p.Peer == large.Peer || p.Peer == "" || large.Peer == "") {
			return p, true
		}
	}
	return facts.Ping{}, false
}
