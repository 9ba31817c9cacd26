package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// duplexMismatch finds the traces of a link whose ends do not agree on duplex.
func duplexMismatch() Rule {
	return Rule{
		ID: "duplex-mismatch", Title: "The two ends of a link likely have a duplex mismatch", Severity: Warning,
		Needs:   []string{"linux:statistics *|link *|links", "freebsd:ifconfig|interface counters", "openbsd:ifconfig|interface counters"},
		Because: "The autonegotiating end falls back to half duplex and sees late collisions; the fixed end sees CRC errors.",
		Confirm: "The errors stop when both ends autonegotiate, or both are fixed to the same mode.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.Duplex == "half" || !physical(n) {
					continue // half-duplex says it
				}
				name, c := largest(nicCounters(n, "late_collisions", "tx_window_errors", "late_collision",
					"mac_stats.late_coll", "netstat.Coll", "netstat.Colls"))
				if c.Value > 0 && virtualAddress.MatchString(n.MAC) {
					continue // a card that a hypervisor imitates has no cable on which packets could collide
				}
				if sent := sentPackets(n); sent > 0 && c.Value*10 > sent*9 && c.Value > warningCount && still(c) {
					out = append(out, do("in a virtual machine, use a paravirtual card (virtio, vmxnet3); otherwise set both ends of "+
						"the link "+
						"to autonegotiation", one(n.Name, []facts.Source{c.Source}, "collisions: %s, of %d packets sent: that many occur "+
						"at half duplex, or on an emulated card", happened(c), sent))...)
					continue
				}
				if in.Facts.System != "linux" && n.Duplex == "" {
					out = append(out, collidingErrors(n, c)...)
					continue
				}
				if c.Value == 0 && in.Facts.System == "linux" && n.Duplex == "" {
					if found := unknownDuplex(n); found != nil {
						out = append(out, found...)
						continue
					}
				}
				if c.Value > 0 && float64(c.Value) > 1e-6*float64(received(n)) && still(c) {
					out = append(out, do(negotiate(in.Facts, n.Name),
						one(n.Name, []facts.Source{c.Source, n.Shown["duplex"]},
							"%s: %s: a link that is full duplex at both ends has no collisions", name, happened(c)))...)
					continue
				}
				fixed, isFixed := fixedCopper(n, in.Facts.System)
				name, c = largest(nicCounters(n, "rx_crc_errors", "rx_frame_errors", "rx_align_errors", "align_errors",
					"rx_length_errors", "netstat.Ierrs", "netstat.Ifail"))
				if s := graded(c, received(n), Critical); !isFixed || n.Duplex != "full" || s != Warning && s != Critical {
					continue
				}
				out = append(out, do("enable autonegotiation at both ends of the link",
					one(n.Name, []facts.Source{fixed, n.Shown["duplex"], c.Source},
						"fixed at full duplex without autonegotiation, and %s: %s", name, happened(c)))...)
			}
			return out
		},
		Fires: duplexExample("off"),
		Quiet: duplexExample("on"),
	}
}

// fixedCopper reports whether a link over twisted pair was set to a mode instead of negotiating it, with the line that says
// so. A gigabit link always negotiates.
func fixedCopper(n *facts.NIC, on system.System) (facts.Source, bool) {
	if on == system.Linux {
		src := n.Shown["autonegotiation"]
		return src, strings.HasSuffix(src.Text, "off") && n.Media == "Twisted Pair"
	}
	src := n.Shown["duplex"]
	return src, strings.Contains(src.Text, "baseT") && !strings.Contains(src.Text, "autoselect") && n.Speed > 0 && n.Speed < units.Gbit
}

// collidingErrors finds collisions beside receive errors: collisions alone may be of a link at half duplex, or of an
// emulated card.
func collidingErrors(n *facts.NIC, collisions facts.Counter) []Finding {
	_, errors := largest(nicCounters(n, "netstat.Ierrs", "netstat.Ifail"))
	sent, got := sentPackets(n), received(n)
	if sent == 0 || got == 0 || lossShare(collisions, sent) < warningShare || lossShare(errors, got) < warningShare {
		return nil
	}
	found := do("set both ends of the link to autonegotiation (ifconfig NAME media autoselect), or both to the "+
		"same fixed speed and duplex",
		one(n.Name, []facts.Source{collisions.Source}, "collisions: %s (%s of the packets sent); receive errors: %s",
			happened(collisions), percent(lossShare(collisions, sent)), happened(errors)))
	found[0].Confirm = "ifconfig " + n.Name + " shows half-duplex or a fixed media type."
	return with(graded(errors, got, Critical), found)
}

// unknownDuplex finds collisions of a link of which nothing says its duplex: they are counted at half duplex alone.
func unknownDuplex(n *facts.NIC) []Finding {
	c := n.Counters["link.tx_collsns"]
	if s := graded(c, sentPackets(n), Warning); c.Value == 0 || sentPackets(n) == 0 || s != Warning {
		return nil
	}
	found := do("set both ends of the link to autonegotiation; in a virtual machine, use a paravirtual card (virtio, vmxnet3)",
		one(n.Name, []facts.Source{c.Source}, "collisions: %s, %s of the packets sent: they occur only at half duplex",
			happened(c), percent(lossShare(c, sentPackets(n)))))
	found[0].Confirm = "ethtool " + n.Name + " shows Duplex: Half."
	return found
}

func duplexExample(negotiate string) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 900, 0, 0), "ethtool eth0",
		"Settings for eth0:\n\tSpeed: 100Mb/s\n\tDuplex: Full\n\tAuto-negotiation: "+negotiate+"\n\tPort: Twisted Pair\n\tLink detected: yes\n",
		"ethtool -S eth0", "NIC statistics:\n     rx_crc_errors: 900\n")
}
