package diagnose

// checksums finds packets that arrived damaged past the link's own check.
func checksums() Rule {
	return Rule{
		ID: "checksum-errors", Title: "TCP segments arrive with wrong checksums", Systems: []string{"linux", "freebsd"},
		Needs: []string{"linux:protocols", "freebsd:counters"}, Severity: Info,
		Because: "The frame's own CRC was good, so the corruption happened in a device or in a driver's offload, not on the " +
			"wire.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "Tcp.InCsumErrors", "tcp.packet_received.discarded_for_bad_checksum")
			arrived := total(in.Facts, "Tcp.InSegs") + total(in.Facts, "tcp.packet_received")
			if len(found) == 0 || arrived == 0 || float64(found[0].Value) < 1e-5*float64(arrived) || !still(found[0]) {
				return nil
			}
			return one("tcp", sources(found), "%s of %d segments", happened(found[0]), arrived)
		},
		Fires: linuxExample("/proc/net/snmp", "Tcp: InSegs InCsumErrors\nTcp: 1000000 900\n"),
		Quiet: linuxExample("/proc/net/snmp", "Tcp: InSegs InCsumErrors\nTcp: 1000000 1\n"),
	}
}
