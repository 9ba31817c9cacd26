package lint

// effectCodes are about what lines do.
func effectCodes() []Code {
	return []Code{
		{ID: "no-effect", Title: "the line does nothing", Severity: Warning,
			Explanation: "The release accepts the setting and ignores it, or something else makes it ineffective.",
			Bad:         one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_low_latency = 1\n"),
			Good:        one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_notsent_lowat = 131072\n")},
		{ID: "needs", Title: "something else must come first", Severity: Warning,
			Explanation: "The setting depends on a module that none of the files loads, or on a setting that is off " +
				"or whose own line is refused. This is an info unless both loader.conf and rc.conf, which could " +
				"load the module, were given.",
			Bad: Example{System: "freebsd", Version: "14.0", Files: []ExampleFile{
				{"/etc/sysctl.conf", "net.isr.maxthreads=4\nnet.isr.dispatch=deferred\n"}}},
			Good: Example{System: "freebsd", Version: "14.0", Files: []ExampleFile{
				{"/boot/loader.conf", "net.isr.maxthreads=\"4\"\n"}, {"/etc/sysctl.conf", "net.isr.dispatch=deferred\n"}}}},
		{ID: "conflict", Title: "two lines contradict each other", Severity: Warning,
			Explanation: "Another line in the files makes this one useless or harmful. The last effective value of " +
				"each setting counts.",
			Bad:  one("linux", "6.1", "/etc/sysctl.conf", "vm.dirty_bytes = 268435456\nvm.dirty_ratio = 20\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "vm.dirty_bytes = 268435456\nvm.dirty_background_ratio = 5\n")},
		{ID: "harmful", Title: "the line does more harm than good", Severity: Warning,
			Explanation: "According to the sources that the catalog names, the value breaks or slows something. Some of " +
				"these problems depend on the role (--role) or on the machine and are not reported without it.",
			Bad:  one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_rmem = 10000000 10000000 10000000\n"),
			Good: one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_rmem = 4096 131072 33554432\n")},
		{ID: "weakens-security", Title: "the line lowers a protection", Severity: Warning,
			Explanation: "The value disables or weakens something that protects the host or its neighbours.",
			Bad:         one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_syncookies = 0\n"),
			Good:        one("linux", "6.1", "/etc/sysctl.conf", "net.ipv4.tcp_syncookies = 1\n")},
	}
}
