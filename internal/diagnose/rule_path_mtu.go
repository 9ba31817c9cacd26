package diagnose

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// pathMTU finds routers that told ping, or that tcpdump saw telling, of a smaller MTU.
func pathMTU() Rule {
	return Rule{
		ID: "path-mtu", Title: "A router on the path takes smaller packets", Needs: []string{
			"linux:round trips|path|routes|handshakes", "freebsd:round trips|handshakes", "openbsd:round trips|handshakes"},
		Severity: Info,
		Because: "TCP learns of the smaller MTU only from that router's message: where a firewall drops it, full segments " +
			"are lost while small ones pass. A smaller MSS needs no message.",
		Confirm: "A transfer that stands still goes on with the smaller MSS.",
		Check: func(in Input) []Finding {
			for _, told := range in.Facts.Messages {
				if m := ownMTU.FindStringSubmatch(told.Text); m != nil {
					return toldHere(m[1], told)
				}
				m := smallerMTU.FindStringSubmatch(told.Text)
				if m == nil {
					continue
				}
				from, size := strings.TrimSuffix(m[1]+m[3]+m[5], ":"), m[2]+m[4]+m[6]
				mtu, _ := strconv.Atoi(size)
				return decisive(do("clamp the MSS where packets are forwarded ("+clampedMSS(in.Facts.System, mtu-headers)+
					"), and let ICMP \"fragmentation "+
					"needed\" pass",
					one(from, []facts.Source{told.Source}, "it passes on %s bytes at most", size)))
			}
			if found := largeLost(in.Facts); found != nil {
				return found
			}
			return learnedMTU(in.Facts)
		},
		Fires: linuxExample("ping", "PING 192.0.2.1 (192.0.2.1) 1472(1500) bytes of data.\nFrom 198.51.100.1 icmp_seq=1 "+
			"Frag needed and DF set (mtu = 1420)\n\n--- 192.0.2.1 ping statistics ---\n1 packets transmitted, 0 received, +1 "+
			"errors, 100% packet loss, time 0ms\n"),
		Quiet: linuxExample("ping", "PING 192.0.2.1 (192.0.2.1) 1472(1500) bytes of data.\n1480 bytes from 192.0.2.1: "+
			"icmp_seq=1 ttl=61 time=20.1 ms\n"),
	}
}

// largeLost finds a peer that answers small pings and no large ones.
func largeLost(f *facts.Facts) []Finding {
	const ethernet = 1500
	for _, p := range f.Pings {
		small, ok := smallerAnswered(f, p)
		if !ok {
			continue
		}
		size := p.Data + icmpHeaders
		action := "find the largest size that passes (Linux: ping -M do -s N PEER; the BSDs: ping -D -s N PEER), set the MTU to N+28 " +
			"on both ends or clamp the MSS (" + clampedMSS(f.System, 1360) + "), and let ICMP \"fragmentation needed\" pass"
		if size > ethernet {
			action = fmt.Sprintf("set an MTU of %d on both hosts, on each switch port and on each VLAN, bridge or bond between them, or "+
				"return to 1500 everywhere; ping -M do -s 1472 PEER (the BSDs: ping -D -s 1472) shows whether 1500 passes", size)
		}
		found := one(cmp.Or(p.Peer, small.Peer), []facts.Source{cmp.Or(p.Counted, p.Missing, p.Source), small.Source},
			"none of %d pings of %d bytes was answered, smaller ones were: a link on the path has a smaller MTU", p.Sent, size)
		found[0].Because = "A switch or bridge drops frames above its MTU without a message. Handshakes and short requests pass, " +
			"full segments are lost: transfers hang right after they begin."
		found[0].Confirm = "Smaller and smaller sizes are answered from one size on."
		return do(action, with(Warning, found))
	}
	return nil
}

// icmpHeaders are those of IPv4 and ICMP, in bytes.
const icmpHeaders = 28

// smallerAnswered finds the answered pings of a peer that answers none of large ones.
func smallerAnswered(f *facts.Facts, large facts.Ping) (facts.Ping, bool) {
	const least = 1200
	if large.Data < least || large.Sent == 0 || large.Answered > 0 {
		return facts.Ping{}, false
	}
	for _, p := range f.Pings {
		if p.Answered > 0 && 2*p.Data < large.Data && (p.Peer == large.Peer || p.Peer == "" || large.Peer == "") {
			return p, true
		}
	}
	return facts.Ping{}, false
}

// learnedMTU finds what the kernel remembers of a path: ip route get shows it with the time at which it forgets.
func learnedMTU(f *facts.Facts) []Finding {
	const ethernet = 1500
	for _, r := range f.Routes {
		mtu, err := strconv.Atoi(r.Attributes["mtu"])
		if err != nil || mtu >= ethernet || mtu < 68 || r.Attributes["expires"] == "" {
			continue
		}
		return decisive(do("clamp the MSS where packets are forwarded ("+clampMSS+")", one(r.Destination,
			[]facts.Source{r.Source}, "a router on the way told this host of an MTU of %d bytes", mtu)))
	}
	return nil
}

// clampMSS is the rule that lowers the MSS of forwarded connections to what the route takes.
const clampMSS = "iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"

// clampedMSS says how the MSS of forwarded connections is lowered on a system.
func clampedMSS(s system.System, mss int) string {
	if s == system.Linux {
		return clampMSS
	}
	return fmt.Sprintf("pf.conf: scrub max-mss %d, on OpenBSD match scrub (max-mss %[1]d)", mss)
}

// headers are those of IPv4 and TCP, in bytes.
const headers = 40

// smallerMTU is the answer of a router to a packet that must not be fragmented (pr_icmph of iputils' ping and the
// BSDs'; tcpdump), and a row of tracepath from which on the path takes less (iputils, tracepath.c).
var smallerMTU = regexp.MustCompile(`(?i)from (\S+) .*frag needed and DF set \(mtu =? ?(\d{2,5})\)|` +
	`IP (\S+) > \S+: ICMP \S+ unreachable - need to frag \(mtu (\d{2,5})\)|` +
	`^\s*\d+:\s+(\S+) .*\bpmtu (\d{3,5})\b`)

// ownMTU is what ping of Linux says of a packet that its own host does not send: larger than the interface's MTU, or than
// what the kernel has learned of the path (iputils, ping/ping.c and ping6_common.c).
var ownMTU = regexp.MustCompile(`(?i)local error: message too long,? \(?mtu[=:] ?(\d{2,5})`)

// toldHere says the MTU towards a peer that the host itself knows: below that of Ethernet somebody on the path told of it, or
// the way leads through a tunnel.
func toldHere(mtu string, told facts.Message) []Finding {
	const ethernet = 1500
	if v, _ := strconv.Atoi(mtu); v >= ethernet {
		return nil // as much as most paths take
	}
	found := decisive(do("ip route get PEER shows whether the kernel learned it (mtu in its cache) or the interface has it; "+
		"clamp the MSS where packets are forwarded ("+clampMSS+")",
		one("this host", []facts.Source{told.Source}, "it sends packets of %s bytes at most towards this peer", mtu)))
	found[0].Because = "The interface towards the peer has this MTU, mostly that of a tunnel, or a router told of it before. " +
		"Connections of this host fit themselves to it; those that it forwards, of containers and virtual machines with a " +
		"larger MTU, depend on its message reaching them."
	return found
}
