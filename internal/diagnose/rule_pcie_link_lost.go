package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// pcieLinkLost finds cards that fell off their bus.
func pcieLinkLost() Rule {
	return Rule{
		ID: "pcie-link-lost", Title: "A network card fell off the PCI Express bus", Severity: Critical,
		Needs: []string{"messages"},
		Because: "The card no longer responds on its bus, so the interface is dead until it is reset. ASPM, a riser, the " +
			"power supply, firmware or heat is at fault, not a network setting.",
		Confirm: "lspci (FreeBSD: pciconf -lv; OpenBSD: pcidump) shows the card with revision ff or not at all; a " +
			"cold boot brings it back.",
		Check: func(in Input) []Finding {
			for _, sign := range busLost {
				lines, n := matching(in.Facts, sign)
				if n == 0 {
					continue
				}
				found := do("disable ASPM (pcie_aspm=off on the kernel command line); update the card's firmware and the BIOS; "+
					"reseat the card", one(cardOf(lines...), lines, "the card disappeared from its bus (%s)",
					counted(n, "line")))
				found[0].Fix[0].File, found[0].Fix[0].Line = "the kernel command line", "pcie_aspm=off"
				if in.Facts.System != "linux" {
					found[0].Fix = []Fix{{Action: "disable ASPM in the BIOS; update the card's firmware and the BIOS; reseat the card"}}
				}
				return found
			}
			return nil
		},
		Fires: linuxExample("dmesg", "[93121.4] igc 0000:0a:00.0 eno1: PCIe link lost, device now detached\n"),
		Quiet: linuxExample("dmesg", "[93121.4] igc 0000:0a:00.0 eno1: NIC Link is Up 1000 Mbps Full Duplex\n"),
	}
}

// busLost are the words of drivers (igc, igb, ixgbe, i40e, mlx5) and of the bus for a card that is gone. r8169 reads the
// card's registers on an error of the bus (rtl8169_pcierr_interrupt), igb and em of FreeBSD before 12 when a queue hangs: a card
// that is not there answers with ones.
var busLost = []*regexp.Regexp{
	regexp.MustCompile(`(?i)pcie link lost|device now detached|adapter removed; disabling device`),
	regexp.MustCompile(`(?i)health compromised - reached miss count|failed to read reg 0x[0-9a-f]+!`),
	regexp.MustCompile(`(?i)pciehp: .*card not present`),
	regexp.MustCompile(`PCI error \(cmd = 0xffff, status(?:_errs)? = 0x`),
	regexp.MustCompile(`\btdh = -1, hw tdt = -1\b`),
}

var messageCard = regexp.MustCompile(`[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] ([a-z][a-z0-9]{2,14}):|` +
	`\b([a-z]{2,8}\d{1,3}): `)

// cardOf is the interface that the first message of a driver names, else its driver and slot, else "card".
func cardOf(messages ...facts.Source) string {
	for _, message := range messages {
		if m := messageCard.FindStringSubmatch(message.Text); m != nil {
			return m[1] + m[2]
		}
		if m := hungSlot.FindStringSubmatch(message.Text); m != nil {
			return m[1]
		}
	}
	return "card"
}
