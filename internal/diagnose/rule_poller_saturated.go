package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// pollerSaturated finds threads of switches in user space that have no time left.
func pollerSaturated() Rule {
	return Rule{
		ID: "poller-saturated", Title: "A polling thread of a switch has no time left", Systems: onLinux(),
		Needs: []string{"switch threads"}, Severity: Warning,
		Because: "Its processor looks busy at any load; that nearly every cycle went to packets, or that each poll found as many " +
			"as it takes (256 in VPP), says that packets wait in the ring and are lost when it is full.",
		Confirm: "The ports' counters of missed packets (rx_missed, rx-miss, imissed) grow while it is slow.",
		Check: func(in Input) (out []Finding) {
			const most, busy, full = 3, 0.95, 200
			for _, p := range in.Facts.Pollers {
				if len(out) >= most {
					break
				}
				switch {
				case p.Busy >= busy:
					out = append(out, one(p.Name, []facts.Source{p.Source}, "%.4g%% of its cycles went to packets",
						100*min(p.Busy, 1))...)
				case p.Vectors >= full:
					out = append(out, one(p.Name, []facts.Source{p.Source}, "each poll found %.4g packets, of 256 at most",
						p.Vectors)...)
				}
			}
			return do("give the switch more polling threads (pmd-cpu-mask, or workers of VPP) and the port more receive queues, "+
				"and spread the queues over them", out)
		},
		Fires: linuxExample("ovs-appctl dpif-netdev/pmd-stats-show",
			"pmd thread numa_id 0 core_id 2:\n  idle cycles: 1022291 (0.01%)\n  processing cycles: 92299402211 (99.99%)\n"),
		Quiet: linuxExample("ovs-appctl dpif-netdev/pmd-stats-show",
			"pmd thread numa_id 0 core_id 2:\n  idle cycles: 92299402211 (99.99%)\n  processing cycles: 1022291 (0.01%)\n"),
	}
}
