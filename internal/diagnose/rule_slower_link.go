package diagnose

import (
	"fmt"

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
				if slower := slowerTest(in.Facts, tested, tr.rate); slower > 0 { // for another reason
					return do(fmt.Sprintf("use a faster link for more; another cause limits the test that got %s", slower), found)
				}
				return decisive(do("use a faster link for more; otherwise check disks, the program and its protocol: the network is "+
					"not the bottleneck here", found))
			}
			return nil
		},
		Fires: linuxExample("iperf3", hundredExample("112 MBytes   941")),
		Quiet: linuxExample("iperf3", hundredExample("82.2 MBytes   690")),
	}
}

// slowerTest is the rate of another test, or of the other direction of one with --bidir, that stayed well below; 0 is none.
func slowerTest(f *facts.Facts, tested []testedRate, bps float64) units.Rate {
	const well = 0.9
	for _, t := range tested {
		if t.rate < well*bps {
			return units.Rate(t.rate)
		}
	}
	streams := map[string]int{}
	for _, e := range f.TransferEnds {
		if e.Way != "" && e.Role == "receiver" {
			streams[e.Way]++
		}
	}
	for _, e := range f.TransferEnds {
		if (e.Stream == "SUM" || streams[e.Way] == 1) && e.Role == "receiver" && float64(e.Rate) < well*bps {
			return e.Rate
		}
	}
	return 0
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
