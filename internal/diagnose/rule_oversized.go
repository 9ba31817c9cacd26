package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// oversized finds frames larger than the interface takes.
func oversized() Rule {
	return Rule{
		ID: "oversized-frames", Title: "Frames larger than this interface's MTU arrive",
		Systems: []string{"linux", "freebsd"}, Severity: Warning,
		Needs: []string{"linux:statistics *", "freebsd:settings|messages"}, Settings: []string{"link:mtu"},
		Because: "Another host on the segment uses a larger MTU (jumbo frames): its full-sized packets are dropped here.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				name, c := largest(nicCounters(n, "rx_long_length_errors", "rx_oversize_pkts_phy", "rx_oversize",
					"rx_oversize_packets", "rx_length_errors", "mac_stats.recv_oversize"))
				if c.Value == 0 || n.MTU > 1600 {
					continue
				}
				s := Warning
				if name == "rx_length_errors" || !still(c) { // counts frames that are too short as well
					s = Info
				}
				evidence, at := []facts.Source{c.Source, n.Source}, fmt.Sprintf("at an MTU of %d", n.MTU)
				if n.MTU == 0 {
					evidence, at = evidence[:1], "its MTU is not known"
				}
				out = append(out, with(s, do("set the same MTU on every host of the segment and on the switch",
					one(n.Name, evidence, "%s: %s, %s", name, happened(c), at)))...)
			}
			if lines, n := matching(in.Facts, discarded); n > 0 && len(out) == 0 {
				m := discarded.FindStringSubmatch(lines[0].Text)
				out = do("set the same MTU on every host of the segment and on the switch", one(m[1], lines,
					"frames larger than its MTU were dropped (%s): one of %s bytes, the maximum is %s",
					counted(n, "line"), m[2], m[3]))
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     rx_long_length_errors: 812\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 9000, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     rx_long_length_errors: 0\n"),
	}
}

// discarded is what ether_input says (FreeBSD sys/net/if_ethersubr.c).
var discarded = regexp.MustCompile(`\b([a-z]+\d+): discard oversize frame \(.*\blen (\d+) > max (\d+)\)`)
