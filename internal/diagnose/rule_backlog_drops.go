package diagnose

// backlogDrops finds segments dropped at a socket whose program was busy in it.
func backlogDrops() Rule {
	return Rule{
		ID: "socket-backlog-drops", Title: "Segments were dropped at a socket's backlog", Systems: onLinux(),
		Needs: []string{"counters"}, Severity: Info,
		Settings: []string{"net.ipv4.tcp_rmem"},
		Because: "While a program is inside a system call on a socket, arriving segments wait in a backlog that is bounded by " +
			"the socket's buffers; at high rates on one core it overflows.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "TcpExt.TCPBacklogDrop")
			if len(found) == 0 || !still(found[0]) {
				return nil
			}
			return with(graded(found[0], total(in.Facts, "Tcp.InSegs"), Warning),
				one("tcp", sources(found), "%s", happened(found[0])))
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: TCPBacklogDrop\nTcpExt: 90\n"),
		Quiet: linuxExample("/proc/net/netstat", "TcpExt: TCPBacklogDrop\nTcpExt: 0\n"),
	}
}
