package diagnose

import (
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// clockSource finds a slow clock.
func clockSource() Rule {
	return Rule{
		ID: "slow-clock-source", Title: "The kernel reads a slow clock", Needs: []string{"linux:system files|messages",
			"freebsd:settings", "openbsd:settings"}, Severity: Warning,
		Because: "TCP reads the time for each segment; a clock outside the processor costs about a " +
			"microsecond per reading, and HPET and ACPI timers serialise the cores.",
		Check: func(in Input) []Finding {
			names := map[system.System]string{"linux": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
				"freebsd": "kern.timecounter.hardware", "openbsd": "kern.timecounter.hardware"}
			name := names[in.Facts.System]
			v, ok := in.Facts.Setting(name)
			slow := []string{"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "i8254", "ACPI-safe", "HPET",
				"acpitimer0", "acpihpet0"}
			if !ok && in.Facts.System == system.Linux {
				return switchedClock(in.Facts)
			}
			if !ok || !slices.Contains(slow, v) {
				return nil
			}
			return do("find out why the processor's own clock (tsc) was rejected: the kernel's log says so at boot; "+
				"firmware or virtual machine settings are the usual cause",
				one("clock", []facts.Source{in.Facts.Settings[name].Source}, "the clock source is %s", v))
		},
		Fires: linuxExample("/sys", "/sys/devices/system/clocksource/clocksource0/current_clocksource:hpet\n"),
		Quiet: freebsdExample("sysctl -a", "kern.timecounter.hardware: TSC-low\n"),
	}
}

// switchedClock finds a kernel that gave up the processor's clock while it ran.
func switchedClock(f *facts.Facts) []Finding {
	lines, n := matching(f, slowClock)
	if n == 0 {
		return nil
	}
	return do("find out why the processor's own clock (tsc) was rejected: the lines before this one say so; firmware, "+
		"or the settings of the virtual machine, are the usual cause",
		one("clock", lines[len(lines)-1:], "the kernel went over to the clock source %s",
			slowClock.FindStringSubmatch(lines[0].Text)[1]))
}

var slowClock = regexp.MustCompile(`clocksource: Switched to clocksource (hpet|acpi_pm|jiffies)\b`)
