package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// datagramsLost finds tests of UDP whose datagrams did not arrive.
func datagramsLost() Rule {
	return Rule{
		ID: "datagrams-lost", Title: "UDP datagrams of a test were lost", Needs: []string{"transfers"}, Severity: Warning,
		Because: "UDP sends at the configured rate, whatever the path carries: what exceeds a link, a queue, a CPU or the " +
			"receiver's buffer is lost, and the receiver's rate is what got through.",
		Confirm: "nstat -az UdpRcvbufErrors (netstat -sp udp) at the receiver grows by the number lost: then it is the " +
			"receiver's buffer; if not, the loss is before it.",
		Check: func(in Input) []Finding {
			var worst facts.TransferEnd
			for _, e := range in.Facts.TransferEnds {
				if e.Datagrams > 0 && e.Role != "sender" && share(e) > share(worst) {
					worst = e
				}
			}
			if share(worst) < 0.001 || float64(total(in.Facts, "Udp.RcvbufErrors")) >= 0.9*float64(worst.Lost) {
				return nil // udp-buffer says it
			}
			severity := gradedShare(share(worst))
			if severity == Critical {
				severity = Warning // a test may send more than the path carries, to see what it does
			}
			found := with(severity, one("iperf3", []facts.Source{worst.Source},
				"%s%% of %d datagrams were lost; %s got through", units.Digits(100*share(worst), 2), worst.Datagrams, arrived(worst)))
			found[0].Share = share(worst)
			return do("find the loss-free rate: iperf3 -u with a lower -b; if it is far below the link rate, give the receiver a "+
				"larger buffer (-w 4M) and check its counters", found)
		},
		Fires: linuxExample("iperf3", "[ ID] Interval           Transfer     Bitrate         Jitter  "+
			"  Lost/Total Datagrams\n"+
			"[  5]   0.00-10.00  sec  1.12 GBytes   961 Mbits/sec  0.012 ms  103520/923520 (11%)  receiver\n"),
		Quiet: linuxExample("iperf3", "[ ID] Interval           Transfer     Bitrate         Jitter  "+
			"  Lost/Total Datagrams\n"+
			"[  5]   0.00-10.00  sec  1.12 GBytes   961 Mbits/sec  0.012 ms  12/923520 (0.0013%)  receiver\n"),
	}
}

func share(e facts.TransferEnd) float64 {
	if e.Datagrams <= 0 {
		return 0
	}
	return min(float64(max(e.Lost, 0))/float64(e.Datagrams), 1)
}

// arrived is the rate of what got through, which old releases of iperf3 do not print at the sender.
func arrived(e facts.TransferEnd) string {
	if e.Role == "" && e.Intervals == 0 {
		return "the rest"
	}
	return e.Rate.String()
}
