package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// bufferbloat finds connections whose round trips grow far above the path's.
func bufferbloat() Rule {
	return Rule{
		ID: "bufferbloat", Title: "The round-trip time under load is far above the path's minimum", Systems: onLinux(),
		Needs: []string{"flows"}, Severity: Warning,
		Because: "A queue on the path is full (bufferbloat): everything that shares it is delayed.",
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
			return do("shape to about 95% of the bottleneck rate with fq_codel or cake where the queue builds up (on this host, "+
				"if tc -s qdisc shows a backlog); elsewhere, BBR at this end fills the queue less than CUBIC",
				one(worst.Peer, sample(evidence), "the round-trip time is %.0f ms, its minimum was %s ms",
					worst.Values["rtt"], units.Digits(worst.Values["minrtt"], 3)))
		},
		Fires: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Peer\nESTAB 0 262144 192.0.2.1:443 "+
			"198.51.100.9:5000\n\t cubic rtt:480.2/10.1 mss:1448 cwnd:400 unacked:390 segs_out:700000 minrtt:20.1\n"),
		Quiet: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Peer\nESTAB 0 262144 192.0.2.1:443 "+
			"198.51.100.9:5000\n\t cubic rtt:24.2/1.1 mss:1448 cwnd:400 unacked:390 segs_out:700000 minrtt:20.1\n"),
	}
}
