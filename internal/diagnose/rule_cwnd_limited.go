package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// cwndLimited finds connections that the network holds back.
func cwndLimited() Rule {
	return Rule{
		ID: "network-limited", Title: "Connections are held back by loss, not by buffers",
		Systems: []string{"linux", "freebsd"}, Needs: []string{"flows|transfers"}, Severity: Info,
		Because: "While data was waiting, neither end's buffer was the limit: the congestion window was, and it shrinks on loss.",
		Check: func(in Input) []Finding {
			var evidence []facts.Source
			var worst facts.Flow
			for _, fl := range in.Facts.Flows {
				if !heldByLoss(fl) && !dying(fl) {
					continue
				}
				evidence = append(evidence, flowLine(in.Facts, fl, "rtt", "minrtt", "mss", "cwnd", "ssthresh",
					"segs_out", "busy", "retrans", "retrans_total"))
				if worst.Values == nil || fl.Values["busy"] > worst.Values["busy"] {
					worst = fl
				}
			}
			if len(evidence) == 0 {
				return slices.Concat(lossyTransfers(in), uncountedLosses(in.Facts))
			}
			return lossLimited(in, worst, sample(evidence))
		},
		Fires: flowExample("busy:9000ms retrans:0/9000 ssthresh:300 unacked:390"),
		Quiet: flowExample("busy:9000ms rwnd_limited:7000ms(77.8%) retrans:0/9000"),
	}
}

// heldByLoss reports whether a connection had data to send all the time, room in both buffers, and a window that losses
// made small.
func heldByLoss(fl facts.Flow) bool {
	v := fl.Values
	busy, timed := v["busy"] // not printed before iproute2 4.10
	switch {
	case timed && busy < 2000 || !timed && v["retrans_total"] < 0.01*v["segs_out"]:
		return false
	case v["rwnd_limited"] > 0.1 || v["sndbuf_limited"] > 0.1 || slices.Contains(fl.Words, "app_limited"):
		return false
	case v["segs_out"] < 500 || v["retrans_total"] < 5 || v["ssthresh"] == 0 || v["unacked"] < v["cwnd"]/2:
		return false
	case loopback(&fl) || slices.Contains(fl.Words, "bbr"):
		return false
	}
	return v["retrans_total"] >= 0.001*v["segs_out"] || growsBack(v)
}

// uncountedLosses finds a connection that sent much again, where an ss before iproute2 4.10 does not count what was sent.
func uncountedLosses(f *facts.Facts) []Finding {
	const many = 1000
	for _, fl := range f.Flows {
		v := fl.Values
		if _, counts := v["segs_out"]; !counts && v["retrans_total"] >= many && v["ssthresh"] > 0 && 2*v["unacked"] >= v["cwnd"] &&
			!loopback(&fl) {
			return decisive(do(findLoss, one(fl.Peer, []facts.Source{flowLine(f, fl, "rtt", "mss", "cwnd", "ssthresh", "retrans")},
				"%.0f segments to it were retransmitted; a window of %g segments over %g ms is %s", v["retrans_total"], v["cwnd"],
				v["rtt"], rate(windowRate(fl)))))
		}
	}
	return nil
}

// dying reports whether a connection loses so much that it waits for its timer again and again.
func dying(fl facts.Flow) bool {
	v := fl.Values
	return v["segs_out"] >= 50 && v["retrans_total"] >= 10 && v["retrans_total"] >= 0.1*v["segs_out"] &&
		(v["backoff"] > 0 || v["lost"] > 0) && !loopback(&fl)
}

// growsBack reports whether a window that losses once made small is growing on
// a path without a queue: of the losses, ever fewer in all that was sent, it
// still bears the mark.
func growsBack(v map[string]float64) bool {
	return v["cwnd"] > v["ssthresh"] && shortQueue(v) && v["retrans_total"] > 0.0001*v["segs_out"]
}

// shortQueue reports whether a connection's round trip stays what the path's
// length makes it.
func shortQueue(v map[string]float64) bool {
	return v["minrtt"] > 5 && v["rtt"] < 1.25*v["minrtt"]
}

// lossyTests are the tests that lost segments all the time, or as many as keep a window small over their round trip; the one
// that sent the largest share again comes first.
func lossyTests(in Input) (lossy []facts.Transfer) {
	for _, tr := range in.Facts.Transfers {
		often := tr.Intervals >= 3 && tr.Lossy >= 3 && tr.Lossy*2 >= tr.Intervals
		stood := tr.Stalled >= 3 && tr.Lossy >= 3 && tr.Stalled*4 >= tr.Intervals
		if (often || stood || cutByLoss(tr) || in.lossExplains(tr)) && againShare(tr) >= 0.001 && tr.Seconds > 0 &&
			filled(tr) == 0 {
			lossy = append(lossy, tr)
		}
	}
	slices.SortStableFunc(lossy, func(a, b facts.Transfer) int { return cmp.Compare(againShare(b), againShare(a)) })
	return lossy
}

