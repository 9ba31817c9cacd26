package diagnose

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// duplicateAddress finds another host with this one's address.
func duplicateAddress() Rule {
	return Rule{
		ID: "duplicate-address", Title: "Duplicate IP address: another host uses it too",
		Needs: []string{"linux:messages|round trips|addresses", "freebsd:messages|round trips",
			"openbsd:messages|round trips"}, Severity: Critical,
		Because: "Packets reach one host or the other at random.",
		Check: func(in Input) []Finding {
			if found := ownProbesBack(in.Facts); found != nil {
				return found
			}
			for _, words := range [][]string{{"is using my ip"}, {"duplicate address", "detected"}, {"duplicate ip"}, {"inet6", "dadfailed"}} {
				if m, ok := in.Facts.Message(words...); ok {
					return do("find the other host by the MAC address in the message",
						one("addresses", []facts.Source{m.Source}, "the kernel reported a duplicate IP address"))
				}
			}
			return slices.Concat(ownAddressBack(in.Facts), flappingAddress(in.Facts), answeredTwice(in.Facts))
		},
		Fires: freebsdExample("dmesg", "arp: 02:00:00:00:00:09 is using my IP address 192.0.2.1 on em0!\n"),
		Quiet: openbsdExample("dmesg", "em0 at pci0 dev 25 function 0 \"Intel I217-LM\" rev 0x04: msi, address "+
			"02:00:00:00:00:01\n"),
	}
}

// flappingAddress finds an address that goes to and fro between two cards: one that moves once was taken over.
func flappingAddress(f *facts.Facts) (out []Finding) {
	const often = 3
	moves, seen := map[string]facts.Source{}, map[string]int{}
	for i, line := range f.Lines("dmesg") {
		m := movedAddress.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		src := f.Line("dmesg", i+1)
		seen[m[1]]++
		if back, ok := moves[m[1]+" "+m[3]+" "+m[2]]; ok {
			found := do("find both hosts by the MAC addresses in the messages; a single host with two cards in one network also "+
				"causes this", one(m[1], []facts.Source{back, src}, "the kernel saw the address move between %s and %s",
				m[2], m[3]))
			if seen[m[1]] >= often {
				return found
			}
			if out == nil { // a takeover and its end look so too
				out = with(Info, found)
			}
		}
		moves[m[1]+" "+m[2]+" "+m[3]] = src
	}
	return out
}

// answeredTwice finds an address for which two cards answer arping, or one that answers though nobody has it yet (-D).
func answeredTwice(f *facts.Facts) []Finding {
	cards := map[string]string{}
	detects := false
	for _, m := range f.Messages {
		detects = detects || strings.HasPrefix(m.Text, "ARPING ")
		reply := arpReply.FindStringSubmatch(m.Text)
		if reply == nil {
			continue
		}
		if before := cards[reply[1]]; detects {
			return do("find the other host by its MAC address", one(reply[1], []facts.Source{m.Source},
				"%s answered arping -D: it already has the address", reply[2]))
		} else if before != "" && before != reply[2] {
			return do("find both hosts by their MAC addresses; proxy ARP or a single host with two cards in the network also "+
				"answers", one(reply[1], []facts.Source{m.Source}, "%s and %s both answered for it", before, reply[2]))
		}
		cards[reply[1]] = reply[2]
	}
	return nil
}

var arpReply = regexp.MustCompile(`^Unicast reply from (\S+) \[([0-9A-Fa-f:]{17})\]`)

// movedAddress is what FreeBSD says of a neighbour (sys/netinet/if_ether.c).
var movedAddress = regexp.MustCompile(`arp: (\S+) (?:has )?moved from ([0-9a-f:]{17}) to ([0-9a-f:]{17}) on `)

// ownAddressBack finds a bridge whose own frames come back to it (net/bridge/br_fdb.c of Linux).
func ownAddressBack(f *facts.Facts) []Finding {
	const often = 3
	lines, n := matching(f, ownAddress)
	if n == 0 {
		return nil
	}
	m := ownAddress.FindStringSubmatch(lines[0].Text)
	found := with(repeated(n, often), one(m[1], lines, "frames with the bridge's own MAC address arrive on %s (%s)",
		m[2], counted(n, "line")))
	found[0].Because = "The bridge receives its own frames: two ports go to the same switch without LACP or " +
		"spanning tree, which is a loop; or a second host, such as a cloned virtual machine, has the same MAC " +
		"address."
	found[0].Confirm = "The messages stop when one port's cable is pulled; bridge fdb show br " + m[1] + " shows " +
		"the port on which the address was learned."
	return do("find the second link to the switch and remove it, bond both ports (802.3ad), or enable spanning "+
		"tree (ip link set dev "+m[1]+" type bridge stp_state 1); if there is only one link, find the second host "+
		"with this MAC address",
		found)
}

// ownAddress is what a bridge says of such a frame.
var ownAddress = regexp.MustCompile(`([\w.-]+): received packet on ([\w.-]+) with own address as source address`)

// ownProbesBack finds an interface whose address another one answers for, or that hears its own probes (sys/netinet6/nd6_nbr.c
// of FreeBSD).
func ownProbesBack(f *facts.Facts) []Finding {
	lines, n := matching(f, detectedTwice)
	if n == 0 {
		return nil
	}
	m := detectedTwice.FindStringSubmatch(lines[0].Text)
	found := one(m[1], lines, "the kernel detected that its IPv6 address %s is already in use", m[2])
	if m[3] == "" || m[3] == "0" {
		return do("find the other host: ndp -an on a third host in this network shows its MAC address", found)
	}
	found[0].Summary += ", and received its own probes " + m[3] + " times"
	found[0].Because = "Either a second interface has the same MAC address, which is common with jails and cloned " +
		"virtual machines, or the bridge is part of a loop: broadcasts then circulate endlessly and can take down " +
		"the whole network."
	return do("compare the MAC addresses (ifconfig -a; in a jail, jexec JAIL ifconfig) and give each interface "+
		"its own: ifconfig "+m[1]+
		" ether 02:00:00:00:00:01; then look for a second path between the bridge and the switch (ifconfig BRIDGE "+
		"lists the members)", found)
}

var detectedTwice = regexp.MustCompile(`\b([a-z]\w*): DAD detected duplicate IPv6 address (\S+):(?: NS in/out(?:/loopback)?=\d+/\d+(?:/(\d+))?)?`)
