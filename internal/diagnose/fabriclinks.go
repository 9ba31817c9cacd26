package diagnose

import (
	"cmp"
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// fabricRates are the rates of ports of four lanes by the type of the card, as ibstat shows it: of several models of one
// type the fastest.
var fabricRates = map[string]units.Rate{"MT26428": 40 * units.Gbit, "MT4099": 56 * units.Gbit, "MT4103": 56 * units.Gbit,
	"MT4113": 56 * units.Gbit, "MT4115": 100 * units.Gbit, "MT4119": 100 * units.Gbit, "MT4121": 100 * units.Gbit,
	"MT4123": 200 * units.Gbit, "MT4129": 400 * units.Gbit}

// slowFabric finds links of InfiniBand that trained with fewer lanes, or far below the rate of their card.
func slowFabric(f *facts.Facts) (out []Finding) {
	const far = 4 // models of one type differ by less
	for _, l := range f.FabricLinks {
		said, fastest := "", fabricRates[l.Card]
		switch {
		case l.Could == "" && (l.Layer != "infiniband" || l.Rate == 0): // of Ethernet one lane is usual
		case l.Could != "":
			said = "it trained below what both ends support: it could be " + l.Could
		case l.Lanes == 1:
			said = fmt.Sprintf("%s over 1 lane of 4", l.Rate)
		case l.Rate*far < fastest:
			said = fmt.Sprintf("%s on a card of a type that supports up to %s", l.Rate, fastest)
		}
		if said == "" || l.Physical != "" && l.Physical != "linkup" {
			continue
		}
		found := one(l.Name, []facts.Source{l.Source}, "%s", said)
		found[0].Because = "A link trains to the lanes and signal rate that both ports and the cable support without errors."
		out = append(out, do("reseat or replace the cable (a passive cable with a lower rating, or a port configured for a lower "+
			"speed, has the same effect), try another switch port, and check it with ibstatus and iblinkinfo", found)...)
	}
	return out
}

// idleFabric finds ports of InfiniBand that cannot be used: without a link, or without a subnet manager.
func idleFabric(f *facts.Facts) (out []Finding) {
	for _, l := range f.FabricLinks {
		switch {
		case l.Layer == "ethernet":
		case l.State == "initializing" || l.State == "init":
			found := with(Critical, one(l.Name, []facts.Source{l.Shown}, "its link is up, but no subnet manager has configured it "+
				"(state Initializing)"))
			found[0].Because = "A port of InfiniBand gets its address (LID) and routes from a subnet manager; without one it carries nothing."
			found[0].Confirm = "sminfo finds no subnet manager."
			out = append(out, do("enable the subnet manager of the switch, or start one on a host: systemctl enable --now opensm", found)...)
		case l.State == "down" && (l.Physical == "polling" || l.Physical == "disabled"):
			found := with(Info, one(l.Name, []facts.Source{cmp.Or(l.Shown, l.Source)}, "it has no link (physical state %s)", l.Physical))
			out = append(out, do("if it should have one: check the cable and the port at the other end", found)...)
		}
	}
	return out
}
