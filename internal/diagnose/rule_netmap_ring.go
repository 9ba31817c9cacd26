package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// netmapRing finds packets of the host that found no room on their way to a program that uses netmap.
func netmapRing() Rule {
	return Rule{
		ID: "netmap-ring-full", Title: "A program that uses netmap does not keep up", Systems: onFreeBSD(),
		Needs: []string{"messages"}, Severity: Warning,
		Because: "Packets that the host sends on this interface wait in a ring for an intrusion prevention or filter " +
			"program, and are dropped when it is full. The kernel says so twice a second at most, however many they are.",
		Confirm: "The program fills a core (top -SH); the transfer is faster while it is stopped.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, netmapFull)
			if n == 0 {
				return netmapUnreadable(in.Facts)
			}
			const often = 3
			s := Warning
			if n < often {
				s = Info
			}
			return decisive(with(s, do("take this interface away from the program, give it fewer rules or more threads, or "+
				"raise dev.netmap.ring_size", one(strings.Join(netmapFull.FindStringSubmatch(lines[0].Text)[1:], ""), lines,
				"its ring was full in %s", counted(n, "line")))))
		},
		Fires: freebsdExample("dmesg", "654.637689 [4335] netmap_transmit           ixl0 full hwcur "+
			"973 hwtail 973 qlen 1023\n"),
		Quiet: freebsdExample("dmesg", "654.637689 [1130] generic_netmap_attach     Emulated adapter for ixl0 created\n"),
	}
}

// netmapFull is what netmap_transmit says (sys/dev/netmap/netmap.c), and what is said of a card without support for it
// (nm_os_generic_xmit_frame, netmap_freebsd.c).
var netmapFull = regexp.MustCompile(`netmap_transmit\s+([a-z][\w.]*) full\b|Netmap ([a-z][\w.]*) transmit ring is full`)

// netmapUnreadable finds what Suricata says of a port that it cannot read (src/source-netmap.c, POLLERR).
func netmapUnreadable(f *facts.Facts) []Finding {
	lines, n := matching(f, netmapPoll)
	if n == 0 {
		return netmapJumbo(f)
	}
	name := netmapPoll.FindStringSubmatch(lines[0].Text)
	found := with(Warning, do("take the interface away from the inspection (IPS mode), and look in dmesg for what netmap "+
		"says of it; a card without support of its own (re, vtnet) is driven by emulation",
		one(name[1]+name[2], lines, "Suricata could not read it through netmap, in %s", counted(n, "line"))))
	found[0].Because = "In IPS mode every packet of the interface passes through the program: what it cannot read does " +
		"not go on."
	found[0].Confirm = "The traffic flows while the program is stopped."
	return found
}

var netmapPoll = regexp.MustCompile(`(?:([a-z][\w.]*)[^\w\s]*: )?(?i:error reading netmap data via polling)(?: from iface '([\w.]+))?`)

// netmapJumbo finds a port that netmap does not open, since its frames take more than one buffer of the card
// (netmap_buf_size_validate, sys/dev/netmap/netmap.c).
func netmapJumbo(f *facts.Facts) []Finding {
	lines, n := matching(f, netmapMTU)
	if n == 0 {
		return nil
	}
	m := netmapMTU.FindStringSubmatch(lines[0].Text)
	found := with(Warning, do("give it an MTU that fits into one buffer of 2048 bytes: ifconfig "+m[2]+" mtu 1500",
		one(m[2], lines, "netmap does not open it with an MTU of %s", m[1])))
	found[0].Because = "The program that reads it through netmap does not start, or reads nothing."
	found[0].Confirm = "It starts with the smaller MTU."
	return found
}

var netmapMTU = regexp.MustCompile(`large MTU \((\d{4,5})\) needed but ([a-z][\w.]*) does not support NS_MOREFRAG`)
