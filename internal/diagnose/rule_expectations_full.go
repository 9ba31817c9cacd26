package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// expectationsFull finds a full table of expected connections: the one of all connections may have room then.
func expectationsFull() Rule {
	return Rule{
		ID: "conntrack-expectations-full", Title: "The table of expected connections is full", Systems: onLinux(),
		Needs: []string{"messages"}, Severity: Warning,
		Settings: []string{"net.netfilter.nf_conntrack_expect_max"},
		Because: "A helper (FTP, SIP, H.323, TFTP) announces the connections that follow one of its protocol: what finds no " +
			"place is not let through. Other connections are not concerned.",
		Confirm: "conntrack -L expect shows the entries and the helper that made them.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, expectationFull)
			if n == 0 {
				return nil
			}
			return do("switch off helpers that nobody needs", one("conntrack", lines,
				"the kernel reported a full table of expected connections in %s", counted(n, "line")))
		},
		Fires: linuxExample("dmesg", "[ 9.1] nf_conntrack: expectation table full\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] nf_conntrack: nf_conntrack: table full, dropping packet\n"),
	}
}

// expectationFull is the kernel's message (net/netfilter/nf_conntrack_expect.c).
var expectationFull = regexp.MustCompile(`(?i)conntrack: ?expectation table full`)
