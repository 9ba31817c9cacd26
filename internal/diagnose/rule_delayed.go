package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// The delays that are worth a word: a mean so many seconds above the shortest and so many times as long, the longest so
// far above it, and the answers that show it.
const (
	addedDelay   = 0.030
	timesAsLong  = 3
	longestDelay = 0.100
	muchAdded    = 0.200 // so much more is a queue on a long path as well
	anyDelay     = 2.0   // no path on earth is so long, satellites included
	beyondOrbit  = 0.75  // the mean of a path over a geostationary satellite is shorter
	enoughPings  = 10
)

// delayedRoundTrips finds probes that mostly take far longer than the fastest.
func delayedRoundTrips() Rule {
	return Rule{
		ID: "delayed-round-trips", Title: "Round-trip times are far above the path's minimum", Severity: Warning,
		Needs: []string{"path|round trips|speed tests|messages"},
		Because: "A queue on the path is full, or a radio sleeps or retransmits: everything that shares it is delayed. " +
			"Routers answer probes to themselves late: a delay counts only if it continues to the end of the path.",
		Confirm: "On an idle link the RTT is low; during an upload or download it grows as here.",
		Check: func(in Input) []Finding {
			if found := delayedProbes(in.Facts); found != nil {
				return found
			}
			return slowGateway(in.Facts)
		},
		Fires: linuxExample("ping", "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n--- 192.0.2.1 ping statistics ---\n"+
			"100 packets transmitted, 100 received, 0% packet loss, time 99100ms\nrtt min/avg/max/mdev = 9.1/310.5/900.2/90.1 ms\n"),
		Quiet: linuxExample("ping", "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n--- 192.0.2.1 ping statistics ---\n"+
			"100 packets transmitted, 100 received, 0% packet loss, time 99100ms\nrtt min/avg/max/mdev = 9.1/10.5/900.2/9.1 ms\n"),
	}
}

// lateFrom is from when on an answer is late, where the fastest took so long.
func lateFrom(least float64) float64 {
	return max(least+addedDelay, min(timesAsLong*least, least+muchAdded))
}

func delayed(least, mean, longest float64) bool {
	return least >= anyDelay || least > 0 && mean >= lateFrom(least) && longest-least >= longestDelay
}

// oftenLate reports whether so many answers are late that a path without a problem, on which one in ten comes 30 ms late
// and one in thirty 100 ms, would show it once in a hundred times.
func oftenLate(p facts.Ping) bool {
	const least, surprising = 4, 0.01
	late, shown := p.Later(lateFrom(p.Min))
	veryLate, _ := p.Later(p.Min + longestDelay)
	return shown >= least && min(atLeast(late, shown, 1.0/10), atLeast(veryLate, shown, 1.0/30)) < surprising
}

// tooFew reports whether there are too few answers: fewer than ten tell where many of them are late.
func tooFew(p facts.Ping) bool {
	return !oftenLate(p) && (max(p.Sent, p.Answered) < enoughPings || p.Answered < enoughPings/2)
}

// atLeast is the probability that k or more of n few happen, each with probability p.
func atLeast(k, n int, p float64) float64 {
	fewer, term := 0.0, math.Pow(1-p, float64(n)) // term is the probability of i of n
	for i := range k {
		fewer += term
		term *= p / (1 - p) * float64(n-i) / float64(i+1)
	}
	return 1 - fewer
}

// fewDelayed reports whether the mean is that of single answers: the first behind a loss waits for the address of its
// neighbour, and one of a thousand tells nothing.
func fewDelayed(p facts.Ping) bool {
	const least, share = 3, 0.1
	later, shown := p.Later(p.Min + longestDelay)
	if shown < enoughPings && oftenLate(p) {
		return false
	}
	return p.Min < anyDelay && shown >= enoughPings/2 && float64(shown) >= 0.9*float64(p.Answered) && (later < least || float64(later) < share*float64(shown))
}

// behindOutages reports whether far more was lost than came late, and most answers were prompt: what waited while nothing
// passed comes late.
func behindOutages(p facts.Ping) bool {
	later, shown := p.Later(p.Min + longestDelay)
	return shown > 0 && 2*later < shown && p.Sent-p.Answered > 3*later
}

