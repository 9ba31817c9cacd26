package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// reordering finds paths that deliver segments out of order.
func reordering() Rule {
	return Rule{
		ID: "reordering", Title: "Segments arrive out of order at the peers", Systems: onLinux(),
		Needs: []string{"counters", "protocols"}, Severity: Info,
		Because: "A reordered segment looks like a lost one until the sender has detected the reordering; " +
			"it costs retransmissions and halved windows.",
		Check: func(in Input) []Finding {
			f := in.Facts
			found := counters(f, "TcpExt.TCPSACKReorder", "TcpExt.TCPTSReorder", "TcpExt.TCPRenoReorder")
			sent := total(f, "Tcp.OutSegs")
			var all uint64
			for _, c := range found {
				all += c.Value
			}
			if sent < 10000 || float64(all) < 1e-4*float64(sent) {
				return nil
			}
			out := one("tcp", sources(found), "%d times the sender found reordering in %d segments sent", all, sent)
			if bond := roundRobin(f); bond != nil {
				out[0].Summary += "; " + bond.Name + " sends them by turns over its members"
				return decisive(do("use a mode that keeps each connection on one member: 802.3ad with xmit_hash_policy layer3+4, or "+
					"balance-xor", with(Warning, out)))
			}
			return do("look for load balancing by packet instead of by flow (bonds in round-robin, several links) on the path", out)
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: TCPSACKReorder TCPTSReorder\nTcpExt: 9000 100\n",
			"/proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1000000 210\n"),
		Quiet: linuxExample("/proc/net/netstat", "TcpExt: TCPSACKReorder TCPTSReorder\nTcpExt: 9 1\n", "/proc/net/snmp",
			"Tcp: OutSegs RetransSegs\nTcp: 1000000 210\n"),
	}
}

// roundRobin finds a bond that spreads the packets of one connection over its members.
func roundRobin(f *facts.Facts) *facts.NIC {
	for i := range f.NICs {
		if n := &f.NICs[i]; strings.Contains(n.BondMode, "round-robin") {
			return n
		}
	}
	return nil
}
