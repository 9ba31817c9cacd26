package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// halfDuplex finds links that run at half duplex.
func halfDuplex() Rule {
	return Rule{
		ID: "half-duplex", Title: "A link runs at half duplex", Severity: Critical,
		Needs:   []string{"linux:interfaces|link *|mii", "freebsd:ifconfig", "openbsd:ifconfig"},
		Because: "Almost always one end negotiates and the other is fixed: frames collide and are lost under load.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.Duplex == "half" && n.Up && physical(n) {
					out = append(out, do("let both ends of the link negotiate",
						one(n.Name, []facts.Source{n.Shown["duplex"], n.Shown["speed_bps"]}, "half duplex at %s", n.Speed))...)
				}
			}
			return out
		},
		Fires: freebsdExample("ifconfig -a", "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu "+
			"1500\n\tmedia: Ethernet autoselect (100baseTX <half-duplex>)\n\tstatus: active\n"),
		Quiet: openbsdExample("ifconfig -a", "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> mtu "+
			"1500\n\tmedia: Ethernet autoselect (1000baseT full-duplex,rxpause,txpause)\n\tstatus: active\n"),
	}
}