// lossExplains reports whether a test that used less than half of the path lost, again and again, a share of segments at which
// a congestion control comes no further over its round trip.
func (in Input) lossExplains(tr facts.Transfer) bool {
	const long = 0.005 // seconds
	p, known := roundTrip(in.Facts, tr.Peer)
	if !known {
		p.Avg = in.Path.RTT.Seconds()
	}
	if p.Avg < long || tr.Lossy < 2 || tr.Seconds <= 0 || 8*tr.Bytes > 0.5*in.Path.LinkGoodput()*tr.Seconds {
		return false
	}
	path := in.Path
	path.RTT, path.Loss = time.Duration(p.Avg*float64(time.Second)), againShare(tr)
	_, _, algorithm := in.Facts.CongestionControls()
	bound, known := lossResponse(cmp.Or(algorithm, "cubic"), path)
	return known && bound*tr.Seconds < 2*8*tr.Bytes
}

// lossyTransfers finds tests that losses held back.
func lossyTransfers(in Input) []Finding {
	f := in.Facts
	if stalledTransfers(f) != nil {
		return nil // full-segments-lost says it
	}
	lossy := lossyTests(in)
	if len(lossy) == 0 {
		return slices.Concat(lossySummaries(f), standing(f))
	}
	tr := lossy[0]
	of := ""
	if fellAtLoss(tr) {
		of = " after the first loss"
	}
	summary := fmt.Sprintf("a test at %s retransmitted %d segments, about %s%%%s, in %d of %d intervals",
		rate(8*tr.Bytes/tr.Seconds), tr.Retransmits, units.Digits(100*againShare(tr), 2), of, tr.Lossy, tr.Intervals)
	if tr.Window > 0 {
		summary += fmt.Sprintf("; its window never exceeded %s", units.Bytes(tr.Window))
	}
	if tr.Stalled > 0 {
		summary += fmt.Sprintf(", and in %d intervals nothing moved", tr.Stalled)
	}
	if cutByLoss(tr) {
		summary += fmt.Sprintf("; up to the first loss it ran at %s, after it at %s",
			tr.Before, rate(8*tr.AfterBytes/tr.AfterSeconds))
	}
	found := one(cmp.Or(tr.Peer, "iperf3"), []facts.Source{tr.Source, tr.Last}, "%s", summary)
	if tr.Window > 0 && tr.Window <= 4*segment && againShare(tr) >= 0.1 {
		found[0].Because = "The window never grows beyond a few segments, so nearly every larger burst is lost. That is not a " +
			"full queue: certain packets never arrive, because they are too large for a tunnel or overlay on the path or leave " +
			"with a wrong checksum (tunnel offload), or a policer drops bursts."
		found = do("compare the MTUs of the tunnel and of the interface below it (ip link, ping -M do -s 1422 PEER); with "+
			"VXLAN, try ethtool -K NAME tx-checksum-ip-generic off", found)
	} else if tr.Stalled >= 3 && tr.Peer != "" {
		found = do("check whether full-sized packets pass: ping -M do -s 1472 PEER (through a tunnel: the size that fits it); "+
			"if only smaller ones do, "+findSmallerLink, found)
	}
	for _, t := range lossy[1:] {
		found = append(found, one(cmp.Or(t.Peer, "iperf3"), []facts.Source{t.Source}, "%d (%s%%) at %s",
			t.Retransmits, units.Digits(100*againShare(t), 2),
			rate(8*t.Bytes/t.Seconds))...)
	}
	return worstStream(found)
}

// standing finds a test of which every stream moved nothing for seconds, where no retransmissions were printed.
func standing(f *facts.Facts) []Finding {
	const slow = 1_000_000 // bit/s: a test that is told to be slower sends in bursts
	for _, tr := range f.Receipts {
		if tr.Stalled < 3 || tr.Stalled*4 < tr.Intervals || 8*tr.Bytes < slow*tr.Seconds {
			return nil
		}
	}
	for _, tr := range f.Receipts[:min(len(f.Receipts), 1)] {
		found := one(cmp.Or(tr.Peer, "iperf3"), []facts.Source{tr.Source, tr.Last},
			"a test moved nothing in %d of %d intervals, and %s on average", tr.Stalled, tr.Intervals,
			rate(8*tr.Bytes/tr.Seconds))
		found[0].Because = "The connection stopped for seconds at a time: a radio or link that drops out, a card that is " +
			"reset, or an MTU that only part of the path carries."
		found[0].Confirm = "ping PEER loses packets in the same seconds, or ss -ti on the sender shows retransmissions."
		return do("ping the peer during the next test: if it loses packets too, check the link and the logs of both ends (and "+
			"of the access point); if not, check the path MTU: ping -M do -s 1472 PEER", with(Warning, found))
	}
	return nil
}

