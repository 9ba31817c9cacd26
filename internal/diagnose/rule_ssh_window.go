package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// sshWindow finds copies over SSH that move just what SSH's own window lets through in a round trip.
func sshWindow() Rule {
	return Rule{
		ID: "ssh-window", Title: "A copy over SSH is limited by SSH's own window", Needs: []string{"copies"}, Severity: Warning,
		Because: "OpenSSH allows at most 2 MiB in flight per channel (CHAN_SES_WINDOW_DEFAULT in channels.h), whatever TCP's " +
			"buffers allow: one window per round trip.",
		Confirm: "iperf3 over the same path is faster, and two parallel copies are twice as fast in total.",
		Check: func(in Input) []Finding {
			const window, least, slow = 2 << 20, 0.6, 0.005 // bytes, the share that is reached, seconds
			for _, c := range in.Facts.Copies {
				p, known := roundTrip(in.Facts, "")
				if c.Program != "scp" && c.Program != "rsync" || !known || p.Avg < slow || c.Rate*p.Avg < least*window || c.Rate*p.Avg > 1.15*window {
					continue
				}
				return do("run several copies in parallel (one rsync per folder), or avoid SSH's window: an rsync daemon or HTTP "+
					"inside a VPN, or HPN-SSH at both ends", one(c.Program, []facts.Source{c.Source, p.Source},
					"%s/s over an RTT of %s ms is %s in flight, and SSH's window is 2 MiB", units.Bytes(c.Rate), units.Digits(1000*p.Avg, 3),
					units.Bytes(c.Rate*p.Avg)))
			}
			return nil
		},
		Fires: copyExample("time=81.0 ms"),
		Quiet: copyExample("time=0.31 ms"),
	}
}

func copyExample(time string) Example {
	return linuxExample("scp", "a.tar   12% 8211MB  23.9MB/s   38:11 ETA\n", "ping",
		"64 bytes from 192.0.2.7: icmp_seq=1 ttl=52 "+time+"\n")
}
