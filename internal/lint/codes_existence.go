package lint

// existenceCodes are about settings that the system does not have.
func existenceCodes() []Code {
	return []Code{
		{ID: "unknown-key", Title: "no release has this setting", Severity: Warning,
			Explanation: "The name is in a subtree that the catalog describes in full (docs/kernels.md says of which " +
				"kernels), and is not there: usually a typing error. In other subtrees only a name that " +
				"is spelt almost like a known one is reported. In .link and .network files an option that differs " +
				"from a known one by a slip.",
			Bad:  one("freebsd", "14.0", "/etc/sysctl.conf", "net.inet.tcp.recbuf_max=4194304\n"),
			Good: one("freebsd", "14.0", "/etc/sysctl.conf", "net.inet.tcp.recvbuf_max=4194304\nnet.inet.tcp.rack.myown=1\n")},
		{ID: "removed", Title: "the setting is gone", Severity: Warning,
			Explanation: "The release does not have the setting any more, so the line only produces an error message. " +
				"Without a known " +
				"release, what the newest one lacks is reported. A setting that the machine of --from has is not.",
			Bad:  one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_tw_recycle = 0\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_tw_reuse = 1\n")},
		{ID: "renamed", Title: "the setting has a new name", Severity: Warning,
			Explanation: "The setting lives on under another name. While both names work the line is only an info.",
			Bad:         one("freebsd", "14.0", "/etc/sysctl.conf", "net.inet.tcp.rack.data_after_close=1\n"),
			Good:        one("freebsd", "14.0", "/etc/sysctl.conf", "net.inet.tcp.initcwnd_segments=20\n")},
		{ID: "not-yet", Title: "a later release has this setting", Severity: Warning,
			Explanation: "The release that the file is for does not have the setting yet. Reported only when the " +
				"release is known, and not of " +
				"a setting that the machine of --from has: distributions bring newer ones to their kernels.",
			Bad:  one("freebsd", "12.4", "/etc/sysctl.conf", "net.inet.tcp.rack.misc.data_after_close=0\n"),
			Good: one("freebsd", "", "/etc/sysctl.conf", "net.inet.tcp.rack.misc.data_after_close=0\n")},
		{ID: "wrong-system", Title: "a setting of another system", Severity: Error,
			Explanation: "The setting belongs to another operating system; this one has none of that name.",
			Bad:         one("freebsd", "14.0", "/etc/sysctl.conf", "net.ipv4.tcp_sack=1\n"),
			Good:        one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_congestion_control=cubic\n")},
	}
}