// cutByLoss reports whether a test lost a burst of segments and did not come back to half of its rate in the seconds
// after it.
func cutByLoss(tr facts.Transfer) bool {
	const burst, long = 100, 5
	return tr.Retransmits >= burst && tr.AfterSeconds >= long && 2*8*tr.AfterBytes/tr.AfterSeconds < float64(tr.Before)
}

// segment is what a packet of a test usually carries, in bytes.
const segment = 1448

// againShare is about the share of its segments that a test sent again: of those after the first loss, where most of what it
// moved came before that.
func againShare(tr facts.Transfer) float64 {
	if fellAtLoss(tr) {
		return shareAgain(tr.AfterBytes, float64(tr.AfterAgain))
	}
	return shareAgain(tr.Bytes, float64(tr.Retransmits))
}

// fellAtLoss reports whether a test moved most of its data before its first loss, and lost more in the seconds after it.
func fellAtLoss(tr facts.Transfer) bool {
	const most, long = 3, 5
	return tr.Lossy >= most && tr.AfterSeconds >= long && 2*tr.AfterBytes < tr.Bytes
}

// shareAgain is the share of segments that a test sent again. A test that moved much did not send more of them again than
// arrived: where the system of the sender counts none (Windows, WSL), iperf3 prints what was in its memory.
func shareAgain(bytes, again float64) float64 {
	const much = 10 << 20
	if bytes >= much && again > bytes/segment {
		return 0
	}
	return again / max(bytes/segment+again, 1)
}

// findLoss is what is done about a path that loses packets.
const findLoss = "find where the path loses packets before changing buffers: ethtool -S NAME on both ends, then mtr " +
	"-rwc 200 PEER"

// worstStream keeps of the streams of a test that lose, the worst one first, this one, and says what the others lose.
func worstStream(lossy []Finding) []Finding {
	const most = 3
	worst := lossy[0]
	if more := lossy[1:]; len(more) > 0 {
		var others []string
		for _, other := range more[:min(len(more), most)] {
			others = append(others, other.Summary)
			worst.Evidence = append(worst.Evidence, other.Evidence...)
		}
		if rest := len(more) - len(others); rest > 0 {
			others = append(others, fmt.Sprintf("and %d more", rest))
		}
		worst.Summary += fmt.Sprintf("; %s did too: %s", counted(len(more), "other stream"), strings.Join(others, ", "))
	}
	return with(Warning, do(findLoss, []Finding{worst}))
}

// lossyEnds are the tests of which the summary alone was pasted, with a share of segments sent again at which no
// congestion control that minds loss fills a path: over a long one, where a window takes many round trips to grow back, a
// tenth of that. The one that sent the largest share again comes first; over names the round trip.
func lossyEnds(f *facts.Facts) (lossy []facts.TransferEnd, most float64, over string) {
	const long = 0.01 // seconds
	most = 0.01
	if len(f.Transfers) > 0 {
		return nil, most, "" // their intervals say more
	}
	if p, known := roundTrip(f, ""); known && p.Avg >= long {
		most, over = 0.001, fmt.Sprintf(" over an RTT of %s ms", units.Digits(1000*p.Avg, 3))
	}
	for _, end := range f.TransferEnds {
		if end.Role == "sender" && end.Retransmits >= 100 && end.Seconds >= 3 &&
			(againOf(end) >= most && !(most < 0.01 && fillsLink(f, float64(end.Rate))) || againOf(end) >= 0.001 && cleaner(f, end) != nil) {
			lossy = append(lossy, end)
		}
	}
	slices.SortStableFunc(lossy, func(a, b facts.TransferEnd) int { return cmp.Compare(againOf(b), againOf(a)) })
	return lossy, most, over
}

func againOf(end facts.TransferEnd) float64 { return shareAgain(end.Bytes, float64(end.Retransmits)) }

