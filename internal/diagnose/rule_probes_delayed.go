package diagnose

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// probesDelayed finds probes that came back, and far later than the path takes.
func probesDelayed() Rule {
	return Rule{
		ID: "probes-delayed", Title: "Probes come back far later than the path takes",
		Needs: []string{"round trips|messages"}, Severity: Warning,
		Because: "Everything on the same way waits as long: behind a queue that is full, a line that stands still, or a " +
			"program that does not pass packets on.",
		Confirm: "ping without a transfer and during one: where the delay comes with the load, a queue is full.",
		Check: func(in Input) []Finding {
			for _, p := range in.Facts.Pings {
				if late(p) {
					return do("where it comes with the load, shape a little below the line's rate with fq_codel or cake; where it "+
						"does not, look at the line, its radio, and at what inspects packets on the way",
						one(cmp.Or(p.Peer, "ping"), []facts.Source{p.Source, p.Slowest}, "answers came after %s to %s, %s on average of %d",
							span(p.Min), span(p.Max), span(p.Avg), p.Answered))
				}
			}
			return slowGateway(in.Facts)
		},
		Fires: freebsdExample("ping", "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n20 packets transmitted, 20 packets "+
			"received, 0.0% packet loss\nround-trip min/avg/max/stddev = 0.611/612.311/1404.221/401.101 ms\n"),
		Quiet: freebsdExample("ping", "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n20 packets transmitted, 20 packets "+
			"received, 0.0% packet loss\nround-trip min/avg/max/stddev = 0.611/62.311/1204.221/201.101 ms\n"),
	}
}

// span is a time in the unit that suits it.
func span(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%.3g ms", 1000*seconds)
	}
	return fmt.Sprintf("%.1f s", seconds)
}

// late reports whether most of the answers of a ping were far above its best: a mean that one of them alone makes large
// stays below a quarter of it.
func late(p facts.Ping) bool {
	const enough, extra = 10, 0.1
	return p.Answered >= enough && p.Min > 0 && p.Avg >= 5*p.Min && p.Avg-p.Min >= extra && p.Avg >= p.Max/4
}

// slowGateway finds a gateway that the monitor of a firewall called late, and that lost few of its probes.
func slowGateway(f *facts.Facts) []Finding {
	const least, few = 200, 10 // ms, percent
	worst, address := 0.0, ""
	lines, n := logLines(f, func(line string) bool {
		m := gatewayDelay.FindStringSubmatch(line)
		if m == nil {
			return false
		}
		ms, err := strconv.ParseFloat(m[2]+m[5], 64)
		if m[3]+m[6] == "us" {
			ms /= 1000
		}
		loss, _ := strconv.Atoi(m[4] + m[7])
		if err != nil || ms < least || ms > 1e6 || loss >= few {
			return false
		}
		if ms > worst {
			worst, address = ms, m[1]
		}
		return true
	})
	if n == 0 {
		return nil
	}
	const often, lost = 3, 1000 // TCP's first retransmission comes after a second
	s := Info
	if n >= often || worst >= lost {
		s = Warning
	}
	return with(s, do("ping it while the line is idle and while it is full: where it is late with the load alone, shape a little "+
		"below the line's rate (FQ-CoDel); else look at the line",
		one("gateway "+address, lines, "its monitor waited up to %s for an answer (alarms in %s)", span(worst/1000),
			counted(n, "line"))))
}

// gatewayDelay is what dpinger of pfSense and OPNsense logs of a round trip above the limit, and what they make of it.
var gatewayDelay = regexp.MustCompile(`dpinger.* (\S+): Alarm latency ([0-9.]{1,12})(us|ms) stddev \S+ loss (\d{1,3})%|` +
	`(?i:alarm|alert): .*\(Addr: ?\S+ Alarm: ?(?:1|\S+ -> \S+) RTT: ?([0-9.]{1,12}) ?(us|ms) .*Loss: ?(\d{1,3})`)
