package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// interruptStorm finds FreeBSD's throttling of an interrupt source.
func interruptStorm() Rule {
	return Rule{
		ID: "interrupt-storm", Title: "The kernel throttled an interrupt source", Systems: onFreeBSD(),
		Needs: []string{"messages"}, Severity: Warning,
		Settings: []string{"hw.intr_storm_threshold"},
		Because: "A throttled interrupt is served late, so a card overruns its ring. A fast card may reach the threshold in " +
			"normal operation; otherwise the device is faulty.",
		Check: func(in Input) []Finding {
			m, ok := in.Facts.Message("interrupt storm detected")
			if !ok {
				return nil
			}
			return one("interrupts", []facts.Source{m.Source}, "the kernel reported an interrupt storm")
		},
		Fires: freebsdExample("dmesg", "interrupt storm detected on \"irq16:\"; throttling interrupt source\n"),
		Quiet: freebsdExample("dmesg", "em0: link state changed to UP\n"),
	}
}
