package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// cpuIdle finds energy saving of the processor on a latency role.
func cpuIdle() Rule {
	return Rule{
		ID: "cpu-power-latency", Title: "The processor may sleep deeply or run slowly on a latency role",
		Systems: []string{"linux", "freebsd"}, Needs: []string{"linux:system files", "freebsd:settings"}, Severity: Info,
		Because: "Waking from a deep idle state, or running at a low frequency, adds tens to hundreds of " +
			"microseconds to a reply.",
		Check: func(in Input) (out []Finding) {
			if in.Role != "latency" {
				return nil
			}
			for _, e := range []struct {
				name, action string
				bad          func(string) bool
			}{
				{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
					"choose the performance governor, or a TuneD latency profile", func(v string) bool { return v == "powersave" }},
				{"/sys/module/intel_idle/parameters/max_cstate", "bound the idle states: intel_idle.max_cstate=1 at " +
					"boot, or hold /dev/cpu_dma_latency open", func(v string) bool { return v > "1" }},
				{"hw.acpi.cpu.cx_lowest", "set it to C1", func(v string) bool { return v != "C1" }},
			} {
				if v, ok := in.Facts.Setting(e.name); ok && e.bad(v) {
					out = append(out, do(e.action, one("processor", []facts.Source{in.Facts.Settings[e.name].Source},
						"%s is %s", e.name, v))...)
				}
			}
			return out
		},
		Fires: freebsdExample("sysctl -a", "hw.acpi.cpu.cx_lowest: C8\n").as("latency"),
		Quiet: linuxExample("/sys",
			"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor:performance\n/sys/module/intel_idle/parameters/max_cstate:1\n").as("latency"),
	}
}
