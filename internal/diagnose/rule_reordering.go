package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// reordering finds paths that deliver segments out of order.
func reordering() Rule {
	return Rule{
		ID: "reordering", Title: "Segments arrive out of order at the peers", Systems: onLinux(),
		Needs: []string{"counters|bonding", "protocols|bonding"}, Severity: Info,
		Because: "A reordered segment looks like a lost one until the sender has detected the reordering; " +
			"it costs retransmissions and halved windows.",
		Check: func(in Input) []Finding {
			f := in.Facts
			if taken := inTurn(f); taken != nil {
				return taken
			}
			found := counters(f, "TcpExt.TCPSACKReorder", "TcpExt.TCPTSReorder", "TcpExt.TCPRenoReorder")
			sent := total(f, "Tcp.OutSegs")
			var all uint64
			for _, c := range found {
				all += c.Value
			}
			if sent < 10000 || float64(all) < 1e-4*float64(sent) {
				return nil
			}
			return do("look for load balancing by packet instead of by flow (bonds in round-robin, several links) on the path",
				one("tcp", sources(found), "%d times the sender found reordering in %d segments sent", all, sent))
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: TCPSACKReorder TCPTSReorder\nTcpExt: 9000 100\n",
			"/proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1000000 210\n"),
		Quiet: linuxExample("/proc/net/netstat", "TcpExt: TCPSACKReorder TCPTSReorder\nTcpExt: 9 1\n", "/proc/net/snmp",
			"Tcp: OutSegs RetransSegs\nTcp: 1000000 210\n"),
	}
}

// inTurn finds bonds that send packet by packet over several members (drivers/net/bonding/bond_main.c of Linux, bond_mode_name).
func inTurn(f *facts.Facts) (out []Finding) {
	for i := range f.NICs {
		bond := &f.NICs[i]
		if !strings.Contains(bond.BondMode, "round-robin") {
			continue
		}
		var up []string
		for j := range f.NICs {
			if m := &f.NICs[j]; m.Master == bond.Name && m.Up {
				up = append(up, m.Name)
			}
		}
		if len(up) < 2 {
			continue
		}
		found := with(Warning, one(bond.Name, []facts.Source{bond.Shown["bond_mode"]}, "the bond sends packet by packet over "+
			"its %s (balance-rr): the packets of one connection overtake each other", counted(len(up), "member")))
		found[0].Because = "TCP takes what arrives late for lost, sends it again and halves its window: one connection gets little " +
			"more than one link carries, often less."
		found[0].Confirm = "A test with one member down is as fast or faster (ip link set " + up[len(up)-1] + " down)."
		out = append(out, do("use mode 802.3ad (LACP on the switch) or balance-xor with xmit_hash_policy layer3+4: a connection "+
			"stays on one link, and several connections fill them all; for one transfer over several links use several "+
			"connections (iSCSI multipath, NFS nconnect, SMB multichannel)", found)...)
	}
	return out
}
