package diagnose

// outOfMemory finds programs that the kernel of FreeBSD ended for want of memory.
func outOfMemory() Rule {
	return Rule{
		ID: "out-of-memory", Title: "The kernel ended programs for want of memory", Systems: onFreeBSD(),
		Needs: []string{"messages"}, Severity: Critical,
		Because: "Who talked to that program waits until it is started again; before, everything was " +
			"slow, network memory too.",
		Check: func(in Input) []Finding {
			for _, mark := range []string{"was killed: out of swap space", "was killed: failed to reclaim memory",
				"swap_pager: out of swap space"} {
				if lines, n := logged(in.Facts, mark); n > 0 {
					return do("find what takes the memory (top -o res); give the host more, or the program less",
						one("memory", lines, "the kernel reported it in %s", counted(n, "line")))
				}
			}
			return nil
		},
		Fires: freebsdExample("dmesg", "pid 31231 (unbound), jid 0, uid 59, was killed: out of swap space\n"),
		Quiet: freebsdExample("dmesg", "pid 31231 (unbound), jid 0, uid 59: exited on signal 11\n"),
	}
}
