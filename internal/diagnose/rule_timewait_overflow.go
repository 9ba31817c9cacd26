package diagnose

// timeWaitOverflow finds the table of connections in TIME_WAIT full.
func timeWaitOverflow() Rule {
	return Rule{
		ID: "time-wait-overflow", Title: "The TIME_WAIT table overflowed", Systems: onLinux(),
		Needs: []string{"counters|messages"}, Severity: Warning,
		Settings: []string{"net.ipv4.tcp_max_tw_buckets"},
		Because: "Further closed connections skip TIME_WAIT, and their late segments may disturb a new connection on the same " +
			"ports. That many short connections also use up the local ports.",
		Check: func(in Input) []Finding {
			lines, n := logged(in.Facts, "time wait bucket table overflow")
			over := counters(in.Facts, "TcpExt.TCPTimeWaitOverflow")
			switch {
			case len(over) > 0:
				return with(graded(over[0], total(in.Facts, "Tcp.ActiveOpens")+total(in.Facts, "Tcp.PassiveOpens"), Warning),
					one("tcp", append(sources(over), lines...), "%s", happened(over[0])))
			case n > 0:
				return one("tcp", lines, "the kernel reported it (%s)", counted(n, "line"))
			}
			return nil
		},
		Fires: linuxExample("dmesg", "[ 1021.120] TCP: time wait bucket table overflow\n"),
		Quiet: linuxExample("/proc/net/netstat", "TcpExt: TCPTimeWaitOverflow\nTcpExt: 0\n"),
	}
}
