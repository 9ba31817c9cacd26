package diagnose

import (
	"cmp"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// usualLinks are the rates of Ethernet.
var usualLinks = [...]units.Rate{100 * units.Mbit, units.Gbit, 2.5e9, 5e9, 10 * units.Gbit, 25 * units.Gbit,
	40 * units.Gbit, 50 * units.Gbit, 100 * units.Gbit}

// filledLink is the link that one connection of TCP fills at a rate in bit/s, 0 for none. It gets 0.941 of Ethernet with
// frames of 1500 bytes and timestamps, 0.949 without, 0.99 with frames of 9000, and a little less through a switch.
func filledLink(bps float64) units.Rate {
	for _, link := range usualLinks {
		share := bps / float64(link)
		if share >= 0.93 && share <= 0.955 || link >= units.Gbit && share >= 0.985 && share <= 0.993 {
			return link
		}
	}
	return 0
}

// fillsLink reports whether a rate in bit/s may be all that a link carries, with frames of any size: one of those that are
// up, or a usual one.
func fillsLink(f *facts.Facts, bps float64) bool {
	for _, link := range usualLinks {
		if share := bps / float64(link); share > 0.92 && share < 0.996 {
			return true
		}
	}
	return slices.ContainsFunc(f.NICs, func(n facts.NIC) bool {
		return physical(&n) && n.Speed > 0 && bps > 0.85*float64(n.Speed)
	})
}

// filled is the link that a test fills; 0 is none.
func filled(tr facts.Transfer) units.Rate {
	t, ok := undisturbed(tr)
	if !ok {
		return 0
	}
	return t.link()
}

// testedRate is the mean rate of a test of TCP, in bit/s.
type testedRate struct {
	peer          string
	rate, seconds float64
	again         float64 // share of what was sent twice
	window        float64 // bytes, where it stood still; 0 is not known
	evidence      []facts.Source
}

// link is the link that the test fills, 0 for none: what is sent again takes its part.
// A full queue in front of a link of large frames loses hardly any: a rate near the link's beside losses is chance.
func (t testedRate) link() units.Rate {
	const few = 0.001
	link := filledLink(t.rate * (1 + t.again))
	if t.again >= few && t.rate > 0.96*float64(link) {
		return 0
	}
	return link
}

// outrun reports whether another test with the same peer, or with one that is not known, was faster: then no link held
// this one back.
func (t testedRate) outrun(f *facts.Facts) bool {
	const faster = 1.1
	for _, tr := range f.Transfers {
		same := tr.Peer == "" || t.peer == "iperf" || tr.Peer == t.peer
		if same && tr.Seconds > 0 && 8*tr.Bytes/tr.Seconds > faster*t.rate {
			return true
		}
	}
	return t.peer == "iperf" && slices.ContainsFunc(f.TransferEnds, func(e facts.TransferEnd) bool {
		return float64(e.Rate) > faster*t.rate
	})
}

// undisturbed is the rate of one connection that stood nowhere still and lost hardly anything, from where its window did
// not change: in the first seconds the sender's buffer fills as well.
func undisturbed(tr facts.Transfer) (testedRate, bool) {
	const few = 0.01
	if tr.Seconds <= 0 || tr.Stalled > 0 || tr.Parallel || againShare(tr) >= few {
		return testedRate{}, false
	}
	t := testedRate{peer: tr.Peer, rate: 8 * tr.Bytes / tr.Seconds, seconds: tr.Seconds, again: againShare(tr),
		evidence: []facts.Source{cmp.Or(tr.SteadySource, tr.Last, tr.Source)}}
	const least, ofFullLink = 5, 3 // hardly any other limit is so near what a link carries
	if tr.Steady >= ofFullLink && tr.SteadySeconds > 0 && (tr.Steady >= least || filledLink(8*tr.SteadyBytes/tr.SteadySeconds) > 0) {
		t.rate, t.seconds, t.again, t.window = 8*tr.SteadyBytes/tr.SteadySeconds, tr.SteadySeconds, 0, tr.Window
	}
	return t, true
}

// uneven reports whether an interval of a test at this rate was much faster than the mean: then no link held it there.
func uneven(f *facts.Facts, bps float64) bool {
	const even, same = 1.1, 1.03 // the ends of one test count it a little differently
	fast := func(tr facts.Transfer) bool {
		mean := 8 * tr.Bytes / tr.Seconds
		return mean > bps/same && mean < same*bps && float64(tr.Fastest) > even*bps
	}
	return slices.ContainsFunc(f.Transfers, fast) || slices.ContainsFunc(f.Receipts, fast)
}

// testedRates are the rates of tests of one connection, and of the sums of several, that no loss disturbed: at the
// sender, at the receiver, and in what iperf says at the end.
func testedRates(f *facts.Facts) (out []testedRate) {
	const least = 3 // s, and intervals
	for _, tr := range f.Transfers {
		if t, ok := undisturbed(tr); ok && tr.Intervals >= least {
			out = append(out, t)
		}
	}
	if len(f.Receipts) == 1 && len(f.Transfers) == 0 {
		if tr := f.Receipts[0]; tr.Intervals >= least && tr.Seconds > 0 && tr.Steady > 0 {
			out = append(out, testedRate{peer: tr.Peer, rate: 8 * tr.Bytes / tr.Seconds, seconds: tr.Seconds,
				evidence: []facts.Source{tr.SteadySource}})
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
		out = append(out, testedRate{peer: "iperf", rate: float64(e.Rate), seconds: e.Seconds,
			evidence: []facts.Source{e.Source}})
	}
	return out
}
