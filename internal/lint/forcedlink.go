package lint

import (
	"fmt"
	"slices"

	"github.com/wirerate/wirerate/internal/conffile"
)

// forcedLink is the speed and the negotiation in the command that is being read.
type forcedLink struct {
	raw            conffile.Span
	file           *source
	speed, autoneg string
	iface          string
}

// negotiates finds a command that fixes a link at 10 or 100 Mbit/s without negotiation.
func (k *checker) negotiates(e conffile.Entry) *finding {
	if e.Name != "ethtool:link/speed" && e.Name != "ethtool:link/autoneg" || e.Has(conffile.Expands) {
		return nil
	}
	if k.link.raw != e.Raw || k.link.file != k.file || k.link.iface != e.Iface {
		k.link = forcedLink{raw: e.Raw, file: k.file, iface: e.Iface}
	}
	if e.Name == "ethtool:link/speed" {
		k.link.speed = e.Value
	} else {
		k.link.autoneg = e.Value
	}
	on, known := truth(k.link.autoneg)
	if known && on == 0 && k.link.speed == "1000" {
		return &finding{code: "harmful", severity: Info, sources: []string{"IEEE 802.3, 40.5.1: 1000BASE-T needs negotiation"},
			message: "this fixes the link at 1 Gbit/s without autonegotiation, which copper cannot do",
			because: "Over copper the driver refuses it or the link stays down; only fibre runs so. autoneg on advertise 0x020 offers 1 Gbit/s alone."}
	}
	if !known || on == 1 || !slices.Contains([]string{"10", "100"}, k.link.speed) {
		return nil
	}
	return &finding{code: "harmful", severity: Warning, sources: []string{"ethtool(8), -s", "IEEE 802.3, clause 28"},
		message: fmt.Sprintf("this fixes the link at %s Mbit/s and switches autonegotiation off", k.link.speed),
		because: "A link partner that negotiates falls back to half duplex, and frames are lost in collisions as soon as both send. " +
			"Leave autonegotiation on: the link then runs at the highest speed of both."}
}
