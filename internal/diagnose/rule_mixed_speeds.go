package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// mixedSpeeds finds flow control on a host that joins links of different speed.
func mixedSpeeds() Rule {
	return Rule{
		ID: "flow-control-mixed-speeds", Title: "Flow control is enabled between links of different speeds",
		Severity: Info, Systems: []string{"linux", "freebsd"},
		Needs: []string{"settings", "linux:pause *", "freebsd:ifconfig"}, Settings: nil,
		Because: "A slow link that pauses a fast one stops every other flow on the fast link.",
		Check: func(in Input) (out []Finding) {
			if _, on := reallyForwards(in.Facts, in.Role); !on {
				return nil
			}
			var slow, fast *facts.NIC
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.Speed == 0 || !n.Up || !physical(n) {
					continue
				}
				if slow == nil || n.Speed < slow.Speed {
					slow = n
				}
				if fast == nil || n.Speed > fast.Speed {
					fast = n
				}
			}
			if slow == nil || fast.Speed < 4*slow.Speed || fast.Pause == nil || !fast.Pause.RX {
				return nil
			}
			return do("disable flow control on "+fast.Name+" unless storage traffic needs it",
				one(fast.Name, []facts.Source{fast.Shown["pause.rx"], fast.Shown["speed_bps"], slow.Shown["speed_bps"]},
					"%s at %s honours pause frames next to %s at %s",
					fast.Name, fast.Speed, slow.Name, slow.Speed))
		},
		Fires: mixedExample("10Gbase-T <full-duplex,rxpause,txpause>"),
		Quiet: mixedExample("10Gbase-T <full-duplex>"),
	}
}

func mixedExample(media string) Example {
	return freebsdExample("sysctl -a", "net.inet.ip.forwarding: 1\n", "ifconfig -a",
		"ix0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tmedia: Ethernet autoselect ("+media+")\n\tstatus: active\n"+
			"em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tmedia: Ethernet "+
			"autoselect (1000baseT <full-duplex>)\n\tstatus: active\n").as("router")
}
