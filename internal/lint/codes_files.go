package lint

// fileCodes are about lines and files as a whole.
func fileCodes() []Code {
	return []Code{
		{ID: "duplicate", Title: "a later line of the file sets it again", Severity: Warning,
			Explanation: "The lines are applied in order, so the earlier one has no effect. Different spellings (net/core/x, " +
				"net.core.x) and old and new names are the same setting. Setting the same value twice is an info.",
			Bad: one("linux", "6.1", "/etc/sysctl.conf", "net.core.rmem_max = 16777216\nnet/core/rmem_max = 33554432\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf",
				"net.ipv4.conf.all.rp_filter = 1\nnet.ipv4.conf.default.rp_filter = 2\n")},
		{ID: "overridden", Title: "a file that is read later sets it again", Severity: Warning,
			Explanation: "The files are applied in the order in which the system reads them: sysctl.d by name regardless of " +
				"the directory, loader.conf before loader.conf.d and loader.conf.local, rc.conf before rc.conf.local and " +
				"rc.conf.d. A drop-in that another one of the same name masks is not read at all.",
			Bad: Example{System: "linux", Version: "6.1", Files: []ExampleFile{
				{"/etc/sysctl.d/10-net.conf", "net.core.somaxconn = 1024\n"},
				{"/usr/lib/sysctl.d/90-app.conf", "net.core.somaxconn = 65535\n"}}},
			Good: Example{System: "linux", Version: "6.1", Files: []ExampleFile{
				{"/etc/sysctl.d/10-net.conf", "net.core.somaxconn = 1024\n"},
				{"/etc/sysctl.d/90-app.conf", "net.core.rmem_max = 8388608\n"}}}},
		{ID: "syntax", Title: "the system does not accept the line", Severity: Warning,
			Explanation: "By the rules of the program that reads the file this is not a setting: a line without '=', " +
				"an unclosed quotation mark, a byte-order mark, 192.0.2.300 as an address. The system skips it. A " +
				"comment after a number in a sysctl file of Linux, which is passed to the kernel too, is an info, once per file. In pf.conf such " +
				"a line is an error, since pfctl then loads nothing.",
			Bad:  one("linux", "6.1", "/etc/sysctl.conf", "net.core.somaxconn 1024\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "net.core.somaxconn=1024\n; a comment\n")},
		{ID: "drift", Title: "the running value is different", Severity: Info,
			Explanation: "With a live machine or a capture, the file's value is compared with the one in the " +
				"kernel. Without one, nothing is reported.",
			Bad:  one("linux", "6.1", "/etc/sysctl.conf", "net.core.somaxconn = 1024\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "net.core.somaxconn = 4096\n")},
	}
}
