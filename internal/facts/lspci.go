package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// typedSlot is the address that a command asks lspci for.
var typedSlot = regexp.MustCompile(`-\w*s ?((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])`)

var lspciLink = regexp.MustCompile(`Speed ([0-9.]+)GT/s(?: \([a-z]+\))?,\s*Width x(\d+)`)

// readLspci reads lspci -vv: a device's address at the start of a line, below
// it LnkCap (what it could do) and LnkSta (as trained), or the capability of a
// PCI-X device with its status. Interfaces are found by their bus address.
func (f *Facts) readLspci(t text) error {
	var n *NIC
	found, denied := false, 0
	virtual := virtualBus.Match(t.data) || f.virtual()
	old := conventional{}
	posted := !slices.ContainsFunc(f.NICs, func(n NIC) bool { return n.Bus != "" })
	if strings.Count(string(t.data), "LnkSta:") <= 1 && !strings.Contains(string(t.data), "controller") {
		address := typedSlot.FindStringSubmatch(t.typed) // grep took the device's name
		switch {
		case address != nil && f.nicAt(address[1]) != nil:
			n, found = f.nicAt(address[1]), true
		case posted && strings.Contains(string(t.data), "Lnk"):
			n, found = f.onlyCard("card", true, Source{From: t.from, Line: 0, Text: ""}), true
		}
	}
	for i, line := range t.lines() {
		if line == "" {
			if n != nil && n.Name != "card" {
				old.settle(n, virtual)
				n = nil
			}
			continue
		}
		words := strings.Fields(line)
		if line[0] != ' ' && line[0] != '\t' && !strings.HasPrefix(line, "Lnk") {
			if !strings.Contains(words[0], ":") || !strings.Contains(words[0], ".") {
				continue
			}
			found = true
			old.settle(n, virtual)
			old = conventional{known: oldCard.MatchString(line)}
			n = f.nicAt(words[0])
			if n == nil && strings.Contains(line, "Ethernet controller") && posted {
				n = f.onlyCard(words[0], strings.Count(string(t.data), "Ethernet controller") == 1, f.Line(t.from, i+1))
			}
			continue
		}
		if n == nil || len(words) < 2 {
			continue
		}
		if strings.Contains(line, "<access denied>") && n.PCIe == nil {
			denied = i + 1
		}
		old.line(words[0], line, f.Line(t.from, i+1))
		f.lspciLine(n, words[0], line, f.Line(t.from, i+1))
	}
	old.settle(n, virtual)
	switch {
	case !found:
		return errNothing
	case denied > 0:
		return &refusal{Denied, denied, "capabilities are shown only to root"}
	}
	return nil
}

// onlyCard is the interface of a device of which nothing says whose it is: the
// only interface where there is one device, else one named after its address.
func (f *Facts) onlyCard(address string, single bool, src Source) *NIC {
	var cards []*NIC
	for i := range f.NICs {
		if f.NICs[i].Kind == "ethernet" && f.NICs[i].Device == "" {
			cards = append(cards, &f.NICs[i])
		}
	}
	if single && len(cards) == 1 {
		return cards[0]
	}
	if len(cards) > 0 || len(f.NICs) >= linkLimit {
		return nil
	}
	f.NICs = append(f.NICs, NIC{Name: address, Kind: "ethernet", Device: address, Source: src})
	return &f.NICs[len(f.NICs)-1]
}

func (f *Facts) nicAt(address string) *NIC {
	for i := range f.NICs {
		n := &f.NICs[i]
		if n.Bus != "" && (n.Bus == address || strings.HasSuffix(n.Bus, ":"+address)) {
			return n
		}
	}
	return nil
}

