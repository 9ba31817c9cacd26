package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// reordering finds paths that deliver segments out of order.
func reordering() Rule {
	return Rule{
		ID: "reordering", Title: "Segments arrive out of order at the peers", Systems: onLinux(),
		Needs: []string{"counters|bonding", "protocols|bonding"}, Severity: Info,
		Because: "A reordered segment looks lost until the sender detects the reordering; this costs retransmissions and " +
			"window reductions.",
		Check: func(in Input) []Finding {
			f := in.Facts
			found := counters(f, "TcpExt.TCPSACKReorder", "TcpExt.TCPTSReorder", "TcpExt.TCPRenoReorder")
			sent := total(f, "Tcp.OutSegs")
			var all uint64
			for _, c := range found {
				all += c.Value
			}
			if sent < 10000 || float64(all) < 1e-4*float64(sent) {
				return inTurn(f)
			}
			out := one("tcp", sources(found), "the sender detected reordering %d times in %d segments sent", all, sent)
			if bond := roundRobin(f); bond != nil {
				out[0].Summary += "; " + bond.Name + " sends round-robin over its members"
				return decisive(do(oneMember, with(Warning, out)))
			}
			const most, many = 0.5, 0.005 // of the retransmissions, of the segments
			if again := f.Counters["Tcp.RetransSegs"]; needless(f) >= most && float64(again.Value) >= many*float64(sent) {
				out[0].Summary += fmt.Sprintf("; %.0f%% of the %d retransmissions were needless", 100*needless(f), again.Value)
				out[0].Evidence = append(out[0].Evidence, f.Counters["TcpExt.TCPDSACKRecv"].Source)
				out = with(Warning, out)
			}
			return do("check the path for per-packet instead of per-flow load balancing (balance-rr bonds, parallel links)", out)
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: TCPSACKReorder TCPTSReorder\nTcpExt: 9000 100\n",
			"/proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1000000 210\n"),
		Quiet: linuxExample("/proc/net/netstat", "TcpExt: TCPSACKReorder TCPTSReorder\nTcpExt: 9 1\n", "/proc/net/snmp",
			"Tcp: OutSegs RetransSegs\nTcp: 1000000 210\n"),
	}
}

// inTurn finds such a bond where nothing counted what it does (drivers/net/bonding/bond_main.c of Linux, bond_mode_name).
func inTurn(f *facts.Facts) []Finding {
	bond := roundRobin(f)
	if bond == nil {
		return nil
	}
	var up []string
	for i := range f.NICs {
		if m := &f.NICs[i]; m.Master == bond.Name && m.Up {
			up = append(up, m.Name)
		}
	}
	if len(up) < 2 {
		return nil
	}
	found := with(Warning, one(bond.Name, []facts.Source{bond.Shown["bond_mode"]}, "the bond spreads packets "+
		"round-robin over its %s (balance-rr), which reorders the packets of a connection", counted(len(up), "member")))
	found[0].Because = "TCP mistakes reordered segments for lost ones, retransmits them and reduces its window: " +
		"one connection gets little more than the rate of one link, often less."
	found[0].Confirm = "A test with one member down is as fast or faster (ip link set " + up[len(up)-1] + " down)."
	return do(oneMember, found)
}

// oneMember is the remedy of a bond that reorders.
const oneMember = "use mode 802.3ad (LACP on the switch) or balance-xor with xmit_hash_policy layer3+4: a connection " +
	"stays on one link, and several connections use all links; for a single transfer over all links, use " +
	"several connections (iSCSI multipath, NFS nconnect, SMB multichannel)"

// roundRobin finds a bond that spreads the packets of one connection over its members.
func roundRobin(f *facts.Facts) *facts.NIC {
	for i := range f.NICs {
		if n := &f.NICs[i]; strings.Contains(n.BondMode, "round-robin") {
			return n
		}
	}
	return nil
}
