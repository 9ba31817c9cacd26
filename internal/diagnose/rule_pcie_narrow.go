package diagnose

import (
	"github.com/wirerate/wirerate/internal/units"
)

// pcieNarrow finds cards whose link cannot carry the port's rate.
func pcieNarrow() Rule {
	return Rule{
		ID: "pcie-too-narrow", Title: "A card's bus link is slower than its port", Severity: Critical,
		Needs:   []string{"linux:interfaces", "freebsd:pcie", "openbsd:pcie"},
		Because: "What the port receives has to cross the bus to memory: the slower of the two bounds the rate.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.PCIe == nil || n.Speed == 0 {
					continue
				}
				rate := pcieRate(n.PCIe)
				if rate == 0 || rate >= float64(n.Speed) {
					continue
				}
				evidence := append(pcieSources(n), n.Shown["speed_bps"])
				out = append(out, do("put the card into a wider or newer slot", one(n.Name, evidence, "the bus carries at most %s of packets, the port %s", units.Rate(rate), n.Speed))...)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/sys/class/net",
			"eth0/speed:40000\neth0/device/current_link_speed:5.0 GT/s PCIe\neth0/device/current_link_width:8\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/sys/class/net",
			"eth0/speed:10000\neth0/device/current_link_speed:8.0 GT/s PCIe\neth0/device/current_link_width:8\n"),
	}
}
