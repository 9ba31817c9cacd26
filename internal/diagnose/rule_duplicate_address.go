package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
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
			return nil
		},
		Fires: freebsdExample("dmesg", "arp: 02:00:00:00:00:09 is using my IP address 192.0.2.1 on em0!\n"),
		Quiet: openbsdExample("dmesg", "em0 at pci0 dev 25 function 0 \"Intel I217-LM\" rev 0x04: msi, address "+
			"02:00:00:00:00:01\n"),
	}
}
