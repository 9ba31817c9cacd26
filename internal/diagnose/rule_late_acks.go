package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// lateAcks finds programs that wait for a delayed acknowledgement before they send the rest of a request.
func lateAcks() Rule {
	return Rule{
		ID: "waits-for-acknowledgement", Title: "A program's small writes wait for delayed acknowledgements",
		Needs: []string{"handshakes"}, Severity: Warning,
		Because: "Nagle's algorithm (RFC 1122, 4.2.3.4) holds a small segment back until the previous one is acknowledged, " +
			"and the receiver delays that ACK, on Linux by 40 ms: each such request takes that much longer.",
		Confirm: "The pause is gone with TCP_NODELAY, or with the request written in one call.",
		Check: func(in Input) []Finding {
			const least = 2
			var worst facts.Talk
			for _, d := range in.Facts.Talks {
				if d.Late > worst.Late {
					worst = d
				}
			}
			if worst.Late < least {
				return nil
			}
			return do("set TCP_NODELAY in the program on "+worst.To+", or write each request in one call",
				one(worst.To, []facts.Source{worst.LateLine}, "%d times, the next segment was sent only after the "+
					"ACK of a small one, %s ms late", worst.Late, units.Digits(1000*worst.Delay, 3)))
		},
		Fires: linuxExample("tcpdump", nagleExample("0.040", "0.041", "0.081")),
		Quiet: linuxExample("tcpdump", nagleExample("0.001", "0.002", "0.003")),
	}
}

// nagleExample is a text of two requests in two segments each, acknowledged at these times.
func nagleExample(first, second, third string) string {
	return "10:00:00.000100 IP 192.0.2.1.40000 > 192.0.2.9.80: Flags [P.], seq 1:201, ack 1, win 501, length 200\n" +
		"10:00:0" + first + "301 IP 192.0.2.9.80 > 192.0.2.1.40000: Flags [.], ack 201, win 501, length 0\n" +
		"10:00:0" + first + "350 IP 192.0.2.1.40000 > 192.0.2.9.80: Flags [P.], seq 201:251, ack 1, win 501, length 50\n" +
		"10:00:0" + second + "000 IP 192.0.2.9.80 > 192.0.2.1.40000: Flags [P.], seq 1:101, ack 251, win 501, length 100\n" +
		"10:00:0" + second + "100 IP 192.0.2.1.40000 > 192.0.2.9.80: Flags [P.], seq 251:451, ack 101, win 501, length 200\n" +
		"10:00:0" + third + "301 IP 192.0.2.9.80 > 192.0.2.1.40000: Flags [.], ack 451, win 501, length 0\n" +
		"10:00:0" + third + "350 IP 192.0.2.1.40000 > 192.0.2.9.80: Flags [P.], seq 451:501, ack 101, win 501, length 50\n"
}
