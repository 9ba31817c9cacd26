package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
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

// lacpMode is what /proc/net/bonding calls the mode 802.3ad (bond_main.c).
const lacpMode = "IEEE 802.3ad Dynamic link aggregation"

// bondMember returns an interface with room for counters, made when it is new.
func (f *Facts) bondMember(name string, src Source) *NIC { return f.linuxLink(name, src) }

var (
	teamTyped = regexp.MustCompile(`^teamdctl (?:-\S+ )*([A-Za-z][\w.-]*) state`)
	teamPort  = regexp.MustCompile(`^  ([A-Za-z][\w.@-]*)$`)
)

// readTeam reads teamdctl NAME state (libteam): with the runner lacp each port with its aggregator and whether it is
// selected. A team is kept as the bond that it replaces.
func (f *Facts) readTeam(t text) error {
	name := "team"
	if m := teamTyped.FindStringSubmatch(t.typed); m != nil {
		name = m[1]
	}
	lacp := false
	ports := 0
	var port *NIC
	inPorts := false
	for i, line := range t.lines() {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		if line != "" && line[0] != ' ' {
			inPorts, port = field == "ports", nil
			continue
		}
		src := f.Line(t.from, i+1)
		if m := teamPort.FindStringSubmatch(line); m != nil && inPorts {
			port = f.bondMember(m[1], src)
			port.Master = name
			ports++
			continue
		}
		switch {
		case field == "runner" && value == "lacp":
			lacp = true
		case port == nil:
		case field == "aggregator ID":
			port.Aggregator, _, _ = strings.Cut(value, ",")
			port.show("aggregator", src)
		case field == "selected" && value == "yes":
			bond := f.bondMember(name, src)
			bond.Aggregator = port.Aggregator
			bond.show("aggregator", src)
			port = f.NIC(port.Name) // the list may have grown
		case field == "down count":
			if v, ok := count(value); ok {
				port.Counters["bond.link_failures"] = Counter{Value: v, Source: src}
			}
		}
	}
	if ports == 0 {
		return errNothing
	}
	if bond := f.bondMember(name, f.Line(t.from, 1)); lacp {
		bond.Kind, bond.BondMode = "bond", "802.3ad (team, LACP)"
	}
	f.Parts["bonding"] = Part{From: t.from, State: Read}
	return nil
}
