package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// mtuMismatch finds members of a bridge or bond with different MTUs.
func mtuMismatch() Rule {
	return Rule{
		ID: "mtu-mismatch", Title: "Members of a bridge or bond have different MTUs", Systems: onLinux(), Needs: []string{"links"}, Severity: Warning, Settings: []string{"link:mtu"},
		Because: "A bridge does not fragment: frames larger than the outgoing member's MTU vanish without a word.",
		Check: func(in Input) (out []Finding) {
			first := map[string]*facts.NIC{}
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.Master == "" || !n.Up {
					continue
				}
				other := first[n.Master]
				if other == nil {
					first[n.Master] = n
				} else if other.MTU != n.MTU {
					out = append(out, one(n.Master, []facts.Source{other.Source, n.Source}, "%s has an MTU of %d, %s of %d", other.Name, other.MTU, n.Name, n.MTU)...)
				}
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", bridgeMembers(1500, 9000)),
		Quiet: linuxExample("ip -s -d link show", bridgeMembers(1500, 1500)),
	}
}

func bridgeMembers(a, b int) string {
	return fmt.Sprintf("2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu %d qdisc mq master br0 state UP mode DEFAULT group default qlen 1000\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"+
		"3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu %d qdisc mq master br0 state UP mode DEFAULT group default qlen 1000\n    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n", a, b)
}
