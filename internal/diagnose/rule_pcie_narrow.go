package diagnose

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// pcieNarrow finds cards whose link cannot carry the port's rate.
func pcieNarrow() Rule {
	return Rule{
		ID: "pcie-too-narrow", Title: "A card's PCI Express link is slower than its port", Severity: Critical,
		Needs:   []string{"linux:interfaces|lspci|messages", "freebsd:pcie|messages", "openbsd:pcie"},
		Because: "What the port receives has to cross the bus to memory: the slower of the two limits the rate.",
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
				out = append(out, do("put the card into a wider or newer slot",
					one(n.Name, evidence, "the bus carries at most %s of packets, the port %s", units.Rate(rate), n.Speed))...)
			}
			if len(out) == 0 {
				out = busMessages(in.Facts)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/sys/class/net",
			"eth0/speed:40000\neth0/device/current_link_speed:5.0 GT/s PCIe\neth0/device/current_link_width:8\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/sys/class/net",
			"eth0/speed:10000\neth0/device/current_link_speed:8.0 GT/s PCIe\neth0/device/current_link_width:8\n"),
	}
}

// busMessages finds what drivers say of a slot: ixgbe and FreeBSD's ix compare
// it with the card's ports, newer kernels with what the card could do.
func busMessages(f *facts.Facts) []Finding {
	fix := "put the card into a wider or newer slot"
	if lines, n := logged(f, "not sufficient for optimal performance"); n > 0 {
		if more, _ := logged(f, "encoding loss"); len(more) > 0 {
			lines = append(lines[:1], more[0])
		}
		return do(fix, one("card", lines, "its driver reported that the slot is too slow for it"))
	}
	if found := freebsdBus(f); found != nil {
		return do(fix, found)
	}
	for i, line := range f.Lines("dmesg") {
		if m := ixgbeBandwidth.FindStringSubmatch(line); m != nil {
			if v, err := strconv.ParseFloat(m[2], 64); err == nil && v < 10 {
				return do(fix, one(m[1], []facts.Source{f.Line("dmesg", i+1)},
					"the bus carries at most %g Gbit/s including its own headers, a port of the card 10 Gbit/s", v))
			}
		}
		m := availableBandwidth.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		available, _ := strconv.ParseFloat(m[2], 64)
		name, port, shown := portRate(f, m[1])
		if float64(port) > available*1e9 {
			return do(fix, one(name, []facts.Source{f.Line("dmesg", i+1), shown},
				"the bus carries at most %s Gbit/s including its own headers, the port %s", m[2], port))
		}
	}
	return nil
}

// portRate is the rate of the port at a PCI address whose bus link no other output shows: of the interface, or as its
// driver logged it when the link came up.
func portRate(f *facts.Facts, address string) (name string, port units.Rate, shown facts.Source) {
	for i := range f.NICs {
		if n := &f.NICs[i]; n.Bus != "" && strings.HasSuffix(n.Bus, address) {
			if n.PCIe != nil {
				return n.Name, 0, shown
			}
			return n.Name, n.Speed, n.Shown["speed_bps"]
		}
	}
	for i, line := range f.Lines("dmesg") {
		if m := linkUp.FindStringSubmatch(line); m != nil && strings.Contains(line, address) {
			gbit, _ := strconv.ParseFloat(m[2], 64)
			name, port, shown = m[1], units.Rate(gbit*float64(units.Gbit)), f.Line("dmesg", i+1)
		}
	}
	return name, port, shown
}

var linkUp = regexp.MustCompile(`[0-9a-f]\.[0-9a-f] ([a-zA-Z0-9]+): (?:NIC )?[Ll]ink is [Uu]p,? (?:at )?([0-9.]+) ?Gbps`)

// ixgbeBandwidth is what ixgbe says of its slot, with what the encoding costs taken off (ixgbe_main.c,
// ixgbe_check_minimum_link, before Linux 4.17); its cards have ports of 10 Gbit/s.
var ixgbeBandwidth = regexp.MustCompile(`ixgbe ([0-9a-f:.]+): PCI Express bandwidth of ([0-9.]+)GT/s available`)

// availableBandwidth is Linux's message (drivers/pci/pci.c,
// __pcie_print_link_status).
var availableBandwidth = regexp.MustCompile(`([0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]): ([0-9.]+) Gb/s available PCIe bandwidth, limited by`)

// freebsdBus compares what FreeBSD's ix and ixl say of their slot with the ports that the card's name tells; the
// driver's own warning is there for fast slots too.
func freebsdBus(f *facts.Facts) []Finding {
	for i, line := range f.Lines("dmesg") {
		m := freebsdSlot.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		speed, _ := strconv.ParseFloat(m[2], 64)
		width, _ := strconv.Atoi(m[3])
		rate := pcieRate(&facts.PCIe{Form: "pcie", Speed: speed, Width: width})
		card, port := cardPort(f, m[1])
		if rate > 0 && port > 0 && rate < float64(port) {
			return one(m[1], []facts.Source{f.Line("dmesg", i+1), card}, "the bus carries at most %s of packets, "+
				"a port of this card %s", units.Rate(rate), port)
		}
	}
	return nil
}

// cardPort is the rate of a card's port by the name under which its driver attached.
func cardPort(f *facts.Facts, nic string) (shown facts.Source, port units.Rate) {
	for i, line := range f.Lines("dmesg") {
		if m := portInName.FindStringSubmatch(line); m != nil && strings.Contains(line, nic+": <") {
			gbit, _ := strconv.Atoi(m[1])
			return f.Line("dmesg", i+1), units.Rate(gbit) * units.Gbit
		}
	}
	return facts.Source{}, 0
}

var (
	freebsdSlot = regexp.MustCompile(`\b([a-z]+\d+): PCI Express Bus: Speed ([0-9.]+)GT/s Width x(\d+)`)
	portInName  = regexp.MustCompile(`: <[^>]*?\b(\d{1,3})(?:GbE|-Gigabit|GE\b|GBASE)`)
)
