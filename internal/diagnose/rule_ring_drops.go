package diagnose

import (
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// ringDrops finds packets that a NIC dropped for want of a descriptor.
func ringDrops() Rule {
	return Rule{
		ID: "ring-drops", Title: "A network card dropped packets before the host took them", Severity: Warning,
		Needs: []string{"linux:links|statistics *|ifconfig|activity|messages",
			"freebsd:settings|interface counters|interface rates|messages", "openbsd:driver counters|messages"},
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
				grown, arrived := sinceEarlier(n, c)
				found := lost(grown, arrived, one(n.Name, []facts.Source{c.Source}, "the card dropped packets: %s is %s%s",
					printedName(name, c), happened(c), ofReceived(n, c)))
				if n.Rings.RX > 0 && n.Rings.RX < n.Rings.RXMax {
					found[0].Fix = append(found[0].Fix, Fix{Setting: "ethtool:ring/rx", Interface: n.Name,
						Value: strconv.Itoa(n.Rings.RXMax)})
				}
				action := takeFaster(in.Facts, n)
				if lossShare(grown, arrived) > 0.5 { // no load does that for long
					action = "the host takes next to nothing out of the ring: vmstat -ia (Linux: /proc/interrupts) shows whether " +
						"the card's interrupts arrive; update the driver, or try another one"
				}
				out = append(out, do(action, found)...)
			}
			if len(out) == 0 {
				return loggedOverrun(in.Facts)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 5000)),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0)),
	}
}

// printedName is the name of a counter as the quoted line prints it, where it does.
func printedName(name string, c facts.Counter) string {
	if m := counterLine.FindStringSubmatch(c.Source.Text); m != nil {
		return m[1]
	}
	return name
}

// counterLine is a line that shows one counter: "rx_dropped: 12", "eth0/statistics/rx_missed_errors:12".
var counterLine = regexp.MustCompile(`^\s*(?:\S*/)?([a-z][\w.]*): ?\d+$`)

// ofReceived says of how many packets a counter of lost ones is, where that is known.
func ofReceived(n *facts.NIC, c facts.Counter) string {
	if grown, total := sinceEarlier(n, c); total > 0 && grown.Value != c.Value {
		return fmt.Sprintf(", %s of the packets between the two readings (%d were received)", percent(lossShare(grown, total)), total)
	} else if total > 0 {
		return fmt.Sprintf(", %s of the packets (%d were received)", percent(lossShare(c, total)), total)
	}
	return ""
}

// percent prints a share with two digits, a small one in parts of a million.
func percent(share float64) string {
	if share < 1e-4 {
		return fmt.Sprintf("%.2g in a million", share*1e6)
	}
	return fmt.Sprintf("%.2g%%", share*100)
}

// loggedOverrun finds what old drivers of the BSDs, and some of Linux (fec_main.c), say of each packet for which they had no room.
func loggedOverrun(f *facts.Facts) []Finding {
	lines, n := matching(f, overrun)
	if n == 0 {
		return nil
	}
	s := Info
	const often = 3
	if n >= often {
		s = Warning
	}
	return with(s, do("spread the load, or use a card with a longer ring",
		one(overrun.FindStringSubmatch(lines[0].Text)[1], lines,
			"its driver reported lost packets in %s", counted(n, "line"))))
}

var overrun = regexp.MustCompile(`\b([a-z]+\d+): .*(?i:\brx .*(?:packet lost|overrun|overflow))`)

// takeFaster is what empties the ring sooner, and how to lengthen one whose maximum was not shown.
func takeFaster(f *facts.Facts, n *facts.NIC) string {
	if f.System != system.Linux {
		return "spread the receive work over more cores, or let the host take more packets in one go"
	}
	action := "spread the receive work over more cores (ethtool -l NAME shows the queues, ethtool -L NAME combined N sets them; " +
		"/proc/interrupts shows which cores they use), or let the host take more packets in one go (net.core.netdev_budget)"
	if n.Rings.RXMax == 0 {
		return "lengthen the ring up to its maximum (ethtool -g NAME shows it, ethtool -G NAME rx N sets it); then " + action
	}
	return action
}
