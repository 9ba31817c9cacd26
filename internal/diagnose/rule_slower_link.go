package diagnose

import (
	"cmp"
	"slices"

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
				link := filledLink(tr.rate)
				if link == 0 {
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

// filledLink is the link of Ethernet that TCP fills at a rate, 0 for none.
func filledLink(bps float64) units.Rate {
	for _, link := range []units.Rate{units.Gbit, 2.5e9, 5e9, 10 * units.Gbit} {
		share := bps / float64(link)
		if share >= 0.932 && share <= 0.951 || share >= 0.985 && share <= 0.993 {
			return link
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

// testedRate is the mean rate of a test of TCP.
type testedRate struct {
	peer          string
	rate, seconds float64
	evidence      []facts.Source
}

// testedRates are the rates of tests of one connection, and of the sums of several, that no loss disturbed: at the
// sender, at the receiver, and in what iperf says at the end.
func testedRates(f *facts.Facts) (out []testedRate) {
	const least = 3 // s, and intervals
	for _, tr := range f.Transfers {
		if tr.Intervals >= least && filled(tr) > 0 {
			out = append(out, testedRate{tr.Peer, 8 * tr.Bytes / tr.Seconds, tr.Seconds, []facts.Source{cmp.Or(tr.SteadySource,
				tr.Last, tr.Source)}})
		}
	}
	if len(f.Receipts) == 1 && len(f.Transfers) == 0 {
		if tr := f.Receipts[0]; tr.Intervals >= least && tr.Seconds > 0 && tr.Steady > 0 {
			out = append(out, testedRate{tr.Peer, 8 * tr.Bytes / tr.Seconds, tr.Seconds, []facts.Source{tr.SteadySource}})
		}
	}
	sums := slices.ContainsFunc(f.TransferEnds, func(e facts.TransferEnd) bool { return e.Stream == "SUM" })
	streams := map[string]bool{}
	for _, e := range f.TransferEnds {
		streams[e.Stream] = true
	}
	for _, e := range f.TransferEnds {
		if e.Lost >= 0 || e.Role == "sender" || e.Seconds < least || sums != (e.Stream == "SUM") || !sums && len(streams) > 1 {
			continue
		}
		out = append(out, testedRate{"iperf", float64(e.Rate), e.Seconds, []facts.Source{e.Source}})
	}
	return out
}
