package diagnose

// pmtuBlackHole finds paths that swallow large packets.
func pmtuBlackHole() Rule {
	return Rule{
		ID: "pmtu-black-hole", Title: "Some paths seem to swallow large packets", Needs: []string{"counters"},
		Severity: Warning, Systems: []string{"linux", "freebsd"},
		Because: "Where the ICMP messages of path MTU discovery are filtered, full segments vanish and a connection " +
			"hangs until the sender tries smaller ones.",
		Confirm: "ping with the do-not-fragment bit and a full-sized packet gets no answer, a small one does.",
		Check: func(in Input) []Finding {
			f := in.Facts
			found := counters(f, "TcpExt.TCPMTUPFail", "TcpExt.TCPMTUPSuccess",
				"tcp.path_mtu_discovery_black_hole_detection_activation")
			severity := Warning
			if f.System == "linux" {
				// With tcp_mtu_probing=2 every connection probes. With 1 repeated
				// timeouts start it, which a dead peer causes as well.
				if v, ok := f.Integer("net.ipv4.tcp_mtu_probing"); ok && v != 1 {
					return nil
				}
				severity = Info
			}
			if len(found) == 0 || found[0].Value <= total(f, "tcp.path_mtu_discovery_black_hole_detection_failure") {
				return nil
			}
			return with(severity, do("let ICMP type 3 code 4 and ICMPv6 type 2 pass, or clamp the MSS at the tunnel",
				one("tcp", sources(found), "the sender had to probe for a smaller segment size: %s", happened(found[0]))))
		},
		Fires: freebsdExample("netstat -s", "tcp:\n\t100 packets sent\n\t12 Path MTU discovery black hole detection "+
			"activations\n"),
		Quiet: freebsdExample("netstat -s", "tcp:\n\t100 packets sent\n\t0 Path MTU discovery black hole detection "+
			"activations\n"),
	}
}
