package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// cloudAllowance finds packets that a cloud provider queued or dropped because
// the machine was above what its size is allowed (Amazon's ENA driver counts
// them; amzn-drivers, ena_ethtool.c).
func cloudAllowance() Rule {
	return Rule{
		ID: "cloud-allowance", Title: "The cloud provider's limits for this instance size were exceeded", Severity: Warning,
		Systems: []string{"linux", "freebsd"},
		Needs:   []string{"linux:statistics *", "freebsd:settings"},
		Because: "Above the instance's allowance of bandwidth, packets or tracked connections, the provider queues or drops " +
			"packets outside this system.",
		Confirm: "The counter grows while it is slow. No setting on this system helps; a larger instance does.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				var evidence []facts.Source
				var what []string
				severity := Info
				for _, name := range []string{"bw_in_allowance_exceeded", "bw_out_allowance_exceeded",
					"pps_allowance_exceeded", "conntrack_allowance_exceeded", "linklocal_allowance_exceeded"} {
					for _, prefix := range []string{"", "eni_metrics."} {
						c := n.Counters[prefix+name]
						if c.Value == 0 {
							continue
						}
						evidence = append(evidence, c.Source)
						what = append(what, fmt.Sprintf("%s %s", strings.TrimSuffix(name, "_allowance_exceeded"), happened(c)))
						if graded(c, received(n), Warning) == Warning {
							severity = Warning
						}
					}
				}
				if len(what) > 0 {
					out = append(out, with(severity, do("use a larger instance, or spread the traffic over more instances",
						one(n.Name, evidence, "packets queued or dropped above the allowance: %s", strings.Join(what, "; "))))...)
				}
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     bw_in_allowance_exceeded: 18231\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     bw_in_allowance_exceeded: 0\n"),
	}
}
