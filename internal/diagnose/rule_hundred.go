package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// hundredMegabit finds a test whose rate is that of a link of 100 Mbit/s.
func hundredMegabit() Rule {
	return Rule{
		ID: "rate-of-100-mbit", Title: "A test ran at the rate of a 100 Mbit/s link", Needs: []string{"transfers"},
		Severity: Warning,
		Because: "TCP gets 94 Mbit/s out of a link of 100 Mbit/s, steadily: somewhere on the way a port, a cable with a " +
			"damaged pair, an adapter or a shaper has that rate.",
		Confirm: "The speed of each port on the way: both hosts', the switches', the wall sockets'.",
		Check: func(in Input) (out []Finding) {
			if line := max(in.Path.Rate, in.Facts.Told.Rate); line > 0 && line <= 110*units.Mbit {
				return nil // the line is known to carry no more
			}
			for _, tr := range in.Facts.Transfers {
				const least = 3
				if tr.Seconds <= 0 || tr.Intervals < least || filled(tr) != 100*units.Mbit || len(out) > 0 {
					continue
				}
				evidence := []facts.Source{tr.SteadySource, tr.Last}
				if evidence[0].Line == 0 {
					evidence[0] = tr.Source
				}
				lost := "nothing lost"
				if tr.Retransmits > 0 {
					lost = percent(againShare(tr)) + " sent again, as its queue overflows"
				}
				mean := 8 * tr.Bytes / tr.Seconds / 1e6
				if mean > 100 || tr.Steady >= 5 {
					mean = 8 * tr.SteadyBytes / max(tr.SteadySeconds, 1e-3) / 1e6
				}
				out = do("look at the negotiated speed of every port on the way", one(tr.Peer, evidence,
					"%.3g Mbit/s over %d intervals, with %s: what a link of 100 Mbit/s carries",
					mean, tr.Intervals, lost))
				if window := 8 * tr.Window / (mean * 1e6); tr.Steady >= 5 && window > 0.02 {
					out[0].Confirm = fmt.Sprintf("The speed of each port on the way. The window of %s stands still meanwhile: where ping "+
						"shows a round trip of %.3g ms without load, the window is the limit instead.", units.Bytes(tr.Window), 1000*window)
				}
			}
			for _, tr := range testedRates(in.Facts) {
				const low, high = 93.0e6, 95.5e6 // 94.1 Mbit/s with full frames and timestamps
				if tr.rate >= low && tr.rate <= high && len(out) == 0 {
					out = do("look at the negotiated speed of every port on the way", one(tr.peer, tr.evidence,
						"%.3g Mbit/s over %.3g s: what a link of 100 Mbit/s carries", tr.rate/1e6, tr.seconds))
				}
			}
			return out
		},
		Fires: linuxExample("iperf3", hundredExample("11.2 MBytes  94.1")),
		Quiet: linuxExample("iperf3", hundredExample("112 MBytes   941")),
	}
}

// lineOf is the usual link that a rate of TCP fills.
func lineOf(bps float64) units.Rate {
	const low, high = 0.93, 0.955
	for _, link := range []units.Rate{100 * units.Mbit, units.Gbit, 2.5e9, 5e9, 10 * units.Gbit, 25 * units.Gbit} {
		if bps >= low*float64(link) && bps <= high*float64(link) {
			return link
		}
	}
	return 0
}

// filled is the rate of the link that a test fills; 0 is none. TCP gets 0.941 of it with full frames and timestamps,
// 0.949 without, and a little less through a switch; what it sends again takes its part. Of several streams none fills
// it alone.
func filled(tr facts.Transfer) units.Rate {
	const few = 0.01
	if tr.Seconds <= 0 || tr.Stalled > 0 || tr.Parallel || againShare(tr) >= few {
		return 0
	}
	if tr.Steady >= 5 && tr.SteadySeconds > 0 { // in the first seconds the sender's buffer fills as well
		tr.Bytes, tr.Seconds, tr.Retransmits = tr.SteadyBytes, tr.SteadySeconds, 0
	}
	return lineOf(8 * tr.Bytes / tr.Seconds * (1 + againShare(tr)))
}

func hundredExample(rate string) string {
	return "Connecting to host 192.0.2.7, port 5201\n[  5] local 192.0.2.1 port 40000 connected to 192.0.2.7 port 5201\n" +
		"[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n" +
		"[  5]   0.00-1.00   sec  " + rate + " Mbits/sec    0    218 KBytes\n" +
		"[  5]   1.00-2.00   sec  " + rate + " Mbits/sec    0    218 KBytes\n" +
		"[  5]   2.00-3.00   sec  " + rate + " Mbits/sec    0    218 KBytes\n"
}
