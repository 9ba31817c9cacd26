package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// hundredMegabit finds a test whose rate is that of a link of 100 Mbit/s.
func hundredMegabit() Rule {
	return Rule{
		ID: "rate-of-100-mbit", Title: "A test ran at the rate of a 100 Mbit/s link", Needs: []string{"transfers|speed tests"},
		Severity: Warning,
		Because: "A steady 94 Mbit/s of TCP is the full rate of a 100 Mbit/s link: a port, a cable with a damaged pair, an " +
			"adapter or a shaper on the path runs at that rate.",
		Confirm: oneSlowPort,
		Check: func(in Input) []Finding {
			if line := max(in.Path.Rate, in.Facts.Told.Rate); line > 0 && line <= 110*units.Mbit {
				return nil // the line is known to carry no more
			}
			for _, t := range testedRates(in.Facts) {
				if t.link() != 100*units.Mbit || uneven(in.Facts, t.rate) {
					continue
				}
				lost := ""
				if t.again > 0 {
					lost = ", with " + percent(t.again) + " retransmitted as its queue overflows"
				}
				out := do(checkSpeeds, one(t.peer, t.evidence,
					"%s Mbit/s over %s s%s: the full rate of a 100 Mbit/s link", units.Digits(t.rate/1e6, 3), units.Digits(t.seconds, 3), lost))
				if wait := 8 * t.window / t.rate; wait > 0.02 {
					out[0].Confirm = fmt.Sprintf("One port on the path shows 100 Mbit/s. The window stays at %s: "+
						"if ping shows an RTT of %s ms without load, the window is the limit instead.", units.Bytes(t.window), units.Digits(1000*wait, 3))
				}
				return out
			}
			return hundredOfLine(in)
		},
		Fires: linuxExample("iperf3", hundredExample("11.2 MBytes  94.1")),
		Quiet: linuxExample("iperf3", hundredExample("112 MBytes   941")),
	}
}

// hundredOfLine finds a speed test that ran at the rate of such a link, both ways, on a line that is said to carry more.
func hundredOfLine(in Input) []Finding {
	line := max(in.Path.Rate, in.Facts.Told.Rate)
	for _, s := range in.Facts.SpeedTests {
		if line > 0 && filledLink(float64(s.Down)) == 100*units.Mbit && filledLink(float64(s.Up)) == 100*units.Mbit {
			return do(checkSpeeds, one("speed test", []facts.Source{s.Source, in.Facts.Told.RateSource}, "%s down and %s up on a line of %s: the full rate of a "+
				"100 Mbit/s link", s.Down, s.Up, line))
		}
	}
	return nil
}

// What confirms a link of 100 Mbit/s, and what finds it.
const (
	oneSlowPort = "One port on the path (hosts, switches, wall sockets) shows 100 Mbit/s."
	checkSpeeds = "check the negotiated speed of every port on the path (Linux: ethtool NAME; FreeBSD, OpenBSD: ifconfig NAME)"
)

func hundredExample(rate string) string {
	return "Connecting to host 192.0.2.7, port 5201\n[  5] local 192.0.2.1 port 40000 connected to 192.0.2.7 port 5201\n" +
		"[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n" +
		"[  5]   0.00-1.00   sec  " + rate + " Mbits/sec    0    218 KBytes\n" +
		"[  5]   1.00-2.00   sec  " + rate + " Mbits/sec    0    218 KBytes\n" +
		"[  5]   2.00-3.00   sec  " + rate + " Mbits/sec    0    218 KBytes\n"
}
