package diagnose

import (
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
)

// cwndLimited finds connections that the network holds back.
func cwndLimited() Rule {
	return Rule{
		ID: "network-limited", Title: "Connections are held back by loss, not by buffers", Systems: onLinux(), Needs: []string{"flows"}, Severity: Info,
		Because: "Neither end's buffer was the limit while data was waiting: the congestion window was, and it shrinks on loss.",
		Check: func(in Input) []Finding {
			var evidence []facts.Source
			var worst facts.Flow
			for _, fl := range in.Facts.Flows {
				v := fl.Values
				if v["busy"] < 2000 || v["rwnd_limited"] > 0.1 || v["sndbuf_limited"] > 0.1 || v["segs_out"] < 10000 || loopback(&fl) ||
					v["ssthresh"] == 0 || v["unacked"] < v["cwnd"]/2 || slices.Contains(fl.Words, "app_limited") || slices.Contains(fl.Words, "bbr") || v["retrans_total"] < 0.001*v["segs_out"] {
					continue
				}
				evidence = append(evidence, flowLine(in.Facts, fl, "rtt", "mss", "cwnd", "ssthresh", "segs_out", "busy", "retrans"))
				if v["busy"] > worst.Values["busy"] {
					worst = fl
				}
			}
			if len(evidence) == 0 {
				return nil
			}
			return do("find where the path loses packets before changing buffers", one(worst.Peer, sample(evidence), "towards %s %.2g%% of segments were lost; window %g segments of %g bytes, round trip %g ms",
				worst.Peer, 100*worst.Values["retrans_total"]/worst.Values["segs_out"], worst.Values["cwnd"], worst.Values["mss"], worst.Values["rtt"]))
		},
		Fires: flowExample("busy:9000ms retrans:0/9000 ssthresh:300 unacked:390"),
		Quiet: flowExample("busy:9000ms rwnd_limited:7000ms(77.8%) retrans:0/9000"),
	}
}
