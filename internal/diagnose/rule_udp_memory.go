package diagnose

// udpMemory finds datagrams dropped since all UDP sockets together were above their limit.
func udpMemory() Rule {
	return Rule{
		ID: "udp-memory", Title: "Datagrams were dropped since UDP was out of memory", Systems: onLinux(),
		Needs: []string{"protocols"}, Severity: Warning,
		Because: "All UDP sockets together may keep as many pages as net.ipv4.udp_mem says: above it what arrives is " +
			"dropped, whatever the buffer of its own socket allows. Large buffers of programs that read slowly fill it.",
		Confirm: "mem in the line UDP of /proc/net/sockstat is near the third number of udp_mem.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "Udp.MemErrors")
			if len(found) == 0 {
				return nil
			}
			return do("let the program with the largest queue (ss -uamp) read faster, or with a smaller buffer; else raise "+
				"net.ipv4.udp_mem", lost(found[0], total(in.Facts, "Udp.InDatagrams"), one("udp", sources(found),
				"datagrams dropped for lack of memory for UDP: %s", happened(found[0]))))
		},
		Fires: linuxExample("/proc/net/snmp", "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors MemErrors\n"+
			"Udp: 100000 5 9000 1000 0 9000\n"),
		Quiet: linuxExample("/proc/net/snmp", "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors MemErrors\n"+
			"Udp: 100000 5 0 1000 0 0\n"),
	}
}
