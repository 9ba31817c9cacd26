package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// ringDrops finds packets that a NIC dropped for want of a descriptor.
func ringDrops() Rule {
	return Rule{
		ID: "ring-drops", Title: "A network card dropped packets before the host took them", Severity: Warning,
		Systems: []string{"linux", "freebsd"}, Needs: []string{"linux:links|statistics *|ifconfig",
			"freebsd:settings|interface counters|messages"},
		Because: "The receive ring had no free descriptor: the host does not empty it fast enough, or bursts are " +
			"longer than the ring.",
		Confirm: "The counter grows at the rate of the loss that TCP sees.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				name, c := largest(nicMatching(n, ringDrop))
				if c.Value == 0 || !physical(n) {
					continue
				}
				found := with(graded(c, received(n), 1e-6, Warning), one(n.Name, []facts.Source{c.Source}, "%s: %s%s",
					name, happened(c), ofReceived(n)))
				if whole := received(n) + c.Value; c.Value >= 100_000 && float64(c.Value) > 0.01*float64(whole) &&
					received(n) > 0 && still(c) {
					found = with(Critical, found)
				}
				if n.Rings.RX > 0 && n.Rings.RX < n.Rings.RXMax {
					found[0].Fix = append(found[0].Fix, Fix{Setting: "ethtool:ring/rx"})
				}
				out = append(out, do("spread the receive work over more cores, or let the host take more packets at "+
					"a time", found)...)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 5000)),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0)),
	}
}

// ofReceived says of how many packets, where that is known.
func ofReceived(n *facts.NIC) string {
	if total := received(n); total > 0 {
		return fmt.Sprintf(" of %d packets received", total)
	}
	return ""
}
