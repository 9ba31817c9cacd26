package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// driverMemory finds drivers that got no memory for their queues.
func driverMemory() Rule {
	return Rule{
		ID: "driver-memory", Title: "A driver got no memory for its receive queues", Severity: Critical,
		Needs: []string{"messages"},
		Because: "When an interface comes up its driver fills every receive ring with mbuf clusters: ports x queues x " +
			"descriptors at once. Where the limit is reached, the interface stays down.",
		Confirm: "netstat -m shows denied requests; with a higher limit, or fewer queues or descriptors, the interface " +
			"comes up.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, noStructures)
			if n == 0 {
				return nil
			}
			found := one(cardOf(lines[0].Text), lines, "its driver could not set up its receive queues, in %s",
				counted(n, "line"))
			if in.Facts.System == "freebsd" {
				found[0].Fix = []Fix{{Setting: "kern.ipc.nmbclusters", Formula: "ports * queues * descriptors, beside what " +
					"sockets need"}, {Setting: "kern.ipc.nmbjumbop", Formula: "the same, where the MTU is above 2048"}}
			} else {
				found = do("use fewer queues or shorter rings, or raise the kernel's limit of clusters", found)
			}
			return found
		},
		Fires: freebsdExample("dmesg", "igb3: Using 2048 TX descriptors and 2048 RX descriptors\nigb3: Could not setup "+
			"receive structures\n"),
		Quiet: freebsdExample("dmesg", "igb3: Using 2048 TX descriptors and 2048 RX descriptors\n"),
	}
}

var noStructures = regexp.MustCompile(`(?i)could not set ?up (receive|transmit) structures|` +
	`unable to (allocate|fill) (all )?(the )?(rx|receive) (descriptor|ring|buffer)`)
