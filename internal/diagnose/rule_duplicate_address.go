package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// duplicateAddress finds another host with this one's address.
func duplicateAddress() Rule {
	return Rule{
		ID: "duplicate-address", Title: "Another host uses an address of this one, or of a neighbour",
		Needs: []string{"messages"}, Severity: Critical,
		Because: "Packets go to either host at random.",
		Check: func(in Input) []Finding {
			for _, words := range [][]string{{"is using my ip"}, {"duplicate address", "detected"}, {"duplicate ip"}} {
				if m, ok := in.Facts.Message(words...); ok {
					return do("find the other host by the hardware address in the message",
						one("addresses", []facts.Source{m.Source}, "the kernel reported a duplicate address"))
				}
			}
			return flappingAddress(in.Facts)
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
			found := do("find both hosts by the hardware addresses in the messages; one with two cards in one "+
				"network answers "+
				"for both as well", one(m[1], []facts.Source{back, src}, "the kernel saw the address at %s and at %s, in turns",
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

// movedAddress is what FreeBSD says of a neighbour (sys/netinet/if_ether.c).
var movedAddress = regexp.MustCompile(`arp: (\S+) moved from ([0-9a-f:]{17}) to ([0-9a-f:]{17}) on `)
