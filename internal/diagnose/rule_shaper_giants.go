package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// shaperGiants finds a shaper that is handed packets longer than those whose time it knows.
func shaperGiants() Rule {
	return Rule{
		ID: "shaper-giants", Title: "A shaper gets packets larger than it can account for", Systems: onLinux(),
		Needs: []string{"classes"}, Severity: Warning,
		Because: "HTB in older kernels accounts for packets only up to the class's mtu (1600 bytes by default). TSO, GSO and " +
			"GRO hand it packets of up to 64 KiB, which it counts as mtu-sized: the class sends far more than its rate.",
		Confirm: "With the offloads disabled, the giants counter stops growing and the rate is kept.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				var worst facts.Class
				for _, c := range n.Classes {
					if c.Giants.Value > 0 && c.Giants.Value >= worst.Giants.Value { // the last one: leaves come behind
						worst = c
					}
				}
				const least, share = 10, 0.01
				if worst.Giants.Value < least || float64(worst.Giants.Value) < share*float64(worst.Sent.Value) {
					continue
				}
				found := one(n.Name+" "+worst.Kind+" "+worst.ID, []facts.Source{worst.Giants.Source, worst.Sent.Source},
					"%d oversized packets (giants), of %d sent", worst.Giants.Value, worst.Sent.Value)
				if limit := worst.Ceiling(); limit > 0 && worst.Measured > limit+limit/5 {
					found[0].Summary += fmt.Sprintf("; it sends %s, its limit is %s", worst.Measured, limit)
				}
				out = append(out, do("ethtool -K "+typed(n.Name)+" tso off gso off gro off; or set a larger mtu for the class (tc "+
					"class change ... htb ... mtu 65535)", found)...)
			}
			return out
		},
		Fires: linuxExample("tc -s class show", giantsExample(700)),
		Quiet: linuxExample("tc -s class show", giantsExample(0)),
	}
}

func giantsExample(giants int) string {
	return fmt.Sprintf("class htb 1:10 dev eth0 parent 1:1 prio 0 rate 2Mbit ceil 2Mbit burst 1600b cburst 1600b\n"+
		" Sent 9000000 bytes 1000 pkt (dropped 0, overlimits 0 requeues 0)\n rate 9Mbit 40pps backlog 0b 0p requeues 0\n"+
		" lended: 1000 borrowed: 0 giants: %d\n tokens: -100 ctokens: -100\n", giants)
}
