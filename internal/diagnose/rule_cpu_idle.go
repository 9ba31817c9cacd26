package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// cpuIdle finds energy saving of the processor on a latency role.
func cpuIdle() Rule {
	return Rule{
		ID: "cpu-power-latency", Title: "Deep idle states or low frequencies on a latency-sensitive host",
		Systems: []string{"linux", "freebsd"}, Needs: []string{"linux:system files", "freebsd:settings"}, Severity: Info,
		Because: "Waking from a deep idle state, or running at a low frequency, adds tens to hundreds of microseconds to each " +
			"reply.",
		Check: func(in Input) (out []Finding) {
			if in.Role != "latency" {
				return nil
			}
			for _, e := range []struct {
				name, action string
				bad          func(string) bool
			}{
				{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
					"cpupower frequency-set -g performance, or tuned-adm profile " +
						"network-latency", func(v string) bool { return v == "powersave" }},
				{"/sys/module/intel_idle/parameters/max_cstate", "limit the idle states: intel_idle.max_cstate=1 on the kernel " +
					"command line, or hold /dev/cpu_dma_latency open", func(v string) bool { return v > "1" }},
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
