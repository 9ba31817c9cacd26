package diagnose

// listenOverflow finds accept queues that overflowed.
func listenOverflow() Rule {
	return Rule{
		ID: "listen-overflow", Title: "Accept queues overflowed", Systems: []string{"linux", "freebsd"}, Needs: []string{"counters"}, Severity: Critical,
		Because: "A connection whose handshake is complete is lost when the accept queue is full: the program accepts too slowly, or its backlog is too short.",
		Confirm: "The counter grows under load; ss -ltn or netstat -Lan shows the queue at its limit.",
		Check: func(in Input) []Finding {
			f := in.Facts
			found := counters(f, "TcpExt.ListenOverflows", "tcp.listen_queue_overflow")
			if len(found) == 0 {
				return nil
			}
			accepted := total(f, "Tcp.PassiveOpens") + total(f, "tcp.connection_accept")
			s := graded(found[0], accepted, 1e-4, Critical)
			if accepted == 0 && still(found[0]) {
				s = Warning
			}
			out := with(s, one("listening sockets", sources(found), "connections lost at full accept queues: %s", happened(found[0])))
			out[0].Fix = []Fix{{Setting: map[string]string{"linux": "net.core.somaxconn", "freebsd": "kern.ipc.soacceptqueue"}[f.System]},
				{Action: "raise the backlog that the program gives to listen(), or accept faster"}}
			return out
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: ListenOverflows ListenDrops\nTcpExt: 412 412\n"),
		Quiet: freebsdExample("netstat -s", "tcp:\n\t0 connection requests\n\t0 listen queue overflows\n"),
	}
}
