package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// pollerSaturated finds threads of switches in user space that have no time left.
func pollerSaturated() Rule {
	return Rule{
		ID: "poller-saturated", Title: "A virtual switch's polling thread is saturated", Systems: onLinux(),
		Needs: []string{"switch threads"}, Severity: Warning,
		Because: "A polling thread's CPU looks busy at any load; only if nearly all cycles went to packets, or every poll " +
			"returned a full vector (256 in VPP), do packets wait in the ring and get lost when it is full.",
		Confirm: "The ports' missed-packet counters (rx_missed, rx-miss, imissed) grow while it is slow.",
		Check: func(in Input) (out []Finding) {
			const most, busy, full = 3, 0.95, 200
			for _, p := range in.Facts.Pollers {
				if len(out) >= most {
					break
				}
				switch {
				case p.Busy >= busy:
					out = append(out, one(p.Name, []facts.Source{p.Source}, "%s%% of its cycles went to packets",
						units.Digits(100*min(p.Busy, 1), 4))...)
				case p.Vectors >= full:
					out = append(out, one(p.Name, []facts.Source{p.Source}, "each poll returned %s packets, of at most 256",
						units.Digits(p.Vectors, 4))...)
				}
			}
			return do("add polling threads (OVS: other_config:pmd-cpu-mask; VPP: workers) and receive queues (OVS: "+
				"options:n_rxq=N), and spread the queues over the threads", out)
		},
		Fires: linuxExample("ovs-appctl dpif-netdev/pmd-stats-show",
			"pmd thread numa_id 0 core_id 2:\n  idle cycles: 1022291 (0.01%)\n  processing cycles: 92299402211 (99.99%)\n"),
		Quiet: linuxExample("ovs-appctl dpif-netdev/pmd-stats-show",
			"pmd thread numa_id 0 core_id 2:\n  idle cycles: 92299402211 (99.99%)\n  processing cycles: 1022291 (0.01%)\n"),
	}
}
