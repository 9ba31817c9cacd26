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
		ID: "slow-clock-source", Title: "The kernel uses a slow clock source", Needs: []string{"linux:system files|messages",
			"freebsd:settings", "openbsd:settings"}, Severity: Warning,
		Because: "TCP reads the clock for every segment; a clock outside the CPU costs about a microsecond per read, and HPET " +
			"and ACPI timers serialise the cores.",
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
			return do("find out why the TSC was rejected (the kernel log says so at boot); firmware or virtual machine settings "+
				"are the usual cause",
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
	return do("find out why the TSC was rejected (the preceding log lines say so); firmware or virtual machine settings "+
		"are the usual cause",
		one("clock", lines[len(lines)-1:], "the kernel switched to clock source %s",
			slowClock.FindStringSubmatch(lines[0].Text)[1]))
}

var slowClock = regexp.MustCompile(`clocksource: Switched to clocksource (hpet|acpi_pm|jiffies)\b`)
