package diagnose

import (
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
)

// receiveDropped explains the kernel's own count of dropped packets.
func receiveDropped() Rule {
	return Rule{
		ID: "receive-dropped", Title: "The kernel dropped packets that the card delivered", Systems: onLinux(),
		Needs: []string{"links|activity"}, Severity: Info,
		Because: "Since Linux 2.6.37 this counts packets of unhandled protocols or unconfigured VLANs as well as drops at a " +
			"full backlog: it is a loss only if the softnet counters confirm it.",
		Confirm: "The second column of /proc/net/softnet_stat grows too; if instead the growth stops while tcpdump runs, the " +
			"packets are unhandled ones.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				c := n.Counters["link.rx_dropped"]
				// Some tools count what the card missed here as well.
				if _, missed := largest(nicMatching(n, ringDrop)); missed.Value >= c.Value {
					continue
				}
				if !physical(n) || c.Value == 0 || !still(c) {
					continue
				}
				found := do("check whether wanted packets are lost: the second column of /proc/net/softnet_stat "+
					"grows if the backlog is full; tcpdump -eni "+n.Name+
					" 'not ip and not ip6 and not arp' shows protocols and VLANs that the host does not use, "+
					"whose drops are harmless", one(n.Name, []facts.Source{c.Source}, "packets dropped after "+
					"the card received them: %s%s", happened(c), ofReceived(n, c)))
				if slices.Contains([]string{"i40e", "ena", "vmxnet3", "enic", "cxgb4", "mlx5_core", "mlx4_en"}, n.Driver) {
					found[0].Because = "This driver also counts packets here for which the card had no buffer: ethtool -S " +
						"distinguishes them."
				}
				if c.Value < 100 || few(n, c) {
					found = with(trifling, found)
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 9000, 0)),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 9, 0)),
	}
}

// few reports whether a counter is less than a thousandth of what was received.
func few(n *facts.NIC, c facts.Counter) bool {
	grown, arrived := sinceEarlier(n, c)
	return float64(grown.Value) < 1e-3*float64(arrived)
}
