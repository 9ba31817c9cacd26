package diagnose

import (
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// congestionControlUnfit finds a congestion control that cannot fill the path.
func congestionControlUnfit() Rule {
	return Rule{
		ID: "congestion-control-unfit", Title: "The congestion control cannot fill this path",
		Needs: []string{"settings"}, Severity: Warning, Systems: []string{"linux", "freebsd"},
		Because: "At a given loss rate an algorithm's window is bounded; Reno grows back by one segment per round trip.",
		Check: func(in Input) []Finding {
			if in.Path.Rate == 0 || in.Path.RTT == 0 {
				return nil
			}
			_, _, current := in.Facts.CongestionControls()
			name := map[system.System]string{"linux": "net.ipv4.tcp_congestion_control",
				"freebsd": "net.inet.tcp.cc.algorithm"}[in.Facts.System]
			src := in.Facts.Settings[name].Source
			want := linkGoodput(in.Path, in.Facts)
			var found []Finding
			if bound, known := lossResponse(current, in.Path); known && bound < 0.8*want {
				found = one(current, []facts.Source{src}, "%s reaches %s at a loss rate of %s over %s, but the link "+
					"carries %s", current, units.Rate(bound), units.Digits(in.Path.Loss, 3), units.Duration(in.Path.RTT), units.Rate(want))
			} else if segments := float64(in.Path.BDP()) / float64(in.Path.MSS()); (current == "reno" ||
				current == "newreno") && segments/2*in.Path.RTT.Seconds() > 10 {
				found = one(current, []facts.Source{src}, "after one loss %s needs %.0f s to fill the path again (%.0f segments, "+
					"one per round trip)", current, segments/2*in.Path.RTT.Seconds(), segments/2)
			}
			if len(found) > 0 {
				found[0].Fix = []Fix{{Setting: name}}
			}
			return found
		},
		Fires: linuxExample("sysctl -a", "net.ipv4.tcp_congestion_control = reno\n").on(netpath.Path{Rate: units.Gbit,
			RTT: 100 * time.Millisecond, MTU: 1500}),
		Quiet: linuxExample("sysctl -a", "net.ipv4.tcp_congestion_control = cubic\n").on(netpath.Path{Rate: units.Gbit,
			RTT: 100 * time.Millisecond, MTU: 1500}),
	}
}
