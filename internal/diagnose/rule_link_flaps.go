package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// linkFlaps finds links that go up and down.
func linkFlaps() Rule {
	return Rule{
		ID: "link-flaps", Title: "A link went down several times", Severity: Warning,
		Needs:   []string{"linux:messages|bonding|statistics *", "freebsd:messages", "openbsd:messages"},
		Because: "Each time everything in flight is lost and routes change; cable, optic or power saving is the usual cause.",
		Check: func(in Input) []Finding {
			downs := map[string][]facts.Source{}
			for i, line := range in.Facts.Lines("dmesg") {
				down := linkDown.FindStringSubmatch(line)
				if down == nil {
					continue
				}
				name := strings.Join(down[1:], "")
				if n := in.Facts.NIC(name); n == nil || physical(n) {
					downs[name] = append(downs[name], in.Facts.Line("dmesg", i+1))
				}
			}
			var out []Finding
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if c := n.Counters["bond.link_failures"]; c.Value >= 3 && len(downs[n.Name]) < 3 {
					out = append(out, do("change the cable or optic", one(n.Name, []facts.Source{c.Source},
						"its bond saw the link fail %d times", c.Value))...)
				}
				if len(downs[n.Name]) < 3 {
					out = append(out, countedFlaps(n)...)
				}
			}
			maps.DeleteFunc(downs, func(name string,
				_ []facts.Source) bool {
				return builtOn.MatchString(name) && len(downs) > 1
			})
			for _, name := range slices.Sorted(maps.Keys(downs)) {
				within, soon := soonAgain(downs[name])
				if seen := downs[name]; len(seen) >= 3 || soon {
					said := fmt.Sprintf("the kernel's log shows the link going down %d times", len(seen))
					if soon {
						said += fmt.Sprintf(", the first two within %.3g s", within)
					}
					out = append(out, do("change the cable or optic", one(name, sample(seen), "%s", said))...)
				}
			}
			return append(out, leftBundle(in.Facts)...)
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg",
			strings.Repeat("[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n", 3)),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg",
			"[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n"),
	}
}

// countedFlaps finds a link whose driver counted how often it changed: going down (mlx5, sysfs), or both ways (the
// link status interrupts of ixgbe, which come a few times while the link is first set up).
func countedFlaps(n *facts.NIC) []Finding {
	for _, c := range []struct {
		name  string
		least uint64
		what  string
	}{{"link_down_events_phy", 3, "going down"}, {"carrier_down_count", 3, "going down"}, {"lsc_int",
		10, "changing its state"}} {
		const many = 3 // times the least: fewer may be restarts of the switch and changes of settings since the start
		if seen := n.Counters[c.name]; seen.Value >= c.least && physical(n) {
			found := do("change the cable or optic", one(n.Name, []facts.Source{seen.Source},
				"the driver counted the link %s %d times", c.what, seen.Value))
			if seen.Value < many*c.least {
				found = with(Info, found)
			}
			return found
		}
	}
	return nil
}

// soonAgain tells in how many seconds of the kernel's clock a link went down twice, where these are few. What happens
// in the first minutes is a start, in which links are set up.
func soonAgain(downs []facts.Source) (within float64, soon bool) {
	const start, few = 300, 300
	var at [2]float64
	for i := range at {
		if i >= len(downs) {
			return 0, false
		}
		m := kernelClock.FindStringSubmatch(downs[i].Text)
		if m == nil {
			return 0, false
		}
		at[i], _ = strconv.ParseFloat(m[1], 64) // its digits are one
	}
	within = at[1] - at[0]
	return within, at[0] >= start && within > 0 && within <= few
}

// kernelClock is the time since the start in a line of the kernel's log.
var kernelClock = regexp.MustCompile(`\[ *(\d{1,9}\.\d+)\]`)

// builtOn are interfaces that go down with the one they are built on.
var builtOn = regexp.MustCompile(`^(?:vlan|lagg|bridge|trunk|aggr)\d+$|^\w+[._]\w*\d+$`)

// linkDown is what drivers of Linux and the kernels of FreeBSD and OpenBSD say
// of a link that went down.
var linkDown = regexp.MustCompile(`(?i)(?:([a-z][\w.@-]*):? (?:NIC )?link is down|([a-z][\w.@-]*): link (?:state changed to )?DOWN\b|` +
	`\b([a-z][\w.@-]*)(?: \([^)]{1,40}\)){1,4}:? link (?:is )?DOWN\b|\(slave ([a-z][\w.@-]*)\): link status definitely down|` +
	`systemd-networkd\S*: ((?:e[nt]|wl|ib|bond)[\w.@-]*): lost carrier)`)

// leftBundle finds ports that left their LACP bundle, as FreeBSD's ieee8023ad_lacp.c says it.
func leftBundle(f *facts.Facts) []Finding {
	const often = 3 // each port of a bundle says it once when it starts
	lines, n := matching(f, stoppedDistributing)
	if n < often {
		return nil
	}
	return do("compare LACP with the switch: its timeout, its mode, the ports in the bundle; then "+
		"look at cables and optics",
		one(stoppedDistributing.FindStringSubmatch(lines[0].Text)[1], lines, "ports left their LACP bundle %d times", n))
}

var stoppedDistributing = regexp.MustCompile(`\b([a-z]\w*): Interface stopped DISTRIBUTING`)
