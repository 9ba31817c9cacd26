package diagnose

// udpBuffer finds datagrams dropped because the socket's buffer was full.
func udpBuffer() Rule {
	return Rule{
		ID: "udp-buffer", Title: "Datagrams were dropped for want of receive buffer", Needs: []string{"linux:protocols", "freebsd:counters", "openbsd:counters"}, Severity: Warning,
		Because: "A program that reads too slowly, or a burst larger than its buffer, loses datagrams.",
		Confirm: "The counter grows while the program is busy; a larger SO_RCVBUF stops it.",
		Check: func(in Input) []Finding {
			f := in.Facts
			found := counters(f, "Udp.RcvbufErrors", "Snmp6.Udp6RcvbufErrors", "udp.dropped_due_to_full_socket_buffer")
			if len(found) == 0 {
				return nil
			}
			arrived := total(f, "Udp.InDatagrams") + total(f, "Udp.InErrors") + total(f, "udp.datagram_received")
			out := with(graded(found[0], arrived, 1e-4, Warning), one("udp", sources(found), "datagrams dropped for full socket buffers: %s", happened(found[0])))
			if found[0].Value > 1000 && float64(found[0].Value) > 0.01*float64(arrived) && arrived > 0 && still(found[0]) {
				out = with(Critical, out)
			}
			if f.System == "linux" {
				out[0].Fix = []Fix{{Setting: "net.core.rmem_max"}, {Setting: "net.core.rmem_default"}}
			} else {
				out[0].Fix = []Fix{{Setting: "net.inet.udp.recvspace"}}
			}
			return out
		},
		Fires: linuxExample("/proc/net/snmp", "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors\nUdp: 100000 5 900 1000 900 0\n"),
		Quiet: freebsdExample("netstat -s", "udp:\n\t2527 datagrams received\n\t0 dropped due to full socket buffers\n"),
	}
}
