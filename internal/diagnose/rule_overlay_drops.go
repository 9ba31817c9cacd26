package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// overlayDrops finds interfaces of overlay networks that drop what they send (drivers/net/vxlan/vxlan_core.c: a packet
// without a destination is counted as dropped, one without a route as an error of sending; drivers/net/wireguard/device.c
// drops one beyond the queue of a peer).
func overlayDrops() Rule {
	return Rule{
		ID: "overlay-drops", Title: "An overlay interface drops what it sends", Systems: onLinux(),
		Needs: []string{"links|activity"}, Severity: Warning,
		Because: "A VXLAN or Geneve device drops packets without a forwarding entry, neighbour or route; WireGuard drops " +
			"packets that wait too long for a handshake.",
		Confirm: "ip neigh show dev NAME and bridge fdb show dev NAME lack the destination; wg show has no recent handshake.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				name, c := largest(nicCounters(n, "link.tx_dropped", "link.tx_errors"))
				if !overlayName.MatchString(n.Name) || c.Value == 0 && c.Rate == nil {
					continue
				}
				sent := sentPackets(n)
				if c.Value < 100 && (c.Rate == nil || *c.Rate < warningRate) {
					continue
				}
				said := happened(c) + ofSent(n, c)
				if c.Value == 0 || c.Rate != nil && sent == 0 {
					said = units.Digits(*c.Rate, 3) + "/s"
				}
				found := with(graded(c, sent, Warning), one(n.Name, []facts.Source{c.Source}, "%s: %s",
					cmp.Or(strings.TrimPrefix(name, "link."), "tx_dropped"), said))
				found[0].Share = lossShare(c, sent)
				out = append(out, found...)
			}
			return do("compare its forwarding entries (bridge fdb show dev NAME) with the existing nodes, and check the log of "+
				"the agent that sets them (flanneld, calico-node, cilium-agent)", out)
		},
		Fires: linuxExample("ip -s -d link show", overlayLink(9000)),
		Quiet: linuxExample("ip -s -d link show", overlayLink(9)),
	}
}

var overlayName = regexp.MustCompile(`^(?:flannel[.\w-]*|vxlan[.\w-]*|cilium_(?:vxlan|geneve)|genev\w*|vethwe-\w+|` +
	`wg\d+|antrea-\w+)$`)

func overlayLink(dropped int) string {
	return fmt.Sprintf("4: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT "+
		"group default\n    link/ether 02:00:5e:10:00:01 brd ff:ff:ff:ff:ff:ff\n"+
		"    RX:  bytes packets errors dropped  missed   mcast\n     9000000 1000000 0 0 0 0\n"+
		"    TX:  bytes packets errors dropped carrier collsns\n     9000000 1000000 0 %d 0 0\n", dropped)
}
