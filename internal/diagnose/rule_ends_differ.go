package diagnose

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/system"
)

// endsDiffer finds what does not fit together between a host and its peer.
func endsDiffer() Rule {
	return Rule{
		ID: "ends-differ", Title: "The two ends of the path have mismatched settings", Severity: Warning, OfBothEnds: true,
		Needs:   []string{"settings|links|ifconfig|interfaces"},
		Because: "An option that needs both ends works only as far as the weaker end supports it.",
		Check: func(in Input) (out []Finding) {
			if in.Peer != nil {
				out = peerDiffers(in.Facts, in.Peer)
			}
			return append(out, neighboursDiffer(in.Facts, in.Beside)...)
		},
		Fires: endsExample(9000, 1500),
		Quiet: endsExample(9000, 9000),
	}
}

func endsExample(mtu, peerMTU int) Example {
	e := linuxExample("ip -s -d link show", ipLink("eth0", mtu, 1000, 0, 0, 0))
	e.Peer = linuxExample("ip -s -d link show", ipLink("eth0", peerMTU, 1000, 0, 0, 0)).Texts
	return e
}

// peerDiffers compares the two ends of a path.
func peerDiffers(a, b *facts.Facts) (out []Finding) {
	for _, pair := range facing(a, b) {
		out = append(out, pair.mtusDiffer(a, b)...)
		out = append(out, pair.duplexDiffers(a, b)...)
		out = append(out, pair.offloadsDiffer(a, b)...)
	}
	out = append(append(out, optionsDiffer(a, b)...), controlsDiffer(a, b)...)
	return ofSecond(b, out)
}

// neighboursDiffer compares the MTUs of hosts in the networks that they share, whatever path is slow. Of several hosts whose MTU
// differs from this one's in a network the first is told.
func neighboursDiffer(a *facts.Facts, beside []*facts.Facts) (out []Finding) {
	told := map[netip.Prefix]bool{}
	for _, b := range beside {
		if a.Node == "" || b.Node == "" || a.Node == b.Node {
			continue
		}
		here, there := *a, *b
		here.Host, there.Host = a.Node, b.Node // several hosts of a post have its name
		for _, pair := range sharedNetworks(a, b) {
			if told[pair.network] || len(told) >= mostPairs || ownNetwork(pair.n) || ownNetwork(pair.m) {
				continue
			}
			if found := pair.mtusDiffer(&here, &there); len(found) > 0 {
				told[pair.network] = true
				out = append(out, ofSecond(b, found)...)
			}
		}
	}
	return out
}

// ownNetwork reports whether the network of an interface may be of its host alone, as that of containers is, or the interface
// is an end of a tunnel, which takes packets above its own MTU.
func ownNetwork(n *facts.NIC) bool {
	_, tunnel := tunnelHeaders(n)
	return tunnel || inner(n) || strings.Contains(n.Source.Text, "POINTOPOINT") || strings.Contains(n.Source.Text, n.Name+"@if")
}

// ofSecond marks the second line of each finding as the other host's.
func ofSecond(b *facts.Facts, all []Finding) []Finding {
	for i := range all {
		all[i].Evidence[1] = peerSource(b, all[i].Evidence[1])
	}
	return all
}

// linkPair are interfaces of the two ends between which packets pass: those with addresses of one network, else those of the
// default routes, of which apart tells that their networks are known to be different ones.
type linkPair struct {
	n, m    *facts.NIC
	network netip.Prefix
	apart   bool
}

// mostPairs bounds the networks that two hosts share.
const mostPairs = 64

// facing finds them.
func facing(a, b *facts.Facts) []linkPair {
	pairs := sharedNetworks(a, b)
	if n, m := a.Outlet(), b.Outlet(); len(pairs) == 0 && n != nil && m != nil && n.Kind != "loopback" && m.Kind != "loopback" {
		pairs = append(pairs, linkPair{n: n, m: m, apart: len(networks(a)) > 0 && len(networks(b)) > 0})
	}
	return pairs
}

// sharedNetworks finds those with addresses of one network. Where both hosts have the same address, as of a container's
// bridge, each has a network of its own.
func sharedNetworks(a, b *facts.Facts) (pairs []linkPair) {
	mine := networks(a)
	for prefix, there := range networks(b) {
		if here, ok := mine[prefix]; ok && here.addr != there.addr {
			pairs = append(pairs, linkPair{n: here.nic, m: there.nic, network: prefix})
		}
	}
	slices.SortFunc(pairs, func(a, b linkPair) int { return cmp.Compare(a.network.String(), b.network.String()) })
	return pairs[:min(len(pairs), mostPairs)]
}

