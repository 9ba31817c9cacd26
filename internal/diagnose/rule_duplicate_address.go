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
			for _, words := range [][]string{{"is using my ip"}, {"duplicate address", "detected"}, {"duplicate ip"}, {"inet6", "dadfailed"}} {
				if m, ok := in.Facts.Message(words...); ok {
					return do("find the other host by the MAC address in the message",
						one("addresses", []facts.Source{m.Source}, "the kernel reported a duplicate IP address"))
				}
			}
			return slices.Concat(flappingAddress(in.Facts), answeredTwice(in.Facts))
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
var movedAddress = regexp.MustCompile(`arp: (\S+) moved from ([0-9a-f:]{17}) to ([0-9a-f:]{17}) on `)
