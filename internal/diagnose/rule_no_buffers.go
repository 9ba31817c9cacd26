package diagnose

// noBuffers finds packets that could not be sent for lack of buffers.
func noBuffers() Rule {
	return Rule{
		ID: "output-no-buffers", Title: "Packets could not be sent for lack of buffers", Systems: onBSD(),
		Needs: []string{"counters"}, Severity: Warning,
		Because: "The send queue of an interface, or network memory, was full; UDP programs lose those packets, TCP " +
			"sends them again.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "ip.output_packet_dropped_due_to_no_buf_etc")
			if len(found) == 0 {
				return nil
			}
			return with(graded(found[0], total(in.Facts, "ip.packet_sent_from_this_host")+total(in.Facts,
				"ip.packet_forwarded"), Warning),
				one("ip", sources(found), "output packets dropped: %s", happened(found[0])))
		},
		Fires: freebsdExample("netstat -s", "ip:\n\t54487 packets sent from this host\n\t92 output packets dropped "+
			"due to no bufs, etc.\n"),
		Quiet: freebsdExample("netstat -s", "ip:\n\t54487 packets sent from this host\n\t0 output packets dropped "+
			"due to no bufs, etc.\n"),
	}
}
