package diagnose

import (
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// pauseFrames finds Ethernet flow control at work.
func pauseFrames() Rule {
	return Rule{
		ID: "pause-frames", Title: "Ethernet flow control pauses this link at times", Severity: Warning,
		Needs:    []string{"linux:statistics *", "freebsd:settings"},
		Systems:  []string{"linux", "freebsd"},
		Settings: nil,
		Because:  "A pause frame stops all traffic on the link, not only the flow that is too fast.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if _, c := largest(nicMatching(n, pauseReceived)); c.Value > 0 {
					out = append(out, with(graded(c, received(n), Warning), pausedBy(in.Facts, n, c))...)
				}
				if _, c := largest(nicMatching(n, pauseSent)); c.Value > 0 {
					found := with(graded(c, received(n), Warning), one(n.Name, []facts.Source{c.Source}, "pause frames sent: %s",
						happened(c)))
					if n.Rings.RX > 0 && n.Rings.RX < n.Rings.RXMax {
						found[0].Summary += fmt.Sprintf("; its receive ring has %d of %d possible descriptors", n.Rings.RX, n.Rings.RXMax)
						found[0].Fix = []Fix{{Setting: "ethtool:ring/rx", Interface: n.Name, Value: strconv.Itoa(n.Rings.RXMax)}}
					}
					out = append(out, do("check this host's interrupts and cores: it does not drain the receive "+
						"ring fast enough", found)...)
				}
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     rx_packets: 1000000\n     rx_flow_control_xoff: 831\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     rx_packets: 1000000\n     rx_flow_control_xoff: 0\n"),
	}
}

// pausedBy is about a link whose other end sends pause frames.
func pausedBy(f *facts.Facts, n *facts.NIC, c facts.Counter) []Finding {
	const flood = 1000
	found := one(n.Name, []facts.Source{c.Source}, "pause frames received: %s", happened(c))
	stop := ""
	if f.System == system.Linux {
		stop = "; ethtool -A NAME autoneg off rx off lets this host send regardless"
	}
	sent := n.Counters["tx_packets"]
	if c.Value < flood || sent.Source.Text == "" || sent.Value*10 > c.Value {
		return do("check the pause frames and drops of the switch port, and whether a slower port is behind it: it "+
			"cannot take what this host sends"+stop, found)
	}
	found[0].Evidence = append(found[0].Evidence, sent.Source)
	found[0].Summary += fmt.Sprintf("; it could send %s in total", counted(int(min(sent.Value, 1<<31)), "packet"))
	found[0].Because = "The other end sends pause frames continuously, as a hung card or switch port does: nothing " +
		"can be sent."
	return do("find the source of the pause frames: check the switch port first, then for a hung device behind it"+stop, found)
}
