package lint

// existenceCodes are about settings that the system does not have.
func existenceCodes() []Code {
	return []Code{
		{ID: "unknown-key", Title: "no release has this setting", Severity: Warning,
			Explanation: "The name is in a subtree that the catalog describes in full (docs/kernels.md says of which " +
				"kernels), but is not among its settings: usually a typing error. In other subtrees only a " +
				"name that resembles a known one is reported. In .link and .network files an option that resembles " +
				"a known one is reported, and in [Link] of a .link file every unknown one.",
			Bad:  one("freebsd", "14.0", "/etc/sysctl.conf", "net.inet.tcp.recbuf_max=4194304\n"),
			Good: one("freebsd", "14.0", "/etc/sysctl.conf", "net.inet.tcp.recvbuf_max=4194304\nnet.inet.tcp.rack.myown=1\n")},
		{ID: "removed", Title: "the setting is gone", Severity: Warning,
			Explanation: "The release no longer has the setting, so the line only produces an error message. If the release " +
				"is not known, what the newest one lacks is reported. A setting that the machine of --from has is not reported.",
			Bad:  one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_tw_recycle = 0\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_tw_reuse = 1\n")},
		{ID: "renamed", Title: "the setting has a new name", Severity: Warning,
			Explanation: "The setting continues to exist under another name. As long as both names work, " +
				"the line is only an info.",
			Bad:  one("freebsd", "14.0", "/etc/sysctl.conf", "net.inet.tcp.rack.data_after_close=1\n"),
			Good: one("freebsd", "14.0", "/etc/sysctl.conf", "net.inet.tcp.initcwnd_segments=20\n")},
		{ID: "not-yet", Title: "a later release has this setting", Severity: Warning,
			Explanation: "The release that the file is for does not have the setting yet. This is reported only if " +
				"the release is known, and not for a setting that the machine of --from has: distributions add newer " +
				"ones to their kernels.",
			Bad:  one("freebsd", "12.4", "/etc/sysctl.conf", "net.inet.tcp.rack.misc.data_after_close=0\n"),
			Good: one("freebsd", "", "/etc/sysctl.conf", "net.inet.tcp.rack.misc.data_after_close=0\n")},
		{ID: "wrong-system", Title: "a setting of another system", Severity: Error,
			Explanation: "The setting belongs to another operating system; this one has none with that name.",
			Bad:         one("freebsd", "14.0", "/etc/sysctl.conf", "net.ipv4.tcp_sack=1\n"),
			Good:        one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_congestion_control=cubic\n")},
	}
}
