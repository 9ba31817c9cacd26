package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// ringDrops finds packets that a NIC dropped for want of a descriptor.
func ringDrops() Rule {
	return Rule{
		ID: "ring-drops", Title: "A network card dropped received packets (ring full)", Severity: Warning,
		Needs: []string{"linux:links|statistics *|ifconfig|activity|messages",
			"freebsd:settings|interface counters|interface rates|messages", "openbsd:driver counters|messages"},
		Because: "The receive ring had no free descriptor: the host does not drain it fast enough, or bursts are longer than " +
			"the ring.",
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
				if n.Rings.RX > 0 && n.Rings.RX < n.Rings.RXMax && !ownBuffer(name) {
					found[0].Fix = append(found[0].Fix, Fix{Setting: "ethtool:ring/rx", Interface: n.Name,
						Value: strconv.Itoa(n.Rings.RXMax)})
				}
				action := takeFaster(in.Facts, n)
				switch {
				case ownBuffer(name):
					found[0].Because = "The card's own buffer was full: frames arrived faster than the bus and memory took them."
					action = "compare the speed and width of the card's slot with what the card can use (Linux: lspci -vv, LnkSta " +
						"and LnkCap; FreeBSD: pciconf -lc); then " + action
				case bufferOrRing(name):
					found[0].Because = "The card's buffer was full: the ring had no free descriptor because the host does not drain " +
						"it fast enough or bursts are longer than the ring, or the bus is slower than the port."
				}
				if lossShare(grown, arrived) > 0.5 { // no load does that for long
					action = "check that the card's interrupts arrive (Linux: /proc/interrupts; FreeBSD: vmstat " +
						"-ia), because the host takes almost nothing out of the ring; update the driver, or try " +
						"another one"
				}
				out = append(out, do(action, found)...)
			}
			if len(out) == 0 {
				out = do(takeFaster(in.Facts, &facts.NIC{}), ofAllInterfaces(in.Facts, "interfaces.Idrop", "received packets were dropped"))
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

// ownBuffer tells counters of a card's own buffer, for all its rings: mlx5 (counters.rst: the adapter is congested), bnx2x's
// BRB, and cxgb4's buffer groups.
func ownBuffer(name string) bool {
	return holdsAny(name, "rx_discards_phy", "brb_discard", "bg0_frames", "bg1_frames")
}

// bufferOrRing tells counters that grow for want of a descriptor and for a slow bus alike: those of a FIFO (if_link.h:
// rx_missed_errors; Intel 82576 datasheet: MPC).
func bufferOrRing(name string) bool {
	return holdsAny(name, "missed", "fifo", "overrun", "rx_over_errors", "overflow", "ovflow", "ovrfl")
}

// ofAllInterfaces is a loss that netstat -w counts of all interfaces together.
func ofAllInterfaces(f *facts.Facts, counter, what string) []Finding {
	c, arrived := f.Counters[counter], total(f, "interfaces.Ipkts")
	if c.Value == 0 || arrived == 0 {
		return nil
	}
	found := lost(c, arrived, one("all interfaces", []facts.Source{c.Source}, "%s: %s, %s of the packets (%d received)", what, happened(c),
		percent(lossShare(c, arrived)), arrived))
	found[0].Confirm = "netstat -I NAME -w 1 shows which interface it is."
	return found
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
		return fmt.Sprintf(", %s of the packets between the two readings (%d received)", percent(lossShare(grown, total)), total)
	} else if total > 0 {
		return fmt.Sprintf(", %s of the packets (%d received)", percent(lossShare(c, total)), total)
	}
	return ""
}

// percent prints a share with two digits, a small one in parts of a million.
func percent(share float64) string {
	if share < 1e-4 {
		return fmt.Sprintf("%s in a million", units.Digits(share*1e6, 2))
	}
	return fmt.Sprintf("%s%%", units.Digits(share*100, 2))
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
	return with(s, do("spread the load over more queues, or use a card with a longer ring",
		one(overrun.FindStringSubmatch(lines[0].Text)[1], lines,
			"its driver reported receive overruns (%s)", counted(n, "line"))))
}

var overrun = regexp.MustCompile(`\b([a-z]+\d+): .*(?i:\brx .*(?:packet lost|overrun|overflow))`)

// takeFaster is what is done about a host that takes packets from a card's ring too slowly. Longer rings were measured slower
// for routers of FreeBSD (the catalog's evidence of override_nrxds).
func takeFaster(f *facts.Facts, n *facts.NIC) string {
	switch f.System {
	case system.FreeBSD:
		action := "check whether a core is saturated (top -SHP) and whether all of the card's queues are in use " +
			"(vmstat -ia)"
		unit := strings.TrimPrefix(n.Name, n.Driver)
		if slices.Contains(iflibDrivers, n.Driver) && unit != "" {
			action += "; for bursts on a server, set a longer ring: dev." + n.Driver + "." + unit + `.iflib.override_nrxds="2048" in ` +
				"/boot/loader.conf (it does not help a router)"
		}
		return action
	case system.OpenBSD:
		return "check whether a core is saturated (systat cpu); use a card with several queues (ix, ixl, mcx) to " +
			"spread the work over cores, and fewer pf rules per packet"
	}
	spread := "spread the receive load over more cores: ethtool -l NAME shows the queues, ethtool -L NAME combined N sets them, " +
		"mpstat -P ALL 1 (%soft) shows whether one core does it all"
	if n.Rings.RXMax == 0 {
		return "enlarge the receive ring: ethtool -g NAME shows its maximum, ethtool -G NAME rx N sets it; then " + spread
	}
	return spread
}

// iflibDrivers have their settings below dev.NAME.UNIT.iflib.
var iflibDrivers = []string{"em", "igb", "igc", "ix", "ixl", "ice", "bnxt", "vmx", "axgbe"}
