package lint

// valueCodes are about values.
func valueCodes() []Code {
	return []Code{
		{ID: "bad-value", Title: "the system does not understand the value", Severity: Error,
			Explanation: "A number is expected and something else is written, a comment has become part of the value, or a " +
				"word is not among the known ones (a warning, or an info where modules may add words).",
			Bad:  one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_fin_timeout = 30s\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_fin_timeout = 30 # seconds\n")},
		{ID: "out-of-range", Title: "the kernel refuses or limits the value", Severity: Error,
			Explanation: "According to its source, the kernel does not accept the number.",
			Bad:         one("openbsd", "7.8", "/etc/sysctl.conf", "net.inet.tcp.rfc3390=3\n"),
			Good:        one("openbsd", "7.8", "/etc/sysctl.conf", "net.inet.tcp.mssdflt=1440\n")},
		{ID: "wrong-unit", Title: "the value is in a different unit from the setting's", Severity: Error,
			Explanation: "Bytes where the kernel counts pages, seconds where it counts milliseconds: the value is impossible " +
				"in the setting's own unit and plausible in another.",
			Bad:  one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_mem = 10000000 10000000 10000000\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_mem = 192258 256346 384516\n")},
		{ID: "same-as-default", Title: "the value is the default already", Severity: Info,
			Explanation: "The value is the default of the release (of every described release, when none is known), so the " +
				"line has no effect but to keep the value when the default improves.",
			Bad:  one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_window_scaling = 1\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_slow_start_after_idle = 0\n")},
		{ID: "below-default", Title: "the value is below the system's default", Severity: Warning,
			Explanation: "The release's own default is better. Where the default depends on memory and the machine is not " +
				"known, an ordinary one is assumed and the problem is an info. Where the release is not known, a value " +
				"that raises the default of older releases is a warning if it is half of the newest one's or less, else an info.",
			Bad:  one("openbsd", "7.8", "/etc/sysctl.conf", "net.inet.tcp.rfc3390=1\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_rmem = 4096 131072 67108864\n")},
	}
}
