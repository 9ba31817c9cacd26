package diagnose

// receivePruned finds receive queues that outgrew their buffers.
func receivePruned() Rule {
	return Rule{
		ID: "receive-pruned", Title: "Receive queues were pruned for lack of buffer space", Systems: onLinux(),
		Needs: []string{"counters"}, Severity: Warning,
		Settings: []string{"net.ipv4.tcp_rmem"},
		Because: "When a socket's receive queue outgrows its buffer, the kernel collapses it, which is expensive, or drops " +
			"data that it had already SACKed.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "TcpExt.RcvPruned", "TcpExt.OfoPruned", "TcpExt.TCPRcvQDrop", "TcpExt.PruneCalled")
			if len(found) == 0 {
				return nil
			}
			received := max(total(in.Facts, "Tcp.InSegs"), total(in.Facts, "TcpExt.DelayedACKs"), total(in.Facts, "TcpExt.TCPHPHits"))
			s := graded(found[0], received, Warning)
			_, tellsDropped := in.Facts.Counters["TcpExt.RcvPruned"]
			// Old net-tools say only how often the kernel pruned.
			if tellsDropped && total(in.Facts, "TcpExt.RcvPruned")+total(in.Facts, "TcpExt.OfoPruned")+total(in.Facts,
				"TcpExt.TCPRcvQDrop") == 0 {
				s = Info
			}
			return with(s, one("tcp", sources(found), "receive queues outgrew their buffers: %s", found[0].Source.Text))
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: PruneCalled RcvPruned\nTcpExt: 90 12\n"),
		Quiet: linuxExample("/proc/net/netstat", "TcpExt: PruneCalled RcvPruned\nTcpExt: 0 0\n"),
	}
}
