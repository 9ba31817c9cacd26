package diagnose

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

const lookAtPeer = "look at the peer first: does the program that listens there accept (ss -ltn), and does a firewall in " +
	"between drop the handshake"

// peerSilent finds a peer that does not answer the handshakes of this host.
func peerSilent() Rule {
	return Rule{
		ID: "peer-silent", Title: "A peer does not answer new connections",
		Needs: []string{"linux:flows|socket table|handshakes|messages", "freebsd:socket table|handshakes|messages",
			"openbsd:socket table|handshakes|messages"}, Severity: Warning,
		Because: "Nothing came back to the first packet of these connections. The peer is down or its queue of new connections " +
			"is full, a firewall drops them, or the way there or back loses them.",
		Confirm: "The same connections are still in SYN-SENT some seconds later; tcpdump at the peer tells whether they arrive, and " +
			"its ss -ltn and nstat -az TcpExtListenDrops whether it drops them.",
		Check: func(in Input) []Finding {
			const many = 3
			for _, d := range in.Facts.Talks {
				if d.Asked >= many {
					return do(lookAtPeer, one(d.To, []facts.Source{d.AskedLine}, "the same handshake was begun %d times, and no "+
						"answer is shown", d.Asked))
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
				"%s to it wait for an answer (SYN-SENT)", counted(worst.Connections, "connection")))
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
		"a program gave up connecting after no answer, in %s", counted(n, "line")))))
}
