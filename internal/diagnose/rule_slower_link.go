package diagnose

import (
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// slowerLink finds a test that filled a link of 1 Gbit/s or more: that of the host, or a slower one on the way.
func slowerLink() Rule {
	return Rule{
		ID: "test-fills-link", Title: "A test ran at the full rate of a link", Needs: []string{"transfers"}, Severity: Info,
		Because: "TCP reaches a steady 94% of the link rate with an MTU of 1500, and 99% with 9000. If the host's own link is " +
			"faster, another link on the path is the bottleneck.",
		Confirm: "One port on the path (hosts, switches) shows this speed.",
		Check: func(in Input) []Finding {
			const slower = 0.9
			tested := testedRates(in.Facts)
			for _, tr := range tested {
				link := tr.link()
				if link < units.Gbit || tr.outrun(in.Facts) {
					continue
				}
				found := one(tr.peer, tr.evidence, "steady %s over %s s: the full rate of a %s link", rate(tr.rate), units.Digits(tr.seconds, 3), link)
				if n := slowestCard(in.Facts); n != nil && n.Speed > link+link/10 {
					found[0].Evidence = append(found[0].Evidence, n.Shown["speed_bps"])
					found[0].Summary += "; this host's own link runs at " + n.Speed.String()
					return with(Warning, do("find the port or cable on the path that runs at "+link.String(), found))
				}
				found = do("use a faster link for more; otherwise check disks, the program and its protocol: the network is "+
					"not the bottleneck here", found)
				if slices.ContainsFunc(tested, func(other testedRate) bool { return other.rate < slower*tr.rate }) {
					return found // what it is compared with is slow for another reason
				}
				return decisive(found)
			}
			return nil
		},
		Fires: linuxExample("iperf3", hundredExample("112 MBytes   941")),
		Quiet: linuxExample("iperf3", hundredExample("82.2 MBytes   690")),
	}
}

// slowestCard is the card that is up with the lowest known speed.
func slowestCard(f *facts.Facts) (slowest *facts.NIC) {
	for i := range f.NICs {
		if n := &f.NICs[i]; physical(n) && n.Speed > 0 && (slowest == nil || n.Speed < slowest.Speed) {
			slowest = n
		}
	}
	return slowest
}
