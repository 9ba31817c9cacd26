package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// slowerLink finds a test that filled a link of 1 Gbit/s or more: that of the host, or a slower one on the way.
func slowerLink() Rule {
	return Rule{
		ID: "test-fills-link", Title: "A test ran at the full rate of a link", Needs: []string{"transfers"}, Severity: Info,
		Because: "TCP gets 94% out of a link with frames of 1500 bytes, and 99% with frames of 9000, steadily. Where the host's " +
			"own link is faster, one on the way is not.",
		Confirm: "The speed of each port on the way: both hosts', the switches'.",
		Check: func(in Input) []Finding {
			for _, tr := range testedRates(in.Facts) {
				link := tr.link()
				if link < units.Gbit {
					continue
				}
				found := one(tr.peer, tr.evidence, "%s over %.3g s, steadily: what a link of %s carries", rate(tr.rate), tr.seconds, link)
				if n := slowestCard(in.Facts); n != nil && n.Speed > link+link/10 {
					found[0].Evidence = append(found[0].Evidence, n.Shown["speed_bps"])
					found[0].Summary += "; this host's own runs at " + n.Speed.String()
					return with(Warning, do("look for the port or the cable on the way that runs at "+link.String(), found))
				}
				return decisive(do("the network is not what is slow here: see the disks, the program and its protocol; for more, "+
					"a faster link", found))
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
