package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

const lookAtPeer = "check the peer first: that a program listens there and accepts (ss -ltn), and that no firewall in " +
	"between drops the handshake"

// peerSilent finds a peer that does not answer the handshakes of this host.
func peerSilent() Rule {
	return Rule{
		ID: "peer-silent", Title: "A peer does not respond to new connections",
		Needs: []string{"linux:flows|socket table|handshakes|messages", "freebsd:socket table|handshakes|messages",
			"openbsd:socket table|handshakes|messages"}, Severity: Warning,
		Because: "The SYNs of these connections were not answered: the peer is down or its SYN queue is full, a " +
			"firewall drops the SYNs, or the path loses them.",
		Confirm: "The same connections are still in SYN-SENT a few seconds later; on the peer, tcpdump shows " +
			"whether the SYNs arrive, and ss -ltn and nstat -az TcpExtListenDrops show whether it drops them.",
		Check: func(in Input) []Finding {
			const many = 3
			for _, d := range in.Facts.Talks {
				if d.Asked >= many {
					return do(lookAtPeer, one(d.To, []facts.Source{d.AskedLine}, "the same SYN was sent %d times "+
						"without an answer", d.Asked))
				}
			}
			var worst facts.Unanswered
			for _, u := range in.Facts.Unanswered {
				if u.Connections > worst.Connections {
					worst = u
				}
			}
			if worst.Connections < many {
				if found := gaveUp(in.Facts); found != nil {
					return found
				}
				return answeredLate(in.Facts)
			}
			return do(lookAtPeer, one(worst.Peer, []facts.Source{worst.Source},
				"%s to it without an answer (SYN-SENT)", counted(worst.Connections, "connection")))
		},
		Fires: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"+
			strings.Repeat("SYN-SENT 0 1 192.0.2.1:50000 198.51.100.9:8080\n", 4)),
		Quiet: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"+
			"SYN-SENT 0 1 192.0.2.1:50000 198.51.100.9:8080\nESTAB 0 0 192.0.2.1:50001 198.51.100.9:8080\n"),
	}
}

// answeredLate finds handshakes of which the first packets were not answered.
func answeredLate(f *facts.Facts) []Finding {
	const often = 3
	n := 0
	var longest facts.Talk
	for _, d := range f.Talks {
		if d.Waited == 0 {
			continue
		}
		if n++; d.Waited > longest.Waited {
			longest = d
		}
	}
	if n == 0 {
		return nil
	}
	said := ""
	if n > 1 {
		said = fmt.Sprintf("; %d connections are affected", n)
	}
	found := one(longest.To, []facts.Source{longest.WaitedLine}, "a SYN was answered only after it was "+
		"retransmitted %s s later%s",
		units.Digits(longest.Waited, 2), said)
	found[0].Because = "The first SYN or its answer was lost on the path, or dropped because of a full queue or " +
		"connection table, a firewall, NAT or a wrong checksum. Linux retransmits a SYN 1, 3, 7 and 15 s after " +
		"the first one: each affected connection is delayed by that much."
	found[0].Confirm = "tcpdump on the peer shows whether the first SYN arrives, and whether the peer answers it."
	return decisive(do("capture on both ends at once: if the first SYN does not arrive, look for drops on the "+
		"path (conntrack -S, ethtool -S NAME; on a tunnel, also disable its checksum offload: ethtool -K NAME "+
		"tx-checksum-ip-generic off); if it arrives, check nstat -az TcpExtListenDrops on the "+
		"receiver", with(repeated(n, often), found)))
}

// gaveUp finds programs that gave up connecting.
func gaveUp(f *facts.Facts) []Finding {
	const often = 3
	lines, n := matching(f, facts.ConnectFailed)
	if n == 0 {
		return nil
	}
	peer := "peer"
	if m := facts.ConnectFailed.FindStringSubmatch(lines[0].Text); m != nil {
		peer = cmp.Or(m[1], m[2], m[3], m[4], m[5], peer)
	}
	return decisive(do(lookAtPeer, with(repeated(n, often), one(peer, lines,
		"a program's connection attempts timed out (%s)", counted(n, "line")))))
}
