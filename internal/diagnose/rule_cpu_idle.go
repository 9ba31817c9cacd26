package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// cpuIdle finds energy saving of the processor on a latency role.
func cpuIdle() Rule {
	return Rule{
		ID: "cpu-power-latency", Title: "The processor may sleep deeply or run slowly on a latency role", Systems: onLinux(), Needs: []string{"system files"}, Severity: Info,
		Because: "Waking from a deep idle state, or running at a low frequency, adds tens to hundreds of microseconds to a reply.",
		Check: func(in Input) []Finding {
			const governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
			v, ok := in.Facts.Setting(governor)
			if in.Role != "latency" || !ok || v != "powersave" {
				return nil
			}
			return do("choose the performance governor, or a TuneD latency profile", one("processor", []facts.Source{in.Facts.Settings[governor].Source}, "the frequency governor is %s", v))
		},
		Fires: linuxExample("/sys", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor:powersave\n").as("latency"),
		Quiet: linuxExample("/sys", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor:performance\n").as("latency"),
	}
}
