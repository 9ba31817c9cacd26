package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// pcieBelow finds cards whose link trained below what they can do.
func pcieBelow() Rule {
	return Rule{
		ID: "pcie-below-capability", Title: "A card's PCI Express link trained below its capability", Severity: Warning,
		Needs: []string{"linux:interfaces|lspci|messages", "freebsd:pcie", "openbsd:pcie"},
		Because: "Fewer lanes or a lower generation limit the throughput; a slot with fewer lanes, a riser or dirty contacts " +
			"are the usual causes.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				p := n.PCIe
				if p == nil || p.Form != "pcie" || p.Width == 0 || p.Speed == 0 ||
					(p.Width >= p.MaxWidth && p.Speed >= p.MaxSpeed) {
					continue
				}
				s := Info
				best := facts.PCIe{Form: "pcie", Speed: p.MaxSpeed, Width: p.MaxWidth}
				if n.Speed > 0 && pcieRate(p) < 1.2*float64(n.Speed) || n.Speed == 0 && pcieRate(p) <= pcieRate(&best)/4 {
					s = Warning
				}
				if n.Name == "card" && p.Width >= p.MaxWidth {
					s = Info // whose link it is was not read, and idle graphics cards lower their generation
				}
				out = append(out, with(s, do("move the card to a slot with the full width and generation, or reseat it",
					one(n.Name, pcieSources(n), "trained at %g GT/s x%d, the card supports %g GT/s x%d", p.Speed, p.Width,
						p.MaxSpeed, p.MaxWidth)))...)
			}
			if len(out) == 0 {
				return belowByMessage(in.Facts)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/sys/class/net",
			"eth0/device/current_link_speed:8.0 GT/s "+
				"PCIe\neth0/device/current_link_width:4\neth0/device/max_link_speed:8.0 GT/s PCIe\neth0/device/max_link_width:8\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/sys/class/net",
			"eth0/device/current_link_speed:8.0 GT/s "+
				"PCIe\neth0/device/current_link_width:8\neth0/device/max_link_speed:8.0 GT/s PCIe\neth0/device/max_link_width:8\n"),
	}
}

func pcieSources(n *facts.NIC) []facts.Source {
	return []facts.Source{n.Shown["pcie"], n.Shown["pcie.max"], n.Shown["pcie.current_link_speed"],
		n.Shown["pcie.current_link_width"],
		n.Shown["pcie.max_link_speed"], n.Shown["pcie.max_link_width"]}
}

// belowByMessage takes the kernel's own report of a slot below the card (drivers/pci/pci.c) where the port's rate, by
// which pcie-too-narrow judges, is not known.
func belowByMessage(f *facts.Facts) []Finding {
	for i, line := range f.Lines("dmesg") {
		m := capableOf.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		available, _ := strconv.ParseFloat(m[2], 64)
		capable, _ := strconv.ParseFloat(m[3], 64)
		if _, port, _ := portRate(f, m[1]); port > 0 || available > capable/2 || !networkCard.MatchString(line) {
			continue
		}
		s := Info
		if available <= capable/4 {
			s = Warning
		}
		return with(s, do("move the card to a slot with the full width and generation, or reseat it",
			one("card", []facts.Source{f.Line("dmesg", i+1)}, "the bus carries %s Gbit/s of the %s Gbit/s that the card supports",
				m[2], m[3])))
	}
	return nil
}

var (
	capableOf = regexp.MustCompile(`([0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]): ([0-9.]+) Gb/s available PCIe bandwidth, limited by .*` +
		`\(capable of ([0-9.]+) Gb/s`)
	networkCard = regexp.MustCompile(`\b(?:mlx[45]_core|ixgbe|i40e|ice|igc|igb|bnxt_en|bnx2x|qede|cxgb4|atlantic|` +
		`r816\d|r8125|sfc|ena|nfp|tg3)\b`)
)