// attachment is an interface with the address that it has in a network.
type attachment struct {
	nic  *facts.NIC
	addr netip.Addr
}

// networks are the networks that a host has addresses of; none where no length of a prefix was read.
func networks(f *facts.Facts) map[netip.Prefix]attachment {
	all := map[netip.Prefix]attachment{}
	for i := range f.NICs {
		for _, addr := range f.NICs[i].Addrs {
			p, err := netip.ParsePrefix(addr)
			if err == nil && !p.Addr().IsLoopback() && !p.Addr().IsLinkLocalUnicast() && !p.IsSingleIP() && len(all) < 1<<12 {
				all[p.Masked()] = attachment{&f.NICs[i], p.Addr()}
			}
		}
	}
	return all
}

// mtusDiffer compares the MTUs.
func (p linkPair) mtusDiffer(a, b *facts.Facts) []Finding {
	n, m := p.n, p.m
	if n.MTU == 0 || m.MTU == 0 || n.MTU == m.MTU {
		return nil
	}
	found := one("mtu", []facts.Source{shownOr(n, "mtu"), shownOr(m, "mtu")}, "%s of %s has an MTU of %d, %s of %s has %d",
		n.Name, a.Host, n.MTU, m.Name, b.Host, m.MTU)
	found[0].Because = "On one link the larger packets are lost silently; across routers path MTU discovery has to find " +
		"the smaller MTU, which filtered ICMP prevents."
	found[0].Fix = []Fix{{Action: fmt.Sprintf("set both to %d if they share a link", min(n.MTU, m.MTU))}}
	switch {
	case p.network.IsValid():
		larger, smaller, on, off := n, m, a, b
		if m.MTU > n.MTU {
			larger, smaller, on, off = m, n, b, a
		}
		found[0].Summary += ", both in " + p.network.String()
		found[0].Because = "Within one network no router reports the MTU: the end with the smaller MTU drops larger packets silently. " +
			"TCP between the two agrees on the smaller size (MSS); UDP, tunnels and what one of them forwards for others do not."
		found[0].Confirm = fmt.Sprintf("On %s, ping -M do -s %d to %s gets no reply (BSD: ping -D -s), -s %d does.",
			on.Host, larger.MTU-28, off.Host, smaller.MTU-28)
		found[0].Fix = []Fix{{Action: fmt.Sprintf("if every switch port between them carries %d bytes, on %s: %s; otherwise on %s: %s",
			larger.MTU, off.Host, setMTU(off, smaller, larger.MTU), on.Host, setMTU(on, larger, smaller.MTU))}}
	case p.apart:
		found = with(Info, found)
		found[0].Because = "They are in different networks: path MTU discovery has to find the smaller MTU, which filtered ICMP prevents."
		found[0].Fix = []Fix{{Action: fmt.Sprintf("check that large packets pass: ping -M do -s %d PEER", min(n.MTU, m.MTU)-28)}}
	}
	return found
}

func setMTU(f *facts.Facts, n *facts.NIC, mtu int) string {
	if f.System == system.Linux {
		return shell.Join("ip", "link", "set", "dev", n.Name, "mtu", strconv.Itoa(mtu))
	}
	return shell.Join("ifconfig", n.Name, "mtu", strconv.Itoa(mtu))
}

// duplexDiffers compares the duplex modes, which must agree where the two ends share a cable.
func (p linkPair) duplexDiffers(a, b *facts.Facts) []Finding {
	n, m := p.n, p.m
	if n.Duplex == "" || m.Duplex == "" || n.Duplex == m.Duplex {
		return nil
	}
	found := one("duplex", []facts.Source{shownOr(n, "duplex"), shownOr(m, "duplex")},
		"%s of %s runs at %s duplex, %s of %s at %s duplex", n.Name, a.Host, n.Duplex, m.Name, b.Host, m.Duplex)
	found[0].Because = "Under load the half-duplex end sees collisions and the full-duplex end CRC errors."
	found[0].Fix = []Fix{{Action: "set both ends, and the switch between them, to autonegotiation (Linux: ethtool -s NAME autoneg on)"}}
	return found
}

func shownOr(n *facts.NIC, field string) facts.Source {
	if src, ok := n.Shown[field]; ok {
		return src
	}
	return n.Source
}

// pairedOption is an option of TCP that works only where both ends switch it on.
type pairedOption struct {
	subject  string
	names    map[system.System]string
	off      func(v int64) bool
	severity Severity
	because  string
}

