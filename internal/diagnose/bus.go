package diagnose

import "github.com/wirerate/wirerate/internal/facts"

// pcieRate is the rate at which a bus carries packets, in bit/s: PCI Express
// by generation and lanes, less encoding (8b/10b up to 5 GT/s, 128b/130b from
// 8 GT/s on) and the headers of transfers of 256 bytes (26 bytes each on the
// link: framing, sequence number, header with 64-bit address, CRC); a
// parallel bus by its clock and width at the 80% that long bursts reach. 0 is
// unknown. PCI Express Base Specification, sections 2.2, 3.6 and 4.2.
func pcieRate(p *facts.PCIe) float64 {
	switch {
	case p == nil:
		return 0
	case p.Form == "pcie":
		encoding := 0.8
		if p.Speed >= 8 {
			encoding = 128.0 / 130
		}
		return p.Speed * 1e9 * float64(p.Width) * encoding * 256 / (256 + 26)
	case p.Clock > 0 && p.Bits > 0:
		return p.Clock * 1e6 * float64(p.Bits) * 0.8
	}
	return 0
}
