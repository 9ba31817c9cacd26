package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// bufferbloat finds connections whose round trips grow far above the path's.
func bufferbloat() Rule {
	return Rule{
		ID: "bufferbloat", Title: "Round trips grow far above the path's own", Systems: onLinux(),
		Needs: []string{"flows"}, Severity: Warning,
		Because: "A queue somewhere on the path is full: everything that shares it is delayed.",
		Confirm: "ping during a transfer shows the same delay.",
		Check: func(in Input) []Finding {
			var evidence []facts.Source
			var worst facts.Flow
			for _, fl := range in.Facts.Flows {
				v := fl.Values
				extra := v["rtt"] - v["minrtt"]
				if v["minrtt"] <= 0 || v["minrtt"] > 1e6 || extra < 100 || v["rtt"] < 3*v["minrtt"] ||
					v["segs_out"] < 5000 || v["unacked"] < 10 || loopback(&fl) {
					continue
				}
				evidence = append(evidence, flowLine(in.Facts, fl, "rtt", "minrtt", "unacked", "cwnd"))
				if extra > worst.Values["rtt"]-worst.Values["minrtt"] {
					worst = fl
				}
			}
			if len(evidence) == 0 {
				return nil
			}
			return do("shape to a little below the bottleneck's rate with fq_codel or cake where the queue stands (here, if "+
				"tc -s qdisc shows a backlog); BBR at this end fills a queue elsewhere less than CUBIC",
				one(worst.Peer, sample(evidence), "the round trip is %.0f ms, and was %.3g ms at its lowest",
					worst.Values["rtt"], worst.Values["minrtt"]))
		},
		Fires: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Peer\nESTAB 0 262144 192.0.2.1:443 "+
			"198.51.100.9:5000\n\t cubic rtt:480.2/10.1 mss:1448 cwnd:400 unacked:390 segs_out:700000 minrtt:20.1\n"),
		Quiet: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Peer\nESTAB 0 262144 192.0.2.1:443 "+
			"198.51.100.9:5000\n\t cubic rtt:24.2/1.1 mss:1448 cwnd:400 unacked:390 segs_out:700000 minrtt:20.1\n"),
	}
}
