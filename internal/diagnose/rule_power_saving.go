package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
)

// powerSaving finds processors that run slowly on purpose where a small ring overflows.
func powerSaving() Rule {
	return Rule{
		ID: "power-saving", Title: "CPU power saving while a small receive ring overflows", Severity: Warning,
		Systems: onLinux(), Needs: []string{"system files", "rings *"},
		Because: "A core that sleeps or runs at its lowest frequency reacts late to a burst, and a ring below its maximum " +
			"cannot hold the packets until then.",
		Confirm: "The counter stops growing with the performance governor, or with a longer ring.",
		Check: func(in Input) (out []Finding) {
			const governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
			v, ok := in.Facts.Setting(governor)
			if !ok || v != "powersave" && v != "conservative" {
				return nil
			}
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				_, c := largest(nicMatching(n, ringDrop))
				if c.Value == 0 || n.Rings.RX == 0 || n.Rings.RX >= n.Rings.RXMax || !still(c) {
					continue
				}
				found := lost(c, received(n), one(n.Name, []facts.Source{in.Facts.Settings[governor].Source, c.Source,
					n.Shown["ethtool:ring/rx"]}, "the governor is %s, the ring has %d of %d possible descriptors, and the card dropped "+
					"packets: %s%s", v, n.Rings.RX, n.Rings.RXMax, happened(c), ofReceived(n, c)))
				found[0].Fix = []Fix{{Setting: "ethtool:ring/rx", Interface: n.Name, Value: strconv.Itoa(n.Rings.RXMax)},
					{Action: "use the performance governor", Command: "cpupower frequency-set -g performance"}}
				out = append(out, found...)
			}
			return out
		},
		Fires: powerExample("powersave"),
		Quiet: powerExample("performance"),
	}
}

func powerExample(governor string) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 5000),
		"/sys", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor:"+governor+"\n",
		"ethtool -g eth0", "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\nCurrent "+
			"hardware settings:\nRX:\t\t256\nTX:\t\t256\n")
}
