package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// linkErrors finds frames damaged on the wire.
func linkErrors() Rule {
	return Rule{
		ID: "link-errors", Title: "Frames arrive corrupted (CRC errors)", Severity: Warning,
		Needs: []string{"linux:links|rdma", "freebsd:interface counters|interface rates|settings",
			"openbsd:interface counters|interface rates|driver counters"},
		Because: "Every corrupted frame is a lost packet: cable, optic, connector or card.",
		Confirm: "The counter grows with the traffic, and stops growing after the cable or optic is replaced.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.Kind == "wireguard" {
					out = append(out, unallowedSources(n)...)
					continue
				}
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
					found := one(n.Name, []facts.Source{c.Source}, "receive errors: %s%s (%s)",
						happened(c), ofReceived(n, c), name)
					if in.Facts.System == "linux" || wirelessName.MatchString(n.Name) { // a radio hears what it cannot read
						of := Info
						if found[0].Share = lossShare(c, received(n)); received(n) > 0 && gradedShare(found[0].Share) == trifling {
							of = trifling
						}
						if wirelessName.MatchString(n.Name) {
							found[0].Because = "A radio also counts frames that it could not decode, because of " +
								"interference, a weak signal or other networks on the channel. The number alone " +
								"does not show a fault."
							found[0].Confirm = "iw dev NAME station dump shows many tx retries and failures, or a weak signal."
						}
						out = append(out, with(of, found)...)
						continue
					}
					found[0].Confirm = "The counter grows with the traffic."
					out = append(out, buffersOrDamage(in, n.Driver, lost(c, received(n), found))...)
					continue
				}
				out = append(out, lost(c, received(n), do("replace the cable or the optic; clean the connectors",
					one(n.Name, []facts.Source{c.Source}, "corrupted frames: %s is %s%s",
						name, happened(c), ofReceived(n, c))))...)
			}
			if len(out) == 0 {
				out = buffersOrDamage(in, "", ofAllInterfaces(in.Facts, "interfaces.Ierrs", "receive errors"))
			}
			return append(out, fabricErrors(in.Facts)...)
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 812, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     rx_crc_errors: 812\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
			"NIC statistics:\n     rx_crc_errors: 0\n"),
	}
}

// buffersOrDamage says of what the BSDs count as receive errors that it may be either; beside a packet thread without time left
// it is that thread's consequence.
func buffersOrDamage(in Input, driver string, found []Finding) []Finding {
	check := "check the driver's own counters (" + driverCounters(in.Facts, cmp.Or(driver, "DRIVER")) + "): CRC errors point at cable " +
		"and optic, missed packets at the ring and the cores"
	if in.Facts.Relative == "macOS" { // its drivers publish no counters
		check = "repeat netstat -I NAME during a transfer to see whether the errors still grow; try another cable and switch port, then " +
			"another adapter"
	}
	for i := range found {
		found[i].Because = "The BSDs count here both corrupted frames and frames for which the card or host had no buffer."
	}
	if len(found) > 0 && len(packetThread().Check(in)) > 0 {
		found = atMost(Warning, found)
		found[0].Because += " A thread that takes packets from a card uses its whole core: then it is the latter."
	}
	return do(check, found)
}

// driverCounters is the command that shows what a driver counted, on FreeBSD, OpenBSD and their relatives.
func driverCounters(f *facts.Facts, driver string) string {
	switch {
	case f.Relative == "NetBSD":
		return "vmstat -e"
	case f.Relative == "Junos":
		return "show interfaces extensive"
	case f.System == system.OpenBSD:
		return "kstat"
	}
	return "sysctl dev." + driver
}

// unallowedSources finds packets that WireGuard of Linux refused (drivers/net/wireguard/receive.c, dishonest_packet_peer and
// dishonest_packet_type): no cable damages what is inside of a tunnel.
func unallowedSources(n *facts.NIC) []Finding {
	_, c := largest(nicCounters(n, "link.rx_frame", "rx_errors_frame"))
	if c.Value == 0 {
		return nil
	}
	found := with(Info, one(n.Name, []facts.Source{c.Source}, "packets of a peer were refused: %s%s", happened(c), ofReceived(n, c)))
	found[0].Share = lossShare(c, received(n))
	found[0].Because = "Their source address is not in AllowedIPs of that peer, or they are no IP packets: WireGuard drops them after " +
		"decryption and counts them as frame errors."
	found[0].Confirm = "dmesg shows \"Packet has unallowed src IP\" after echo module wireguard +p > /sys/kernel/debug/dynamic_debug/control."
	return do("add the networks behind that peer to its AllowedIPs at this end (wg show "+n.Name+" allowed-ips), or translate their "+
		"addresses at the peer (NAT)", found)
}

// fabricErrors finds ports of InfiniBand that count damaged symbols or packets, or had to train their link again. How often
// a link went down says nothing alone: so does a host that starts.
func fabricErrors(f *facts.Facts) (out []Finding) {
	const few = 100 // a good cable has a handful in months
	for _, device := range rdmaDevices(f) {
		var said []string
		var evidence []facts.Source
		var most facts.Counter
		for _, c := range []struct{ name, what string }{{"symbol_error", "symbol errors"},
			{"port_rcv_errors", "packets received with errors"}, {"local_link_integrity_errors", "link integrity errors"},
			{"link_error_recovery", "link error recoveries"}} {
			counter := f.Counters["rdma."+device+"."+c.name]
			if counter.Value == 0 {
				continue
			}
			said = append(said, fmt.Sprintf("%s: %s", c.what, happened(counter)))
			evidence = append(evidence, counter.Source)
			if counter.Value > most.Value {
				most = counter
			}
		}
		if len(said) > 0 {
			s := Info
			if most.Value >= few {
				s = Warning
			}
			out = append(out, atMost(Warning, do("reseat or replace the cable or optic of this port and clean its connectors; then "+
				"clear the counters (perfquery -R LID PORT) and check them again under load (perfquery LID PORT, ibqueryerrors)",
				with(s, one(device, evidence, "%s", strings.Join(said, "; ")))))...)
		}
	}
	return out
}
