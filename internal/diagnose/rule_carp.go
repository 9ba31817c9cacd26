package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// carpFlaps finds shared addresses that go to and fro between the hosts of a cluster.
func carpFlaps() Rule {
	return Rule{
		ID: "carp-flaps", Title: "A CARP address flaps between master and backup", Systems: onBSD(),
		Needs:    []string{"messages"},
		Severity: Warning,
		Because: "Each change moves the address to another host: packets in flight are lost, and so are " +
			"connections whose states were not synchronized (pfsync).",
		Confirm: "The log of the other node shows the opposite changes at the same times.",
		Check: func(in Input) (out []Finding) {
			for _, c := range carpChanges(in.Facts) {
				if c.left < 2 || c.left < often && carpDemotedByHand(in.Facts) {
					continue // a takeover and its end
				}
				found := do(carpAction(c), one("CARP "+c.group, c.lines, "the host lost the master role %d times%s", c.left, c.because()))
				if c.left < often {
					found = decisive(with(Info, found))
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: freebsdExample("dmesg", strings.Repeat("carp: 7@igb2: MASTER -> BACKUP (more frequent advertisement received)\n"+
			"carp: 7@igb2: BACKUP -> MASTER (master timed out)\n", 3)),
		Quiet: freebsdExample("dmesg", "carp: 7@igb2: INIT -> BACKUP (initialization complete)\ncarp: 7@igb2: BACKUP -> MASTER "+
			"(preempting a slower master)\n"),
	}
}

// carpGroup is what the log says of one group: how often the host ceased to be its master, and why it changed.
type carpGroup struct {
	group   string
	left    int
	lines   []facts.Source
	reasons map[string]int
}

// because is the reason that the kernel gives most often.
func (c *carpGroup) because() string {
	if most := c.reason(); most != "" {
		return ` ("` + most + `")`
	}
	return ""
}

func (c *carpGroup) reason() (most string) {
	for r, n := range c.reasons {
		if n > c.reasons[most] || n == c.reasons[most] && r < most {
			most = r
		}
	}
	return most
}

// carpChange is FreeBSD's "carp: 1@em0: BACKUP -> MASTER (master timed out)" (sys/netinet/ip_carp.c), and what the older
// FreeBSD, OpenBSD and NetBSD say of an interface of its own: "carp0: state transition: BACKUP -> MASTER".
var carpChange = regexp.MustCompile(`\b(?:carp: (?:VHID )?(\d+@[a-z][\w.]*)|(carp\d+)): (?:state transition: )?(INIT|BACKUP|MASTER) -> ` +
	`(INIT|BACKUP|MASTER)(?: \(([a-z][^)]*)\))?`)

// carpChanges are the groups of which the log tells, in its order.
func carpChanges(f *facts.Facts) (out []*carpGroup) {
	const most = 256
	for i, line := range f.Lines("dmesg") {
		m := carpChange.FindStringSubmatch(line)
		if m == nil || m[3] == m[4] {
			continue
		}
		name := cmp.Or(m[1], m[2])
		at := slices.IndexFunc(out, func(c *carpGroup) bool { return c.group == name })
		if at < 0 {
			if len(out) == most {
				continue
			}
			at, out = len(out), append(out, &carpGroup{group: name, reasons: map[string]int{}})
		}
		c := out[at]
		if m[3] == "MASTER" {
			c.left++
		}
		if m[5] != "" && m[3] != "INIT" {
			c.reasons[m[5]]++
		}
		c.lines = append(c.lines[:min(len(c.lines), 1)], f.Line("dmesg", i+1))
	}
	return out
}

// carpDemotedByHand reports whether somebody changed the demotion or the state on purpose.
func carpDemotedByHand(f *facts.Facts) bool {
	_, n := matching(f, carpByHand)
	return n > 0
}

var carpByHand = regexp.MustCompile(`carp: demoted by -?\d+ to \d+ \(sysctl\)|\(user requested via ifconfig\)`)

// carpAction is what is done about a group, by the reason that the kernel gives.
func carpAction(c *carpGroup) string {
	_, name, _ := strings.Cut(c.group, "@")
	if name == "" {
		name = "NAME"
	}
	switch reason := c.reason(); {
	case strings.HasPrefix(reason, "hardware interface"):
		return "find what takes " + name + " down or reconfigures it (link state changes in the log, a DHCP " +
			"renewal, scripts that run ifconfig): CARP starts over each time"
	case strings.HasPrefix(reason, "master"):
		return "check that the advertisements arrive on both nodes (tcpdump -ni " + name + " proto 112); if some " +
			"are missing, check the load of the master, the switch (multicast, IGMP snooping), and for virtual " +
			"machines the settings of the port group (promiscuous mode, MAC address changes, forged transmits)"
	}
	return "check that both nodes use the same password and VHID with different advskew (0 and 100), that no other router in this " +
		"network uses the same VHID, and whether this node demotes itself (FreeBSD: sysctl " +
		"net.inet.carp.demotion; OpenBSD: ifconfig -g carp)"
}
