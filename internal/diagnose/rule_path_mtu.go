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
		ID: "path-mtu", Title: "The path has a smaller MTU", Needs: []string{
			"linux:round trips|path|routes|handshakes", "freebsd:round trips|handshakes", "openbsd:round trips|handshakes"},
		Severity: Info,
		Because: "TCP learns of the smaller MTU only from that router's ICMP message: if a firewall drops it, full-sized " +
			"segments are lost while small ones pass. A clamped MSS does not depend on the message.",
		Confirm: "A stalled transfer continues with the smaller MSS.",
		Check: func(in Input) []Finding {
			for _, told := range in.Facts.Messages {
				if m := ownMTU.FindStringSubmatch(told.Text); m != nil {
					return toldHere(in.Facts.System, m[1], told)
				}
				m := smallerMTU.FindStringSubmatch(told.Text)
				if m == nil {
					continue
				}
				from, size := strings.TrimSuffix(m[1]+m[3]+m[5], ":"), m[2]+m[4]+m[6]
				mtu, _ := strconv.Atoi(size)
				return decisive(do("clamp the MSS on the forwarding router ("+clampedMSS(in.Facts.System, mtu-headers)+
					"), and allow ICMP \"fragmentation needed\"",
					one(from, []facts.Source{told.Source}, "it forwards at most %s bytes", size)))
			}
			if refused := refusedHere(in.Facts); refused != nil {
				return refused
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

// refusedHere finds a packet that ping says is too long without the MTU: the kernel knows of a smaller one towards the peer.
func refusedHere(f *facts.Facts) []Finding {
	const ethernet = 1500
	for i := range f.Pings {
		p := &f.Pings[i]
		if size := p.Data + icmpHeaders; p.TooLong && p.Answered == 0 && p.Data > 0 && size <= ethernet {
			return ownLimit(f.System, one("this host", []facts.Source{p.Refused}, "it does not send packets of %d bytes towards %s without "+
				"fragmenting them", size, cmp.Or(p.Peer, "this peer")))
		}
	}
	return nil
}

// learnedMTU finds what the kernel remembers of a path: ip route get shows it with the time at which it forgets.
func learnedMTU(f *facts.Facts) []Finding {
	const ethernet = 1500
	for _, r := range f.Routes {
		mtu, err := strconv.Atoi(r.Attributes["mtu"])
		if err != nil || mtu >= ethernet || mtu < 68 || r.Attributes["expires"] == "" {
			continue
		}
		return decisive(do("clamp the MSS on the forwarding router ("+clampMSS+")", one(r.Destination,
			[]facts.Source{r.Source}, "a router on the path reported an MTU of %d bytes", mtu)))
	}
	return nil
}

// clampMSS is the rule that lowers the MSS of forwarded connections to what the route takes.
const clampMSS = "iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"

// clampedMSS says how the MSS of forwarded connections is lowered on a system.
func clampedMSS(s system.System, mss int) string {
	switch s {
	case system.Linux:
		return clampMSS
	case system.OpenBSD:
		return fmt.Sprintf("pf.conf: match all scrub (max-mss %d)", mss)
	}
	return fmt.Sprintf("pf.conf: scrub all max-mss %d", mss)
}

// fixedMSS is clampedMSS for a path whose MTU no route knows.
func fixedMSS(s system.System, mss int) string {
	if s == system.Linux {
		return strings.Replace(clampMSS, "--clamp-mss-to-pmtu", fmt.Sprintf("--set-mss %d", mss), 1)
	}
	return clampedMSS(s, mss)
}

// headers are those of IPv4 and TCP, in bytes.
const headers = 40

// smallerMTU is the answer of a router to a packet that must not be fragmented (pr_icmph of iputils' ping and the
// BSDs'; tcpdump), and a row of tracepath from which on the path takes less (iputils, tracepath.c).
var smallerMTU = regexp.MustCompile(`(?i)from (\S+) .*frag needed and DF set \(mtu =? ?(\d{2,5})\)|` +
	`(?:IP |^\s*)(\S+) > \S+: ICMP \S+ unreachable - need to frag \(mtu (\d{2,5})\)|` +
	`^\s*\d+:\s+(\S+) .*\bpmtu (\d{3,5})\b`)

// ownMTU is what ping of Linux says of a packet that its own host does not send: larger than the interface's MTU, or than
// what the kernel has learned of the path (iputils, ping/ping.c and ping6_common.c).
var ownMTU = regexp.MustCompile(`(?i)local error: message too long,? \(?mtu[=:] ?(\d{2,5})`)

// toldHere says the MTU towards a peer that the host itself knows: below that of Ethernet somebody on the path told of it, or
// the way leads through a tunnel.
func toldHere(on system.System, mtu string, told facts.Message) []Finding {
	const ethernet = 1500
	if v, _ := strconv.Atoi(mtu); v >= ethernet {
		return nil // as much as most paths take
	}
	return ownLimit(on, one("this host", []facts.Source{told.Source}, "it sends packets of at most %s bytes to this peer", mtu))
}

// ownLimit explains an MTU that the host itself knows.
func ownLimit(on system.System, found []Finding) []Finding {
	const example = 1380
	clamp := clampedMSS(on, example)
	if on != system.Linux {
		clamp += " for an MTU of 1420"
	}
	found = decisive(do("ip route get PEER shows whether the MTU was learned (cache ... mtu) or is the interface's; clamp "+
		"the MSS on the forwarding router ("+clamp+")", found))
	found[0].Because = "The interface towards the peer (often a tunnel) has this MTU, or a router reported it earlier. " +
		"This host's own connections adapt; forwarded ones, of containers and virtual machines with a larger MTU, depend on " +
		"the ICMP message."
	return found
}
