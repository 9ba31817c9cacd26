package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// softnetSqueezed finds receive runs that were cut short often.
func softnetSqueezed() Rule {
	return Rule{
		ID: "softnet-squeezed", Title: "Receive processing often ran out of its budget", Systems: onLinux(),
		Needs: []string{"softnet"}, Severity: Info,
		Settings: []string{"net.core.netdev_budget", "net.core.netdev_budget_usecs"},
		Because: "A receive poll that uses up its budget of packets or time yields to other work; if this is frequent, " +
			"latency grows and rings fill.",
		Check: func(in Input) (out []Finding) {
			for _, p := range in.Facts.Processors {
				s := p.Softnet
				// A handful since boot is normal everywhere.
				if s == nil || s.Squeezed.Value < 1000 || float64(s.Squeezed.Value) < 1e-3*float64(s.Processed.Value) ||
					!still(s.Squeezed) {
					continue
				}
				out = append(out, one(fmt.Sprintf("CPU %d", p.ID), []facts.Source{s.Squeezed.Source},
					"out of budget %s for %d packets (third column, time_squeeze)",
					happened(s.Squeezed), s.Processed.Value)...)
			}
			return out
		},
		Fires: linuxExample("/proc/net/softnet_stat", "000dfb82 00000000 00002000 00000000 00000000 00000000 "+
			"00000000 00000000 00000000 00000000 00000000\n"),
		Quiet: linuxExample("/proc/net/softnet_stat", "00551c3f 00000000 00000055 00000000 00000000 00000000 "+
			"00000000 00000000 00000000 00000000 00000000\n"),
	}
}
