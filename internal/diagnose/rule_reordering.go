package diagnose

// reordering finds paths that deliver segments out of order.
func reordering() Rule {
	return Rule{
		ID: "reordering", Title: "Segments arrive out of order at the peers", Systems: onLinux(),
		Needs: []string{"counters", "protocols"}, Severity: Info,
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
				return nil
			}
			return do("check the path for per-packet instead of per-flow load balancing (balance-rr bonds, parallel links)",
				one("tcp", sources(found), "the sender detected reordering %d times in %d segments sent", all, sent))
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: TCPSACKReorder TCPTSReorder\nTcpExt: 9000 100\n",
			"/proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1000000 210\n"),
		Quiet: linuxExample("/proc/net/netstat", "TcpExt: TCPSACKReorder TCPTSReorder\nTcpExt: 9 1\n", "/proc/net/snmp",
			"Tcp: OutSegs RetransSegs\nTcp: 1000000 210\n"),
	}
}
