package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// pcieCorrected finds cards on whose bus transfers had to be repeated.
func pcieCorrected() Rule {
	return Rule{
		ID: "pcie-corrected-errors", Title: "PCI Express errors on a network card's link", Systems: onLinux(),
		Needs: []string{"messages"}, Severity: Warning,
		Because: "Each replayed transfer costs bus time; many of them, or an uncorrectable one, make the card slow or reset " +
			"it. Slot contacts, a riser, or ASPM is at fault.",
		Confirm: "The messages stop with pcie_aspm=off or in another slot; lspci -vv shows BadTLP+, RxErr+ or Timeout+ under " +
			"CESta.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, corrected)
			if n == 0 {
				return nil
			}
			card, cards := matching(in.Facts, correctedCard)
			if cards == 0 { // a bridge, or something else than a network card
				return with(Info, do("lspci -tv shows what is behind the port; if it is the network card, reseat it, or boot with "+
					"pcie_aspm=off", one("bus", lines, "corrected PCI Express errors (%s)", counted(n, "message"))))
			}
			what := "corrected PCI Express errors on the card's link (%s)"
			failed, lost := matching(in.Facts, uncorrected)
			if lost > 0 {
				card, n, what = failed, lost, "uncorrectable PCI Express errors on the card's link (%s)"
			}
			found := do("reseat the card or try another slot; disable ASPM for the slot", one(
				correctedCard.FindStringSubmatch(card[0].Text)[1], card, what, counted(n, "message")))
			if lost > 0 {
				found = with(Critical, found)
			}
			found[0].Fix = append(found[0].Fix, Fix{File: "the kernel command line", Line: "pcie_aspm=off"})
			return found
		},
		Fires: linuxExample("dmesg", "[ 91.2] igb 0000:03:00.0: PCIe Bus Error: severity=Corrected, "+
			"type=Physical Layer, (Receiver ID)\n"),
		Quiet: linuxExample("dmesg", "[ 91.2] nvme 0000:03:00.0: AER: can't recover (no error_detected callback)\n"),
	}
}

// The kernel's words for errors on the bus (drivers/pci/pcie/aer.c): Uncorrected since 4.0, Uncorrectable since 6.12.
var (
	corrected = regexp.MustCompile(`PCIe Bus Error: severity=(?:Unc|C)orrect(?:ed|able)|` +
		`AER: (?:Multiple )?Correct(?:ed|able) error`)
	correctedCard = regexp.MustCompile(busOfCard + `(?:Unc|C)orrect`)
	uncorrected   = regexp.MustCompile(busOfCard + `Uncorrect`)
)

// cardDrivers are drivers of network cards on the bus, as a choice in a pattern.
const cardDrivers = `alx|atl\d\w*|atlantic|igbv?f?|igc|e1000e|ixgbe|i40e|iavf|ice|r816[89]|r8125|` +
	`mlx[45]_core|bnxt_en|bnx2x?|tg3|sky2|be2net|cxgb4|qede|sfc|ena|nfp|ath\d+k\w*|iwlwifi|rtw?\d+\w*|rtl\w+|` +
	`mt7\w+|brcmfmac`

// busOfCard is the beginning of a message of the bus that names the driver of a network card.
const busOfCard = `\b(` + cardDrivers + `) [0-9a-f:.]+: (?:AER: )?PCIe Bus Error: severity=`
