package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// aspmLoss finds cards that lose packets while their slot may sleep.
func aspmLoss() Rule {
	return Rule{
		ID: "aspm-loss", Title: "A card drops packets while its PCI Express link uses ASPM", Severity: Warning,
		Systems: onLinux(), Needs: []string{"lspci"},
		Because: "Waking the link from L1 takes tens of microseconds, and longer on faulty cards. Cards with small buffers " +
			"drop what arrives meanwhile.",
		Confirm: "The counter stops growing once ASPM is disabled for the slot.",
		Check: func(in Input) (out []Finding) {
			for _, slot := range sleepingSlots(in.Facts) {
				n := onSlot(in.Facts, slot.address)
				if n == nil {
					continue
				}
				name, c := largest(nicMatching(n, ringDrop))
				if c.Value == 0 || lossShare(c, received(n)) < warningShare && received(n) > 0 || !still(c) {
					continue
				}
				found := lost(c, received(n), one(n.Name, []facts.Source{slot.shown, c.Source},
					"ASPM L1 is enabled for its slot, and the card drops packets: %s is %s%s", printedName(name, c), happened(c),
					ofReceived(n, c)))
				found[0].Fix = []Fix{{Action: "disable ASPM for this slot and watch the counter",
					Command: "echo 0 > /sys/bus/pci/devices/" + fullAddress(slot.address) + "/link/l1_aspm",
					File:    "the kernel command line", Line: "pcie_aspm=off"}}
				out = append(out, found...)
			}
			return out
		},
		Fires: aspmExample("ASPM L1 Enabled"),
		Quiet: aspmExample("ASPM Disabled"),
	}
}

// slot is a PCI Express slot whose link may sleep.
type slot struct {
	address string
	shown   facts.Source
}

var (
	lspciDevice = regexp.MustCompile(`^((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) `)
	aspmL1      = regexp.MustCompile(`LnkCtl:\s*ASPM [L0s ]*L1 Enabled`)
)

// sleepingSlots are those of network cards for which lspci -vv shows L1 enabled.
func sleepingSlots(f *facts.Facts) (out []slot) {
	address := ""
	for i, line := range f.Lines("lspci -vv") {
		if m := lspciDevice.FindStringSubmatch(line); m != nil {
			address = ""
			if strings.Contains(line, "Ethernet controller") || strings.Contains(line, "Network controller") {
				address = m[1]
			}
		}
		if address != "" && aspmL1.MatchString(line) {
			out = append(out, slot{address, f.Line("lspci -vv", i+1)})
		}
	}
	return out
}

// onSlot returns the card at a PCI address; where no output tells the addresses, the only physical one.
func onSlot(f *facts.Facts, address string) *facts.NIC {
	var only *facts.NIC
	cards := 0
	for i := range f.NICs {
		n := &f.NICs[i]
		if n.Bus != "" && strings.HasSuffix(n.Bus, address) {
			return n
		}
		if physical(n) && n.Bus == "" {
			only = n
			cards++
		}
	}
	if cards != 1 {
		return nil
	}
	return only
}

// fullAddress puts the usual domain before a PCI address that has none.
func fullAddress(address string) string {
	if strings.Count(address, ":") == 1 {
		return "0000:" + address
	}
	return address
}

func aspmExample(control string) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 5000), "lspci -vv",
		"03:00.0 Ethernet controller: Intel Corporation Ethernet Controller I225-V (rev 03)\n"+
			"\t\tLnkCap:\tPort #0, Speed 5GT/s, Width x1, ASPM L1, Exit Latency L1 <4us\n"+
			"\t\tLnkCtl:\t"+control+"; RCB 64 bytes, Disabled- CommClk+\n\t\tLnkSta:\tSpeed 5GT/s, Width x1\n")
}
