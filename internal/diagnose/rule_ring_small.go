package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
)

// ringSmall finds a ring that could be larger on a card that drops.
func ringSmall() Rule {
	return Rule{
		ID: "ring-below-maximum", Title: "The receive ring is below its maximum and packets are dropped",
		Systems: onLinux(), Needs: []string{"rings *"}, Severity: Warning,
		Because: "A longer ring absorbs longer bursts while the host is busy.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				name, c := largest(nicMatching(n, func(s string) bool { return ringDrop(s) && !ownBuffer(s) }))
				if n.Rings.RX == 0 || n.Rings.RX >= n.Rings.RXMax || c.Value == 0 || !still(c) {
					continue
				}
				found := lost(c, received(n), one(n.Name,
					[]facts.Source{n.Shown["ethtool:ring/rx"], n.Shown["ethtool:ring/rx/max"], c.Source},
					"the ring has %d of %d possible descriptors, and the card dropped packets: %s is %s%s",
					n.Rings.RX, n.Rings.RXMax, printedName(name, c), happened(c), ofReceived(n, c)))
				found[0].Fix = []Fix{{Setting: "ethtool:ring/rx", Interface: n.Name, Value: strconv.Itoa(n.Rings.RXMax)}}
				out = append(out, found...)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 5000),
			"ethtool -g eth0", "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\nCurrent "+
				"hardware settings:\nRX:\t\t256\nTX:\t\t256\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0),
			"ethtool -g eth0", "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\nCurrent "+
				"hardware settings:\nRX:\t\t256\nTX:\t\t256\n"),
	}
}
