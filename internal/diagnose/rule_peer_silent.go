package diagnose

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

const lookAtPeer = "check the peer first: that a program listens there and accepts (ss -ltn), and that no firewall in " +
	"between drops the handshake"

// peerSilent finds a peer that does not answer the handshakes of this host.
func peerSilent() Rule {
	return Rule{
		ID: "peer-silent", Title: "A peer does not respond to new connections",
		Needs: []string{"linux:flows|socket table|handshakes|messages", "freebsd:socket table|handshakes|messages",
			"openbsd:socket table|handshakes|messages"}, Severity: Warning,
		Because: "Nothing came back for the SYNs of these connections. The peer is down or its SYN queue is full, a firewall " +
			"drops them, or the path loses them.",
		Confirm: "The same connections are still in SYN-SENT some seconds later; tcpdump at the peer shows whether the SYNs " +
			"arrive, its ss -ltn and nstat -az TcpExtListenDrops whether it drops them.",
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
				return gaveUp(in.Facts)
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
