package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// cloudAllowance finds packets that a cloud provider queued or dropped because
// the machine was above what its size is allowed (Amazon's ENA driver counts
// them; amzn-drivers, ena_ethtool.c).
func cloudAllowance() Rule {
	return Rule{
		ID: "cloud-allowance", Title: "The cloud provider's limits for this instance size were exceeded", Severity: Warning,
		Systems: []string{"linux", "freebsd"},
		Needs:   []string{"linux:statistics *|transfers", "freebsd:settings"},
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
			if len(out) == 0 {
				out = singleFlow(in.Facts)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     bw_in_allowance_exceeded: 18231\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     bw_in_allowance_exceeded: 0\n"),
	}
}

// singleFlow finds a test of one connection between instances of Amazon EC2 that ran at what one flow may have: 5 Gbit/s, in
// a cluster placement group 10 (EC2 User Guide, "Amazon EC2 instance network bandwidth").
func singleFlow(f *facts.Facts) []Finding {
	if !onEC2(f) {
		return nil
	}
	for _, t := range testedRates(f) {
		for _, limit := range []units.Rate{5 * units.Gbit, 10 * units.Gbit} {
			if share := t.rate / float64(limit); share < 0.985 || share > 1 || t.seconds < 3 || t.again > 0.001 {
				continue
			}
			found := with(Info, one(t.peer, t.evidence, "one connection ran at %s: EC2 limits a single flow to %s", rate(t.rate), limit))
			found[0].Because = "EC2 limits a single flow (one pair of addresses and ports) to 5 Gbit/s, or to 10 " +
				"Gbit/s within a cluster placement group, whatever the instance size."
			found[0].Confirm = "Several connections at once (iperf3 -P 4) reach more in total."
			return decisive(do("use several connections in parallel, a cluster placement group, or ENA Express if "+
				"both instances support it",
				found))
		}
	}
	return nil
}

// onEC2 reports whether a host is an instance of Amazon EC2, by its kernel or its cards.
func onEC2(f *facts.Facts) bool {
	return strings.Contains(f.Release, "-aws") || strings.Contains(f.Release, ".amzn") ||
		slices.ContainsFunc(f.NICs, func(n facts.NIC) bool { return n.Driver == "ena" })
}
