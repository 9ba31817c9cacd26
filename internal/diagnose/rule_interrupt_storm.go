package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// interruptStorm finds FreeBSD's throttling of an interrupt source.
func interruptStorm() Rule {
	return Rule{
		ID: "interrupt-storm", Title: "A device interrupts without end, or was throttled for it", Systems: onFreeBSD(),
		Needs: []string{"messages|interrupts"}, Severity: Warning,
		Settings: []string{"hw.intr_storm_threshold"},
		Because: "A throttled interrupt is served late, so a card overruns its ring. A fast card may reach the threshold in " +
			"normal operation; otherwise the device is faulty.",
		Check: func(in Input) []Finding {
			m, ok := in.Facts.Message("interrupt storm detected")
			if !ok {
				return storming(in.Facts)
			}
			return one("interrupts", []facts.Source{m.Source}, "the kernel reported an interrupt storm")
		},
		Fires: freebsdExample("dmesg", "interrupt storm detected on \"irq16:\"; throttling interrupt source\n"),
		Quiet: freebsdExample("dmesg", "em0: link state changed to UP\n"),
	}
}

// storming finds a device that is no network card and interrupts far more often than any traffic of its kind, as vmstat -i shows it.
func storming(f *facts.Facts) (out []Finding) {
	const tooMany = 50_000 // a second, on average since the start; a busy NVMe controller has a fifth of it on one vector
	for _, irq := range f.Interrupts {
		if irq.Rate < tooMany || irq.NIC != "" || quietSources.MatchString(irq.ID+" "+irq.Name) {
			continue
		}
		found := do("find the device behind "+irq.ID+" (dmesg, devinfo -rv): switch it off in the BIOS if it is not needed, update the BIOS, "+
			"or move the card that shares its interrupt to another slot", one(irq.ID, []facts.Source{irq.Total.Source},
			"%s interrupts %d times a second on average", irq.Name, irq.Rate))
		found[0].Because = "Serving the interrupts takes a core's time, and a network card that shares the line is served late. A line that " +
			"nobody clears is a defect of the firmware, the driver or the device."
		found[0].Confirm = "top -SHP shows the thread intr{" + irq.ID + "...} busy without traffic."
		out = append(out, found...)
	}
	return out
}

// quietSources are clocks, messages between processors, and network cards, whose interrupts follow the packets.
var quietSources = regexp.MustCompile(`timer|clock|hpet|ipi\b|\b` + facts.CardDrivers + `\d+\b|total`)