func (f *Facts) lspciLine(n *NIC, word, line string, src Source) {
	if strings.Contains(line, "PCI-X") && strings.Contains(line, "Capabilities:") && !f.virtual() {
		n.PCIe = &PCIe{Form: "pci-x"}
		return
	}
	if n.PCIe != nil && n.PCIe.Form == "pci-x" && word == "Status:" && strings.Contains(line, "64bit") {
		n.PCIe.Bits, n.PCIe.Clock = 32, 66
		if strings.Contains(line, "64bit+") {
			n.PCIe.Bits = 64
		}
		if strings.Contains(line, "133MHz+") {
			n.PCIe.Clock = 133
		}
		n.show("pcie", src)
		return
	}
	if driver, ok := strings.CutPrefix(strings.TrimSpace(line), "Kernel driver in use: "); ok && n.Driver == "" {
		n.Driver = driver
		n.show("driver", src)
		return
	}
	m := lspciLink.FindStringSubmatch(line)
	if m == nil || word != "LnkCap:" && word != "LnkSta:" {
		return
	}
	if n.PCIe == nil {
		n.PCIe = &PCIe{Form: "pcie"}
	}
	speed, _ := strconv.ParseFloat(m[1], 64)
	if word == "LnkCap:" {
		n.PCIe.MaxSpeed, n.PCIe.MaxWidth = speed, smallNumber(m[2])
		n.show("pcie.max", src)
		return
	}
	n.PCIe.Speed, n.PCIe.Width = speed, smallNumber(m[2])
	n.show("pcie", src)
}

// conventional is what the lines of a device say of a parallel bus without
// capabilities of its own: lspci shows neither its width nor its clock, only
// that the card could run at 66 MHz.
type conventional struct {
	known   bool // by its name, a card of that bus
	other   bool // a capability of another bus
	fast    bool
	visible bool
	status  Source
}

func (c *conventional) line(word, line string, src Source) {
	switch {
	case word == "Status:" && strings.Contains(line, "66MHz") && c.status.Text == "":
		c.status, c.fast = src, strings.Contains(line, "66MHz+")
	case strings.Contains(line, "<access denied>"):
		c.visible = false
	case word == "Capabilities:":
		c.visible = true
		c.other = c.other || strings.Contains(line, "Express") || strings.Contains(line, "PCI-X")
	}
}

// settle gives the interface the bus of its card: 32 bits, the only width that
// such cards for desktops have, and the clock that the card could run at.
func (c *conventional) settle(n *NIC, virtual bool) {
	if n == nil || n.PCIe != nil || !c.known || c.other || virtual || c.status.Text == "" {
		return
	}
	n.PCIe = &PCIe{Form: "pci", Bits: 32, Clock: 33}
	if c.fast && !c.visible {
		n.PCIe = nil // it may have PCI-X, which is not shown
		return
	}
	if c.fast {
		n.PCIe.Clock = 66
	}
	n.show("pcie", c.status)
}

var (
	// oldCard are Ethernet controllers that were made for conventional PCI with 32
	// bits alone.
	oldCard = regexp.MustCompile(`RTL-?8139|RTL-?8169|RTL-?8110|RTL-?8100[A-D]?/|82540|82541|8255[1789]|3c905|3C905|` +
		`VT610[256]|88E8001|SK-9821|DP8381|DP8382|BCM440[01]|DGE-528T|DGE-530T|SiS900|RTL-8029`)
	// virtualBus are words of machines whose buses are imitated.
	virtualBus = regexp.MustCompile(`VMware|VirtualBox|InnoTek|QEMU|Red Hat|Virtio|Bochs|Hyper-V|Xen Platform|` +
		`Parallels|440FX`)
)

// virtual reports whether the processor says that a hypervisor runs it.
func (f *Facts) virtual() bool {
	for _, line := range f.texts["/proc/cpuinfo"] {
		if strings.HasPrefix(line, "flags") {
			return slices.Contains(strings.Fields(line), "hypervisor")
		}
	}
	return slices.ContainsFunc(f.texts["lscpu"], func(s string) bool { return strings.HasPrefix(s, "Hypervisor vendor:") })
}
