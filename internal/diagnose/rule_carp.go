package diagnose

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// carpFlaps finds shared addresses that go to and fro between the hosts of a cluster.
func carpFlaps() Rule {
	return Rule{
		ID: "carp-flaps", Title: "A CARP address flaps between master and backup", Systems: onBSD(),
		Needs:    []string{"messages|ifconfig|settings"},
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
			return slices.Concat(unsentAdvertisements(in.Facts), out, carpSplit(in.Facts), carpDemoted(in.Facts))
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

// unsentAdvertisements finds a node that demotes itself because three of its advertisements could not be sent (carp_send_ad_error
// in FreeBSD's sys/netinet/ip_carp.c).
func unsentAdvertisements(f *facts.Facts) []Finding {
	const often = 3 // while the system starts it is said of interfaces that are not up yet
	lines, n := matching(f, carpUnsent)
	if n == 0 {
		return nil
	}
	m := carpUnsent.FindStringSubmatch(lines[0].Text)
	code, name := m[1], m[2]
	action := "check with netstat -id and ifconfig " + name + " why it accepts no packets: the link, the driver, and rules that block proto carp"
	if code == "55" {
		action = "its send queue is full (ENOBUFS): check the drops of " + name + " (netstat -id), its ALTQ or dummynet queues, and whether the " +
			"driver stopped transmitting"
	}
	found := do(action, one(name, lines, "CARP could not send its advertisements (error %s, %s): the node demoted itself", code,
		counted(n, "time")))
	if n < often {
		found = decisive(with(Info, found))
	}
	return found
}

var carpUnsent = regexp.MustCompile(`carp: demoted by \d+ to \d+ \(send error (\d+) on ([a-z][\w.]*)\)`)

// carpSplit finds a node that is master of some groups and backup of others with the same skew, as ifconfig shows them:
// answers then pass through the other node than requests.
func carpSplit(f *facts.Facts) []Finding {
	states := map[string][]facts.CARPGroup{}
	for _, g := range f.CARP {
		states[g.State] = append(states[g.State], g)
	}
	if down := states["INIT"]; len(down) > 0 && len(down) < len(f.CARP) {
		return decisive(with(Info, do("check the link and the addresses of the interface (ifconfig)",
			one("CARP vhid "+down[0].VHID, []facts.Source{down[0].Source}, "the group is not running (INIT): its interface is down"))))
	}
	for _, backup := range states["BACKUP"] {
		for _, master := range states["MASTER"] {
			if master.Skew == backup.Skew {
				found := decisive(with(Info, do("find what keeps this node from being master of vhid "+backup.VHID+": the log of both nodes, "+
					"the link, and net.inet.carp.preempt=1 on both, which moves all groups together",
					one("CARP", []facts.Source{master.Source, backup.Source}, "this node is master of vhid %s, but backup of vhid %s with the same advskew",
						master.VHID, backup.VHID))))
				found[0].Because = "Requests and answers of a connection may pass through different nodes, whose packet filters know " +
					"only half of it unless pfsync keeps up."
				return found
			}
		}
	}
	return nil
}

// carpDemoted finds a node whose demotion counter keeps it from being master; by hand it is a maintenance.
func carpDemoted(f *facts.Facts) []Finding {
	v, src, ok := setting(f, "net.inet.carp.demotion")
	if !ok || v <= 0 || carpDemotedByHand(f) {
		return nil
	}
	found := decisive(with(Info, do("search the log for \"carp: demoted by\", which says why: an interface that is down, advertisements that "+
		"could not be sent, pfsync that has not finished, or a maintenance mode; sysctl net.inet.carp.demotion=-"+
		strconv.FormatInt(v, 10)+" takes it back",
		one("CARP", []facts.Source{src}, "this node demotes itself by %d", v))))
	found[0].Because = "The number is added to the skew of every group: the other node becomes, or stays, master of all."
	return found
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
