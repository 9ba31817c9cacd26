package diagnose

import (
	"fmt"

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
		Check: func(in Input) []Finding {
			if line := max(in.Path.Rate, in.Facts.Told.Rate); line > 0 && line <= 110*units.Mbit {
				return nil // the line is known to carry no more
			}
			for _, t := range testedRates(in.Facts) {
				if t.link() != 100*units.Mbit {
					continue
				}
				lost := ""
				if t.again > 0 {
					lost = ", with " + percent(t.again) + " sent again, as its queue overflows"
				}
				out := do("look at the negotiated speed of every port on the way", one(t.peer, t.evidence,
					"%.3g Mbit/s over %.3g s%s: what a link of 100 Mbit/s carries", t.rate/1e6, t.seconds, lost))
				if wait := 8 * t.window / t.rate; wait > 0.02 {
					out[0].Confirm = fmt.Sprintf("The speed of each port on the way. The window of %s stands still meanwhile: where ping "+
						"shows a round trip of %.3g ms without load, the window is the limit instead.", units.Bytes(t.window), 1000*wait)
				}
				return out
			}
			return nil
		},
		Fires: linuxExample("iperf3", hundredExample("11.2 MBytes  94.1")),
		Quiet: linuxExample("iperf3", hundredExample("112 MBytes   941")),
	}
}

func hundredExample(rate string) string {
	return "Connecting to host 192.0.2.7, port 5201\n[  5] local 192.0.2.1 port 40000 connected to 192.0.2.7 port 5201\n" +
		"[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n" +
		"[  5]   0.00-1.00   sec  " + rate + " Mbits/sec    0    218 KBytes\n" +
		"[  5]   1.00-2.00   sec  " + rate + " Mbits/sec    0    218 KBytes\n" +
		"[  5]   2.00-3.00   sec  " + rate + " Mbits/sec    0    218 KBytes\n"
}