// heldAt is the rate in bit/s to which losses hold a test or a connection; 0: none is known to be held by them.
func heldAt(in Input) float64 {
	if lossy := lossyTests(in); len(lossy) > 0 {
		return 8 * lossy[0].Bytes / lossy[0].Seconds
	}
	if lossy, _, _ := lossyEnds(in.Facts); len(lossy) > 0 {
		return float64(lossy[0].Rate)
	}
	reached := 0.0
	for _, fl := range in.Facts.Flows {
		if heldByLoss(fl) {
			reached = max(reached, windowRate(fl))
		}
	}
	return reached
}

// windowRate is what the congestion window of a connection lets through, in bit/s.
func windowRate(fl facts.Flow) float64 {
	return fl.Values["cwnd"] * fl.Values["mss"] * 8 / max(fl.Values["rtt"]/1000, 1e-6)
}

// lossySummaries finds such tests.
func lossySummaries(f *facts.Facts) []Finding {
	lossy, most, over := lossyEnds(f)
	if len(lossy) == 0 {
		return nil
	}
	if sum := slices.IndexFunc(lossy, func(e facts.TransferEnd) bool { return e.Stream == "SUM" }); sum >= 0 {
		all := lossy[sum]
		found := one("iperf3", []facts.Source{all.Source, lossy[0].Source}, "all streams of a test together, at %s%s, "+
			"retransmitted %d segments, about %s%%", all.Rate, over, all.Retransmits, units.Digits(100*againOf(all), 2))
		return worstStream(found)
	}
	found := one("iperf3", []facts.Source{lossy[0].Source}, "a test at %s%s retransmitted %d segments, about %s%%",
		lossy[0].Rate, over, lossy[0].Retransmits, units.Digits(100*againOf(lossy[0]), 2))
	if other := cleaner(f, lossy[0]); other != nil && againOf(lossy[0]) < most {
		found[0].Summary += fmt.Sprintf("; another test reached %s with %d", other.Rate, other.Retransmits)
		found[0].Evidence = append(found[0].Evidence, other.Source)
	}
	const more = 3
	for _, end := range f.TransferEnds { // without what was changed in between, or at another time
		if end.Role == "sender" && end.Source.Line > lossy[0].Source.Line && end.Rate > more*lossy[0].Rate && againOf(end) < most {
			found[0].Summary += fmt.Sprintf("; a later test reached %s", end.Rate)
			found[0].Evidence = append(found[0].Evidence, end.Source)
			break
		}
	}
	for _, end := range lossy[1:] {
		found = append(found, one("iperf3", []facts.Source{end.Source}, "%d (%s%%) at %s", end.Retransmits, units.Digits(100*againOf(end), 2),
			end.Rate)...)
	}
	return worstStream(found)
}

// cleaner is the summary of another test of the same text that was faster and hardly retransmitted; nil where there is none.
func cleaner(f *facts.Facts, end facts.TransferEnd) *facts.TransferEnd {
	const faster, fewer = 1.1, 100
	i := slices.IndexFunc(f.TransferEnds, func(other facts.TransferEnd) bool {
		return other.Role == "sender" && other.Retransmits >= 0 && float64(other.Rate) >= faster*float64(end.Rate) &&
			other.Seconds >= end.Seconds/2 && againOf(other)*fewer <= againOf(end)
	})
	if i < 0 {
		return nil
	}
	return &f.TransferEnds[i]
}

// lossLimited says what holds a connection back, and whether its losses come
// with a queue that grows before them.
func lossLimited(in Input, fl facts.Flow, evidence []facts.Source) []Finding {
	v := fl.Values
	reached := windowRate(fl)
	share := v["retrans_total"] / v["segs_out"]
	bad := 0.01
	found := one(fl.Peer, evidence, "towards %s %s%% of segments were lost; a window of %g segments of %g bytes "+
		"over %g ms is %s", fl.Peer, units.Digits(100*share, 2), v["cwnd"], v["mss"], v["rtt"], rate(reached))
	if growsBack(v) {
		found[0].Summary += fmt.Sprintf("; it fell to %g and is growing again", v["ssthresh"])
	}
	if shortQueue(v) {
		bad = 0.001
		found[0].Summary += fmt.Sprintf("; the RTT does not grow before the loss (minimum %g ms): a queue much shorter than "+
			"the BDP, a policer, or corruption", v["minrtt"])
		found = do("if the queue is yours, size it to about one bandwidth-delay product; pace at the sender (fq), or use a "+
			"congestion control that tolerates loss (BBR)", found)
	} else {
		found = do(findLoss, found)
	}
	if share >= bad || in.Path.Rate > 0 && reached < 0.5*in.Path.LinkGoodput() {
		found = with(Warning, found)
	}
	return found
}
