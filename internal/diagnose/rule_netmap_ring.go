package diagnose

import (
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// netmapRing finds packets of the host that found no room on their way to a program that uses netmap.
func netmapRing() Rule {
	return Rule{
		ID: "netmap-ring-full", Title: "A netmap program does not keep up", Systems: []string{"freebsd", "linux"},
		Needs: []string{"messages"}, Severity: Warning,
		Because: "Packets that the host sends on this interface wait in a ring for the netmap program (such as an IPS), and " +
			"are dropped when the ring is full. The kernel logs this at most twice a second, however many packets are lost.",
		Confirm: "The program uses 100% of a core (top -SH); the transfer is faster while it is stopped.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, facts.NetmapFull)
			if n == 0 {
				return netmapUnreadable(in.Facts)
			}
			const often = 3
			s := Warning
			if n < often {
				s = Info
			}
			emulated := "sysctl dev.netmap.generic_ringsize=2048"
			if in.Facts.System == system.Linux {
				emulated = "generic_ringsize=2048 of the module netmap"
			}
			return decisive(with(s, do("reduce the program's rules, give it more threads, or exclude this "+
				"interface from it; if only bursts overflow the ring, double its slots and restart the program: "+
				emulated+" where netmap is emulated (lagg, bridge, cards without "+
				"native support), otherwise the card's receive descriptors",
				one(firstGroup(facts.NetmapFull, lines[0].Text), lines, "its netmap ring was full (%s)", counted(n, "line")))))
		},
		Fires: freebsdExample("dmesg", "654.637689 [4335] netmap_transmit           ixl0 full hwcur "+
			"973 hwtail 973 qlen 1023\n"),
		Quiet: freebsdExample("dmesg", "654.637689 [1130] generic_netmap_attach     Emulated adapter for ixl0 created\n"),
	}
}

// netmapUnreadable finds what Suricata says of a port that it cannot read (src/source-netmap.c, POLLERR).
func netmapUnreadable(f *facts.Facts) []Finding {
	lines, n := matching(f, netmapPoll)
	if n == 0 {
		return slices.Concat(netmapReset(f), netmapJumbo(f), netmapMemory(f))
	}
	name := netmapPoll.FindStringSubmatch(lines[0].Text)
	found := with(Warning, do("exclude the interface from IPS mode, and check netmap's messages in dmesg; cards without "+
		"native netmap support (re, vtnet) run in slow emulation",
		one(name[1]+name[2], lines, "Suricata could not read it through netmap (%s)", counted(n, "line"))))
	found[0].Because = "In IPS mode every packet of the interface passes through the program: what it cannot read is not " +
		"forwarded."
	found[0].Confirm = "Traffic flows while the program is stopped."
	return found
}

var netmapPoll = regexp.MustCompile(`(?:([a-z][\w.]*)[^\w\s]*: )?(?i:error reading netmap data via polling)(?: from iface '([\w.]+))?`)

// netmapReset finds rings whose positions netmap rejects (nm_rxsync_prologue, netmap_ring_reinit, sys/dev/netmap/netmap.c).
func netmapReset(f *facts.Facts) []Finding {
	lines, n := matching(f, netmapBadRing)
	if n == 0 {
		return nil
	}
	name := firstGroup(netmapBadRing, lines[0].Text)
	found := with(Warning, do("update the program and the system; until then, exclude the interface from the program, or have "+
		"netmap emulate its rings (sysctl dev.netmap.admode=2, then start the program again); to restart a stuck ring: "+
		"ifconfig "+name+" down, then up", one(name, lines, "netmap rejected the state of its rings (%s)", counted(n, "line"))))
	found[0].Because = "The program and the kernel disagree on which slots of the ring are whose: nothing is received or sent " +
		"through it until they agree again. A defect of the program, or of the driver's support for netmap, is at fault, not load."
	found[0].Confirm = "The messages appear when traffic stops; it flows while the program is stopped."
	return found
}

var netmapBadRing = regexp.MustCompile(`netmap_ring_reinit\s+called for ([a-z][\w.]*)`)

// netmapJumbo finds a port that netmap does not open, since its frames take more than one buffer of the card
// (netmap_buf_size_validate, sys/dev/netmap/netmap.c).
func netmapJumbo(f *facts.Facts) []Finding {
	lines, n := matching(f, netmapMTU)
	if n == 0 {
		return nil
	}
	m := netmapMTU.FindStringSubmatch(lines[0].Text)
	found := with(Warning, do("set an MTU that fits into one 2048-byte buffer: ifconfig "+m[2]+" mtu 1500",
		one(m[2], lines, "netmap cannot open it with an MTU of %s", m[1])))
	found[0].Because = "The program that uses it through netmap does not start, or receives nothing."
	found[0].Confirm = "The program starts with the smaller MTU."
	return found
}

var netmapMTU = regexp.MustCompile(`large MTU \((\d{4,5})\) needed but ([a-z][\w.]*) does not support NS_MOREFRAG`)

// netmapMemory finds a port that netmap cannot open, since its pool has no rings or buffers left (src/source-netmap.c of
// Suricata; the pool's settings are in sys/dev/netmap/netmap_mem2.c).
func netmapMemory(f *facts.Facts) []Finding {
	lines, n := matching(f, noNetmapMemory)
	if n == 0 {
		return nil
	}
	name := noNetmapMemory.FindStringSubmatch(lines[0].Text)[1]
	found := with(Warning, do("stop every netmap program and double netmap's memory pool (sysctl "+
		"dev.netmap.buf_num=327680 "+
		"dev.netmap.ring_num=400; the defaults are 163840 and 200), or give the card fewer queues or descriptors, then start the "+
		"program again", one(name, lines, "netmap has no memory for its rings and buffers (%s)", counted(n, "line"))))
	found[0].Because = "Each queue of the card needs a ring and each descriptor needs a buffer, all from a pool " +
		"of fixed size. Without them, the program does not start."
	found[0].Confirm = "The program starts with the larger pool."
	return found
}

var noNetmapMemory = regexp.MustCompile(`netmap:([a-z]\w*)[\w^/*-]* failed: Cannot allocate memory`)
