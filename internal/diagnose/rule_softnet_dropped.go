package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// softnetDropped finds packets dropped at a CPU's backlog.
func softnetDropped() Rule {
	return Rule{
		ID: "softnet-dropped", Title: "Packets were dropped at a CPU's receive backlog", Systems: onLinux(),
		Needs: []string{"softnet"}, Severity: Warning,
		Settings: []string{"net.core.netdev_max_backlog"},
		Because: "RPS and virtual interfaces use a queue of netdev_max_backlog packets per CPU; when it is full, packets are " +
			"dropped.",
		Check: func(in Input) (out []Finding) {
			for _, p := range in.Facts.Processors {
				if p.Softnet != nil && p.Softnet.Dropped.Value > 0 {
					c := p.Softnet.Dropped
					out = append(out, lost(c, p.Softnet.Processed.Value,
						one(fmt.Sprintf("CPU %d", p.ID), []facts.Source{c.Source},
							"dropped (second column): %s; processed: %d", happened(c), p.Softnet.Processed.Value))...)
				}
			}
			return out
		},
		Fires: linuxExample("/proc/net/softnet_stat", "000dfb82 00000029 0000000a 00000000 00000000 00000000 "+
			"00000000 00000000 00000000 00000000 00000000\n"),
		Quiet: linuxExample("/proc/net/softnet_stat", "000dfb82 00000000 00000000 00000000 00000000 00000000 "+
			"00000000 00000000 00000000 00000000 00000000\n"),
	}
}
