package lint

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/facts"
)

// judgeRouter reports a default router, or the router of a static route, that is in no network of the host, when
// rc.conf says all of its networks.
func (k *checker) judgeRouter() {
	networks, lines, clear := k.networks()
	if !clear || lines == 0 {
		return
	}
	reach := func(a *assignment, address string) {
		router, err := netip.ParseAddr(address)
		if err != nil || !router.Is4() || a.kind != conffile.RC || a.entry.Has(conffile.Expands|conffile.Conditional) ||
			slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(router) }) {
			return
		}
		where := "no line of ifconfig gives an interface an address"
		if len(networks) > 0 {
			where = fmt.Sprintf("none of the networks of the interfaces (%s) has %s", listOf(networks), address)
		}
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true,
			sources: []string{"rc.conf(5), defaultrouter and static_routes", "route(8)"},
			message: fmt.Sprintf("%s = %s, and %s", a.entry.Name, a.entry.Value, where),
			because: "The kernel refuses a router that it cannot reach directly, so that the route is missing."})
	}
	if a := k.assigned("defaultrouter"); a != nil {
		reach(a, a.entry.Value)
	}
	if a := k.assigned("static_routes"); a != nil && len(networks) > 0 {
		for _, name := range strings.Fields(a.entry.Value) {
			if route := k.assigned("route_" + name); route != nil {
				reach(route, routerOf(route.entry.Value))
			}
		}
	}
}

// judgeOwnRouter reports a default router that is the host itself.
func (k *checker) judgeOwnRouter() {
	router := k.assigned("defaultrouter")
	if router == nil || router.kind != conffile.RC || router.entry.Has(conffile.Expands|conffile.Conditional) {
		return
	}
	for a := range k.ifconfigLines() {
		network, clear := networkOf(a.entry)
		if !clear || !network.IsValid() || network.Addr().String() != router.entry.Value || a.entry.Block != router.entry.Block ||
			a.file != router.file {
			continue
		}
		k.reportIn(router.file, router.entry, finding{code: "conflict", severity: Warning, value: true, sources: []string{"route(8)", "rc.conf(5)"},
			message: fmt.Sprintf("defaultrouter is %s, the host's own address on %s", router.entry.Value, a.entry.Iface),
			because: "The default router must be another host on the network; with its own address here, nothing reaches other networks."})
		return
	}
}

// networks returns the IPv4 networks of the host by the lines of ifconfig in rc.conf; clear is false when other lines
// or programs may bring more.
func (k *checker) networks() (networks []netip.Prefix, lines int, clear bool) {
	if k.switchedOn("ppp_enable") || k.switchedOn("wireguard_enable") {
		return nil, 0, false
	}
	for name := range k.expanding {
		if strings.HasPrefix(name, "ifconfig_") {
			return nil, 0, false
		}
	}
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		b := k.set[key]
		name := b.entry.Name
		if b.kind != conffile.RC || b.entry.Has(conffile.Part) {
			continue
		}
		for _, other := range []string{"ipv4_addrs_", "wlans_", "autobridge_", "openvpn_", "zerotier_", "tailscaled_", "mpd_"} {
			if strings.HasPrefix(name, other) {
				return nil, 0, false
			}
		}
		if !strings.HasPrefix(name, "ifconfig_") {
			continue
		}
		network, clear := networkOf(b.entry)
		if !clear {
			return nil, 0, false
		}
		if lines++; network.IsValid() && network.Bits() < 32 {
			networks = append(networks, network)
		}
	}
	return networks, lines, true
}

// listOf names the first networks.
func listOf(networks []netip.Prefix) string {
	var names []string
	for _, n := range networks[:min(len(networks), 4)] {
		names = append(names, n.Masked().String())
	}
	return strings.Join(names, ", ")
}

// routerOf returns the router in the arguments of route(8), "" when they name an interface or a table.
func routerOf(arguments string) string {
	var plain []string
	words := strings.Fields(arguments)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-net" || w == "-host" || w == "-inet":
		case w == "-netmask" || w == "-mtu":
			i++
		case strings.HasPrefix(w, "-"):
			return ""
		default:
			plain = append(plain, w)
		}
	}
	if len(plain) < 2 {
		return ""
	}
	return plain[1]
}

// judgeNetworkAddress reports an interface that has the first or the last address of its network.
func (k *checker) judgeNetworkAddress() {
	for a := range k.ifconfigLines() {
		network, clear := networkOf(a.entry)
		if !clear || !network.IsValid() || network.Bits() > 30 || network.Bits() == 0 || network.Addr().IsUnspecified() {
			continue
		}
		what, next := "the address of the network itself", network.Addr().Next()
		if network.Masked().Addr() != network.Addr() {
			what, next = "the broadcast address of its network", network.Addr().Prev()
			if network.Contains(network.Addr().Next()) {
				continue
			}
		}
		k.reportIn(a.file, a.entry, finding{code: "harmful", severity: Warning, value: true,
			sources: []string{"RFC 1122, 3.2.1.3", "ifconfig(8), broadcast"},
			message: fmt.Sprintf("%s gives %s %s, which is %s (%s)", a.entry.Name, a.entry.Iface, network.Addr(), what,
				network.Masked()),
			because: fmt.Sprintf("Other hosts send nothing to it, or to all of the network; %s is one of a host.", next)})
	}
}

// networkOf returns the IPv4 network of a line of ifconfig, none for a line without an address; clear is false when
// the line does not say all of it.
func networkOf(e conffile.Entry) (network netip.Prefix, clear bool) {
	words := strings.Fields(e.Value)
	device := strings.TrimRight(e.Iface, "0123456789")
	if e.Has(conffile.Expands|conffile.Conditional) || slices.Contains(pointToPoint, device) && device != "lo" ||
		device == "wg" || slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(strings.ToUpper(w), "DHCP") || w == "ether" || w == "link"
	}) {
		return network, len(words) > 0 && (words[0] == "ether" || words[0] == "link")
	}
	i := slices.IndexFunc(words, func(w string) bool {
		address, _, _ := strings.Cut(w, "/")
		at, err := netip.ParseAddr(address)
		return err == nil && at.Is4()
	})
	if i < 0 {
		return network, !slices.Contains(words, "inet")
	}
	if strings.Contains(words[i], "/") {
		network, err := netip.ParsePrefix(words[i])
		return network, err == nil
	}
	at := slices.Index(words, "netmask")
	if at < 0 || at+1 == len(words) {
		return network, false
	}
	bits, ok := facts.MaskBits(words[at+1])
	return netip.PrefixFrom(netip.MustParseAddr(words[i]), bits), ok
}
