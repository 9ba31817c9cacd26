package diagnose

// udpMemory finds datagrams dropped since all UDP sockets together were above their limit.
func udpMemory() Rule {
	return Rule{
		ID: "udp-memory", Title: "Datagrams were dropped because UDP was out of memory", Systems: onLinux(),
		Needs: []string{"protocols"}, Severity: Warning,
		Because: "net.ipv4.udp_mem limits the pages of all UDP sockets together: above it, datagrams are dropped, whatever " +
			"the socket's own buffer allows. Large buffers of slow programs use it up.",
		Confirm: "mem in the UDP line of /proc/net/sockstat is near the third number of udp_mem.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "Udp.MemErrors")
			if len(found) == 0 {
				return nil
			}
			return do("find the program with the largest queue (ss -uamp) and speed up its reads or reduce its buffer; otherwise "+
				"raise net.ipv4.udp_mem", lost(found[0], total(in.Facts, "Udp.InDatagrams"), one("udp", sources(found),
				"datagrams dropped because UDP was out of memory: %s", happened(found[0]))))
		},
		Fires: linuxExample("/proc/net/snmp", "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors MemErrors\n"+
			"Udp: 100000 5 9000 1000 0 9000\n"),
		Quiet: linuxExample("/proc/net/snmp", "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors MemErrors\n"+
			"Udp: 100000 5 0 1000 0 0\n"),
	}
}
