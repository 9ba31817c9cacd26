package diagnose

import (
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/units"
)

// interruptModeration finds round trips that are as long as the time for which a card holds back its interrupts.
func interruptModeration() Rule {
	return Rule{
		ID: "interrupt-moderation", Title: "Interrupt moderation delays each packet", Severity: Info, Systems: onLinux(),
		Needs: []string{"coalesce *", "round trips"},
		Because: "A card with fixed moderation signals a packet only after rx-usecs (or rx-frames packets): alone, each one waits that " +
			"long, at both ends of the path.",
		Confirm: "With rx-usecs 0 the shortest RTT falls by about that time.",
		Check: func(in Input) []Finding {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				held, err := strconv.ParseFloat(n.Coalesce["rx-usecs"], 64)
				if err != nil || n.Coalesce["adaptive-rx"] == "on" {
					continue
				}
				if p, ok := asLongAs(in.Facts, held/1e6); ok {
					src := in.Facts.Settings["ethtool:coalesce/rx-usecs@"+n.Name].Source
					return decisive(do("for low latency let the card adapt: "+shell.Join("ethtool", "-C", n.Name, "adaptive-rx", "on")+", or lower it: "+
						shell.Join("ethtool", "-C", n.Name, "rx-usecs", "8")+"; each costs CPU time per packet",
						one(n.Name, []facts.Source{src, p.Source}, "it holds back interrupts for %s us, and the shortest RTT is %s us",
							units.Digits(held, 4), units.Digits(1e6*p.Min, 3))))
				}
			}
			return nil
		},
		Fires: moderationExample(0.26),
		Quiet: moderationExample(0.06),
	}
}

// asLongAs finds probes of which the shortest took as long as a delay, once or at both ends, and little more.
func asLongAs(f *facts.Facts, delay float64) (facts.Ping, bool) {
	const noticed, wire = 50e-6, 150e-6 // seconds
	for _, p := range f.Pings {
		if delay >= noticed && p.Answered >= 3 && p.Min >= delay && p.Min <= 2*delay+wire {
			return p, true
		}
	}
	return facts.Ping{}, false
}

func moderationExample(shortest float64) Example {
	return linuxExample("ethtool -c eth0", "Coalesce parameters for eth0:\nAdaptive RX: off  TX: off\nrx-usecs: 200\nrx-frames: 128\n",
		"ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "ping", fmt.Sprintf("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"+
			"--- 192.0.2.1 ping statistics ---\n10 packets transmitted, 10 received, 0%% packet loss, time 9100ms\n"+
			"rtt min/avg/max/mdev = %[1]g/%[1]g/0.31/0.01 ms\n", shortest))
}
