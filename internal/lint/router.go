package lint

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
)

// judgeRouter reports a default router that is in no network of the host, when rc.conf says all of its networks.
func (k *checker) judgeRouter() {
	a := k.assigned("defaultrouter")
	if a == nil || a.kind != conffile.RC || a.entry.Has(conffile.Expands|conffile.Conditional) {
		return
	}
	router, err := netip.ParseAddr(a.entry.Value)
	if err != nil || !router.Is4() || k.switchedOn("ppp_enable") || k.switchedOn("wireguard_enable") {
		return
	}
	var networks []string
	lines := 0
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		b := k.set[key]
		if b.kind != conffile.RC || b.entry.Has(conffile.Part) {
			continue
		}
		if strings.HasPrefix(b.entry.Name, "ipv4_addrs_") || strings.HasPrefix(b.entry.Name, "wlans_") ||
			strings.HasPrefix(b.entry.Name, "autobridge_") ||
			strings.HasPrefix(b.entry.Name, "route_") && strings.Contains(b.entry.Value, "-i") {
			return
		}
		if !strings.HasPrefix(b.entry.Name, "ifconfig_") {
			continue
		}
		network, clear := networkOf(b.entry)
		if !clear || network.Contains(router) {
			return
		}
		lines++
		if network.IsValid() && network.Bits() < 31 {
			networks = append(networks, network.Masked().String())
		}
	}
	message := fmt.Sprintf("defaultrouter = %s is in none of the networks of the interfaces (%s)", a.entry.Value,
		strings.Join(networks[:min(len(networks), 4)], ", "))
	switch {
	case lines == 0:
		return
	case len(networks) == 0:
		message = fmt.Sprintf("defaultrouter = %s, and no line of ifconfig gives an interface an address", a.entry.Value)
	}
	k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true,
		sources: []string{"rc.conf(5), defaultrouter", "route(8)"},
		message: message,
		because: "The kernel refuses a router that it cannot reach directly, so that the host has no default route."})
}

// judgeNetworkAddress reports an interface that has the first or the last address of its network.
func (k *checker) judgeNetworkAddress() {
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		a := k.set[key]
		if a.kind != conffile.RC || a.entry.Has(conffile.Part) || !strings.HasPrefix(a.entry.Name, "ifconfig_") {
			continue
		}
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
	bits, ok := maskBits(words[at+1])
	return netip.PrefixFrom(netip.MustParseAddr(words[i]), bits), ok
}

// maskBits is the length of the prefix of a netmask: 255.255.255.0 or 0xffffff00.
func maskBits(mask string) (bits int, ok bool) {
	var n uint32
	if at, err := netip.ParseAddr(mask); err == nil && at.Is4() {
		for _, b := range at.As4() {
			n = n<<8 | uint32(b)
		}
	} else {
		hex, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(mask), "0x"), 16, 32)
		if err != nil || !strings.HasPrefix(strings.ToLower(mask), "0x") {
			return 0, false
		}
		n = uint32(hex)
	}
	for bits < 32 && n&(1<<31) != 0 {
		bits, n = bits+1, n<<1
	}
	return bits, n == 0
}
