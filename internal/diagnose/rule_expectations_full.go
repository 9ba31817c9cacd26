package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// expectationsFull finds a full table of expected connections: the one of all connections may have room then.
func expectationsFull() Rule {
	return Rule{
		ID: "conntrack-expectations-full", Title: "The conntrack expectation table is full", Systems: onLinux(),
		Needs: []string{"messages"}, Severity: Warning,
		Settings: []string{"net.netfilter.nf_conntrack_expect_max"},
		Because: "A conntrack helper (FTP, SIP, H.323, TFTP) registers the related connections it expects: those that find no " +
			"entry are blocked. Other connections are not affected.",
		Confirm: "conntrack -L expect shows the entries and the helper that created them.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, expectationFull)
			if n == 0 {
				return nil
			}
			return do("disable helpers that are not needed", one("conntrack", lines,
				"the kernel reported a full expectation table (%s)", counted(n, "line")))
		},
		Fires: linuxExample("dmesg", "[ 9.1] nf_conntrack: expectation table full\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] nf_conntrack: nf_conntrack: table full, dropping packet\n"),
	}
}

// expectationFull is the kernel's message (net/netfilter/nf_conntrack_expect.c).
var expectationFull = regexp.MustCompile(`(?i)conntrack: ?expectation table full`)
