package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// linkErrors finds frames damaged on the wire.
func linkErrors() Rule {
	return Rule{
		ID: "link-errors", Title: "Frames arrive damaged", Severity: Warning,
		Needs: []string{"linux:links", "freebsd:interface counters|interface rates|settings",
			"openbsd:interface counters|interface rates|driver counters"},
		Because: "A damaged frame is a lost packet: cable, optic, connector or card.",
		Confirm: "The counter grows with the traffic; it stops after the cable or optic is changed.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				name, c := largest(nicMatching(n, damagedFrame))
				if c.Value == 0 {
					if _, fixed := fixedCopper(n, in.Facts.System); n.Duplex == "half" || fixed || !physical(n) {
						continue // half-duplex or duplex-mismatch says it
					}
					name, c = largest(nicCounters(n, "link.rx_errors", "netstat.Ierrs", "netstat.Ifail"))
					// Errors may also be packets for which there was no room.
					if dropped := nicMatching(n, ringDrop); c.Value == 0 || len(dropped) > 0 {
						continue
					}
					found := one(n.Name, []facts.Source{c.Source}, "receive errors: %s of %d packets (%s)",
						happened(c), received(n), name)
					if in.Facts.System == "linux" {
						out = append(out, with(Info, found)...)
						continue
					}
					command := "sysctl dev." + n.Driver
					if in.Facts.System == "openbsd" {
						command = "kstat"
					}
					found = lost(c, received(n), do("look at the driver's own counters ("+command+"): cable and optic for "+
						"damaged frames, the ring and the cores for missed ones", found))
					found[0].Because = "Frames that arrived damaged, or for which the card or the host had no room: " +
						"the BSDs count both here."
					found[0].Confirm = "The counter grows with the traffic."
					out = append(out, found...)
					continue
				}
				out = append(out, lost(c, received(n), do("change the cable or the optic; clean the connectors",
					one(n.Name, []facts.Source{c.Source}, "frames arrived damaged: %s is %s%s",
						name, happened(c), ofReceived(n, c))))...)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 812, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     rx_crc_errors: 812\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     rx_crc_errors: 0\n"),
	}
}
