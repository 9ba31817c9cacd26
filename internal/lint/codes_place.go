package lint

// placeCodes are about lines in the wrong place.
func placeCodes() []Code {
	return []Code{
		{ID: "wrong-file", Title: "this file cannot set it", Severity: Error,
			Explanation: "A boot-time tunable in sysctl.conf is refused by the running kernel; a loader variable in rc.conf " +
				"is read by no program; a run-time setting in loader.conf is ignored by the kernel (a warning). An option of " +
				".link files in a .network file, or the other way round, is ignored (a warning), " +
				"and so is a setting of a unit in another section than its own. " +
				"A container whose sysctls include a setting of the whole host does not start.",
			Bad:  one("freebsd", "14.0", "/etc/sysctl.conf", "net.isr.maxthreads=-1\n"),
			Good: one("freebsd", "14.0", "/boot/loader.conf", "net.isr.maxthreads=\"-1\"\n")},
		{ID: "read-only", Title: "the kernel only reports this", Severity: Error,
			Explanation: "The variable reports something and cannot be written, neither at boot nor later.",
			Bad:         one("freebsd", "14.0", "/etc/sysctl.conf", "kern.ipc.numopensockets=10\n"),
			Good:        one("freebsd", "14.0", "/etc/sysctl.conf", "kern.ipc.maxsockbuf=16777216\n")},
		{ID: "driver", Title: "a setting of another network driver", Severity: Warning,
			Explanation: "The setting belongs to a driver that the machine, or the one named by --driver, does not " +
				"use. Nothing is reported if the driver is not known.",
			Bad:  withDriver(one("freebsd", "14.0", "/boot/loader.conf", "hw.cxgbe.qsize_txq=\"2048\"\n"), "igb"),
			Good: withDriver(one("freebsd", "14.0", "/boot/loader.conf", "hw.cxgbe.qsize_txq=\"2048\"\n"), "cxgbe")},
	}
}

func withDriver(e Example, driver string) Example {
	e.Driver = driver
	return e
}
