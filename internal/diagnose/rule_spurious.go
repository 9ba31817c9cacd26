package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// spurious finds retransmissions that were not needed.
func spurious() Rule {
	return Rule{
		ID: "spurious-retransmits", Title: "Many retransmissions were spurious",
		Systems: []string{"linux", "freebsd"}, Needs: []string{"counters", "linux:protocols"}, Severity: Info,
		Because: "The peer already had the segment: reordering or a delay spike was mistaken for loss, and the window was " +
			"reduced needlessly.",
		Check: func(in Input) []Finding {
			f := in.Facts
			again, needless := total(f, "Tcp.RetransSegs"), f.Counters["TcpExt.TCPDSACKRecv"]
			if f.System == "freebsd" {
				again, needless = total(f, "tcp.packet_sent.data_packet_retransmitted"),
					f.Counters["tcp.packet_sent.data_packet_unnecessarily_retransmitted"]
			}
			if again < 1000 || float64(needless.Value) < 0.2*float64(again) {
				return nil
			}
			return one("tcp", []facts.Source{needless.Source}, "%d of %d retransmissions were reported as duplicates",
				min(needless.Value, again), again)
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: TCPDSACKRecv TCPDSACKOfoRecv\nTcpExt: 900 0\n",
			"/proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1000000 2100\n"),
		Quiet: linuxExample("/proc/net/netstat", "TcpExt: TCPDSACKRecv TCPDSACKOfoRecv\nTcpExt: 9 0\n",
			"/proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1000000 2100\n"),
	}
}

// needless is the share of retransmissions that peers reported as duplicates (Linux).
func needless(f *facts.Facts) float64 {
	again, twice := f.Counters["Tcp.RetransSegs"].Value, f.Counters["TcpExt.TCPDSACKRecv"].Value
	return min(float64(twice)/float64(max(again, 1)), 1)
}
