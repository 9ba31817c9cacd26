package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/units"
)

// readBondings takes what recorded files of the bonding driver say (Linux
// drivers/net/bonding/bond_procfs.c): the mode and hash of a bond, then for each
// member its state, speed and how often its link failed.
func (f *Facts) readBondings(texts map[string]string) {
	if f.System != "linux" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if bond, ok := strings.CutPrefix(name, BondingFolder); ok {
			f.Parts["bonding"] = f.readBonding(bond, text{from: name, data: []byte(texts[name])})
		}
	}
}

func (f *Facts) readBonding(name string, t text) Part {
	f.texts[t.from] = t.lines()
	bond := f.bondMember(name, f.Line(t.from, 1))
	bond.Kind = "bond"
	var member *NIC
	partner := false // the fields are those of the other end
	for i, line := range t.lines() {
		if strings.HasSuffix(strings.TrimSpace(line), " has no active aggregator") {
			bond.Aggregator = "none"
			bond.show("aggregator", f.Line(t.from, i+1))
		}
	}
	colonFields(t, func(line int, field, value string) {
		src := f.Line(t.from, line)
		switch {
		case field == "details partner lacp pdu" || field == "details actor lacp pdu":
			partner = field == "details partner lacp pdu"
		case field == "system mac address" && partner && member != nil && member.Up && value == "00:00:00:00:00:00":
			member.show("no_partner", src)
		case field == "Slave Interface" && value != "":
			member, partner = f.bondMember(value, src), false
			member.Master = name
		case member == nil && field == "Bonding Mode":
			bond.BondMode = value
			bond.show("bond_mode", src)
		case member == nil && field == "Aggregator ID":
			bond.Aggregator = value
			bond.show("aggregator", src)
		case member != nil && field == "Aggregator ID":
			member.Aggregator = value
			member.show("aggregator", src)
		case member == nil && field == "Transmit Hash Policy":
			bond.Hash, _, _ = strings.Cut(value, " ")
			bond.show("hash", src)
		case member == nil && field == "MII Status":
			bond.Up = value == "up"
		case member == nil:
		case field == "MII Status":
			member.Up = value == "up"
		case field == "Speed" && member.Speed == 0:
			if v, ok := count(strings.TrimSuffix(value, " Mbps")); ok && v < 10_000_000 && v != unknownSpeed {
				member.Speed = units.Rate(v) * units.Mbit
				member.show("speed_bps", src)
			}
		case field == "Duplex" && member.Duplex == "" && (value == "full" || value == "half"):
			member.Duplex = value
			member.show("duplex", src)
		case field == "Link Failure Count":
			if v, ok := count(value); ok {
				member.Counters["bond.link_failures"] = Counter{Value: v,
					Source: Source{From: t.from, Line: line, Text: fmt.Sprintf("%s: %s", member.Name, src.Text)}}
			}
		}
	})
	if member == nil && bond.BondMode == "" {
		return Part{From: t.from, State: Unparsed, Because: errNothing.Error()}
	}
	return Part{From: t.from, State: Read}
}

// bondMember returns an interface with room for counters, made when it is new.
func (f *Facts) bondMember(name string, src Source) *NIC { return f.linuxLink(name, src) }