// delayedProbes finds round trips of ping, mtr and traceroute that are mostly far above the shortest.
func delayedProbes(f *facts.Facts) []Finding {
	local := "disable Wi-Fi power saving (iw dev NAME set power_save off), check signal and channel, and find who " +
		"saturates the link: the delay is on the local network"
	if f.System != "linux" {
		local = "check the local network, where the delay is: Wi-Fi (signal, channel, power saving), who saturates " +
			"the link, and devices that inspect packets"
	}
	const shape = "shape to about 95% of the bottleneck rate with fq_codel or cake where the queue builds up"
	for _, t := range f.Traces {
		if found := delayedTrace(t, local, shape); found != nil {
			return found
		}
	}
	for _, p := range f.Pings {
		if tooFew(p) || fewDelayed(p) || behindOutages(p) ||
			!delayed(p.Min, withoutLongest(p), p.Max) {
			continue
		}
		evidence := []facts.Source{p.Source}
		if p.Slowest.Text != "" && p.Slowest != p.Source {
			evidence = append(evidence, p.Slowest)
		}
		found := one(cmp.Or(p.Peer, "ping"), evidence, "no RTT was below %s", inMS(p.Min))
		if p.Min < anyDelay {
			found = one(cmp.Or(p.Peer, "ping"), evidence, "the RTT is %s on average and up to %s, where %s is "+
				"possible", inMS(p.Avg), inMS(p.Max), inMS(p.Min))
		}
		if a, err := netip.ParseAddr(p.Peer); err == nil && (a.IsPrivate() || a.IsLinkLocalUnicast()) {
			return do(local, found)
		}
		return do("ping the first router at the same time: if its RTT grows too, the delay is on the local network "+
			"(Wi-Fi, power saving); otherwise "+shape, found)
	}
	if found := delayedLater(f); found != nil {
		return do(shape, found)
	}
	return delayedTests(f, shape)
}

// delayedLater finds two times at which one peer was probed, at one of which each answer took far longer than at the
// other: before and during a transfer.
func delayedLater(f *facts.Facts) []Finding {
	const least = 3
	quickest := map[string]facts.Ping{}
	for _, p := range f.Pings {
		if q, known := quickest[p.Peer]; p.Answered >= least && (!known || p.Avg < q.Avg) {
			quickest[p.Peer] = p
		}
	}
	for _, slow := range f.Pings {
		quick, known := quickest[slow.Peer]
		if slow.Peer == "" || !known || slow.Answered < least || !delayed(quick.Avg, slow.Min, slow.Max) {
			continue
		}
		return one(slow.Peer, []facts.Source{slow.Source, quick.Source}, "in one measurement the RTT is %s on "+
			"average and up to %s, in another %s", inMS(slow.Avg), inMS(slow.Max), inMS(quick.Avg))
	}
	return nil
}

// delayedTests finds a speed test during which the round trips grew far above those of the idle line.
func delayedTests(f *facts.Facts, shape string) []Finding {
	for _, s := range f.SpeedTests {
		if s.Idle == 0 && s.Loaded >= beyondOrbit {
			return do(shape, one("speed test", []facts.Source{s.LoadedLine}, "under load the RTT is %s on average, longer than "+
				"over a satellite", inMS(s.Loaded)))
		}
		if s.Loaded > 0 && delayed(s.Idle, s.Loaded, max(s.Loaded, s.Longest)) {
			longest := ""
			if s.Longest > s.Loaded {
				longest = " and up to " + inMS(s.Longest)
			}
			return do(shape, one("speed test", []facts.Source{s.LoadedLine}, "under load the RTT is %s on average%s, on the idle "+
				"link %s", inMS(s.Loaded), longest, inMS(s.Idle)))
		}
	}
	return nil
}

// withoutLongest is the mean of all answers but the longest, which one that was late makes large alone.
func withoutLongest(p facts.Ping) float64 {
	return (p.Avg*float64(p.Answered) - p.Max) / float64(p.Answered-1)
}

// delayedTrace finds the hop from which on the round trips to all are long. Few probes tell less.
func delayedTrace(t facts.Trace, local, shape string) []Finding {
	long := func(h facts.Hop) bool { return delayed(h.Best, h.Mean, h.Worst) }
	last := len(t.Hops) - 1
	for last > 0 && t.Hops[last].Loss > 0.5 { // what does not answer
		last--
	}
	first := last
	for first > 0 && (long(t.Hops[first-1]) || t.Hops[first-1].Loss > 0.99) {
		first--
	}
	from, end := t.Hops[first], t.Hops[last]
	few := end.Sent < enoughPings
	const rarely = 0.1 // a router that answers few probes, where the report may go on
	if last == first && end.Loss >= rarely {
		return nil
	}
	if !long(end) || from.Loss > 0.99 || few && (last == first || math.Min(from.Worst, end.Worst) < 2*longestDelay) {
		return nil
	}
	evidence := []facts.Source{from.Source}
	if last > first {
		evidence = append(evidence, end.Source)
	}
	found := one(cmp.Or(end.Name, "path"), evidence, "from hop %d on%s the RTT is %s on average and up to %s, where %s is "+
		"possible", from.Number, named(from.Name), inMS(from.Mean), inMS(from.Worst), inMS(from.Best))
	if few {
		found = with(Info, found)
	}
	if from.Number <= 1 {
		return do(local, found)
	}
	return do(shape+"; if that link is not yours, show this to the operator of the hop", found)
}

// inMS are seconds in milliseconds.
func inMS(s float64) string {
	switch {
	case s >= 10:
		return fmt.Sprintf("%.0f s", s)
	case s >= 1:
		return fmt.Sprintf("%.0f ms", 1000*s)
	}
	return units.Digits(1000*s, 3) + " ms"
}

func named(hop string) string {
	if hop == "" {
		return ""
	}
	return " (" + hop + ")"
}