func pairedOptions() []pairedOption {
	zero := func(v int64) bool { return v == 0 }
	return []pairedOption{
		{"window scale", map[system.System]string{"linux": "net.ipv4.tcp_window_scaling", "freebsd": "net.inet.tcp.rfc1323",
			"openbsd": "net.inet.tcp.rfc1323"}, zero, Critical,
			"Without it at one end, both ends carry at most 65,535 bytes per round trip (RFC 7323)."},
		{"selective acknowledgements", map[system.System]string{"linux": "net.ipv4.tcp_sack",
			"freebsd": "net.inet.tcp.sack.enable", "openbsd": "net.inet.tcp.sack"}, zero, Warning,
			"Without it at one end, the other repairs one lost segment per round trip (RFC 2018)."},
		{"ecn", map[system.System]string{"linux": "net.ipv4.tcp_ecn", "freebsd": "net.inet.tcp.ecn.enable",
			"openbsd": "net.inet.tcp.ecn"}, zero, Info,
			"ECN needs both ends; the end that requests it does not get it."},
		{"timestamps", map[system.System]string{"linux": "net.ipv4.tcp_timestamps", "freebsd": "net.inet.tcp.rfc1323",
			"openbsd": "net.inet.tcp.rfc1323"}, zero, Info,
			"Without them at one end, the RTT is measured less often, and fast connections are not protected against wrapped " +
				"sequence numbers (PAWS, RFC 7323)."},
	}
}

// optionsDiffer compares options that both ends must switch on.
func optionsDiffer(a, b *facts.Facts) (out []Finding) {
	for _, o := range pairedOptions() {
		v, src, known := setting(a, o.names[a.System])
		w, src2, known2 := setting(b, o.names[b.System])
		if !known || !known2 || o.off(v) == o.off(w) || len(out) > 0 && o.subject == "timestamps" && a.System != b.System {
			continue // the BSDs have one setting for both
		}
		on, off, name := a, b, o.names[b.System]
		if o.off(v) {
			on, off, name = b, a, o.names[a.System]
		}
		found := with(o.severity, one(o.subject, []facts.Source{src, src2}, "on at %s, off at %s (%s is 0)",
			on.Host, off.Host, name))
		found[0].Because = o.because
		command := "sysctl "
		if off.System == system.Linux {
			command = "sysctl -w "
		}
		found[0].Fix = []Fix{{Action: "on " + off.Host + ": " + command + name + "=1"}}
		out = append(out, found...)
	}
	return out
}

// offloadsDiffer finds an end without the offloads that the other one has at the same rate.
func (p linkPair) offloadsDiffer(a, b *facts.Facts) (out []Finding) {
	n, m := p.n, p.m
	if a.System != b.System {
		return nil
	}
	for _, name := range []string{"tcp-segmentation-offload", "generic-receive-offload", "TSO4", "LRO"} {
		f, known := n.Features[name]
		g, known2 := m.Features[name]
		// The BSDs print only what is on.
		known, known2 = known || len(n.Features) > 0 && a.System != "linux", known2 ||
			len(m.Features) > 0 && b.System != "linux"
		if !known || !known2 || f.On == g.On {
			continue
		}
		on, off, card := a.Host, b.Host, m
		if g.On {
			on, off, card = b.Host, a.Host, n
		}
		src, src2 := f.Source, g.Source
		if src.Text == "" {
			src = n.Source
		}
		if src2.Text == "" {
			src2 = m.Source
		}
		found := with(Info, one(strings.ToLower(name), []facts.Source{src, src2}, "on at %s, off at %s", on, off))
		found[0].Because = "The end without it spends more CPU time per packet and may be the bottleneck."
		if a.System == system.Linux {
			found = do("on "+off+": "+shell.Join("ethtool", "-K", card.Name, name, "on"), found)
		}
		out = append(out, found...)
	}
	return out
}

// controlsDiffer tells which congestion control counts: that of the end that sends.
func controlsDiffer(a, b *facts.Facts) []Finding {
	_, _, mine := a.CongestionControls()
	_, _, theirs := b.CongestionControls()
	if mine == "" || theirs == "" || mine == theirs {
		return nil
	}
	names := map[system.System]string{"linux": "net.ipv4.tcp_congestion_control", "freebsd": "net.inet.tcp.cc.algorithm"}
	evidence := []facts.Source{a.Settings[names[a.System]].Source, b.Settings[names[b.System]].Source}
	if evidence[0].Text == "" && evidence[1].Text == "" {
		return nil
	}
	found := with(Info, one("congestion control", evidence, "%s sends with %s, %s with %s", a.Host, mine, b.Host, theirs))
	found[0].Because = "The sender's algorithm counts: the two directions differ in rate and in how they share a queue."
	return found
}
