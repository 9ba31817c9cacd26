package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// iommuFault finds cards whose access to memory the IOMMU refused.
func iommuFault() Rule {
	return Rule{
		ID: "iommu-fault", Title: "The IOMMU blocked memory accesses of a network card", Severity: Critical,
		Systems: onLinux(), Needs: []string{"messages"},
		Because: "The card accessed memory that the kernel had not mapped for it, and that transfer is lost; a card often " +
			"hangs until it is reset. The driver, the firmware or the BIOS is at fault.",
		Confirm: "The messages stop with iommu=pt on the kernel command line.",
		Check: func(in Input) []Finding {
			f := in.Facts
			var lines []facts.Source
			card, n := "", 0
			for i, line := range f.Lines("dmesg") {
				m := refusedAccess.FindStringSubmatch(line)
				if m == nil || !isCard(f, m[1]+m[2]) {
					continue
				}
				if n++; n == 1 || len(lines) < 2 {
					lines = append(lines, f.Line("dmesg", i+1))
				} else {
					lines[1] = f.Line("dmesg", i+1)
				}
				card = m[1] + m[2]
			}
			if n == 0 {
				return nil
			}
			found := one("card at "+card, lines, "the IOMMU blocked its memory access (%s)", counted(n, "line"))
			found[0].Fix = []Fix{{Action: "update kernel, BIOS and the card's firmware; until then, set the IOMMU " +
				"to passthrough", File: "the kernel command line", Line: "iommu=pt"}}
			return found
		},
		Fires: linuxExample("dmesg", "[ 8121.2] r8169 0000:04:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0013 "+
			"address=0xffb81000 flags=0x0050]\n[ 8121.3] r8169 0000:04:00.0 eth0: Link is Up\n"),
		Quiet: linuxExample("dmesg", "[ 8121.2] ahci 0000:05:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0013 "+
			"address=0xffb81000 flags=0x0050]\n"),
	}
}

// refusedAccess is what the drivers of AMD's and Intel's IOMMU say (drivers/iommu/amd/iommu.c,
// drivers/iommu/intel/dmar.c).
var refusedAccess = regexp.MustCompile(`([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): AMD-Vi: Event logged \[IO_PAGE_FAULT|` +
	`DMAR: \[DMA (?:Read|Write)[^\]]*\] Request device \[([0-9a-f:.]+)\]`)

var cardMessage = regexp.MustCompile(`\b(e1000e?|igb|igc|ixgbe|i40e|ice|iavf|r8169|r8125|tg3|bnx2x?|bnxt_en|` +
	`mlx[45]_\w+|` +
	`atlantic|be2net|cxgb4|qede|sfc|ena|alx|sky2|forcedeth|virtio_net|vmxnet3|mt7\w+|ath\w+|iwlwifi) [0-9a-f:.]*`)

// isCard reports whether the device at a PCI address is a network card: by its address, or by what its driver logs.
func isCard(f *facts.Facts, address string) bool {
	for i := range f.NICs {
		if n := &f.NICs[i]; n.Bus != "" && strings.HasSuffix(n.Bus, address) || n.Name == address {
			return true
		}
	}
	for _, line := range f.Lines("dmesg") {
		if strings.Contains(line, address) && cardMessage.MatchString(line) {
			return true
		}
	}
	return false
}
