package diagnose

import (
	"github.com/wirerate/wirerate/internal/regexp"
)

// processorStuck finds processors that did nothing else for seconds, by the kernel's watchdogs (kernel/watchdog.c,
// kernel/rcu/tree_stall.h).
func processorStuck() Rule {
	return Rule{
		ID: "cpu-stuck", Title: "A CPU was stuck for seconds (soft lockup)", Systems: onLinux(), Needs: []string{"messages"},
		Severity: Critical,
		Because: "A stuck CPU serves no interrupts: the card queues it handles fill up, connections stall, and drivers reset " +
			"cards whose packets were not completed in time.",
		Confirm: "The network stalls coincide with these messages.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, stuckProcessor)
			if n == 0 {
				return nil
			}
			subject := "kernel"
			what := "stalled"
			if m := stuckProcessor.FindStringSubmatch(lines[0].Text); m != nil && m[1] != "" {
				subject, what = "CPU "+m[1], "stuck for "+m[2]+" s"
			}
			severity := Critical
			if hung, n := matching(in.Facts, hungHardware); n > 0 && hung[0].Line < lines[0].Line {
				severity = Warning // what came of it
			}
			return with(severity, do("check what the lines after it name: memory shortage, a driver, a kernel busy loop; in a "+
				"virtual machine, check steal time (st in top) and CPU overcommitment of the host",
				one(subject, lines, "%s (%s)", what, counted(n, "line"))))
		},
		Fires: linuxExample("dmesg", "[ 9.1] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [kworker/3:1:77]\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.\n"),
	}
}

// hungHardware are a few drivers' words of a card that hung by itself.
var hungHardware = regexp.MustCompile(`TX timeout detected|Unit Hang|Reset adapter unexpectedly|PCIe link lost`)

var stuckProcessor = regexp.MustCompile(`soft lockup - CPU#(\d+) stuck for (\d+)s|` +
	`rcu\S* (?:\S+ )?(?:self-detected stall|detected stalls on CPU|detected expedited stalls on CPU)|` +
	`hard LOCKUP on cpu`)
