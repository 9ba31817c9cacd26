package lint

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// judgeGateways reports the second gateway of a file of ifupdown's, among the interfaces
// that come up at boot.
func (k *checker) judgeGateways() {
	type gateway struct {
		place
		family string
	}
	first := map[gateway]conffile.Entry{}
	atBoot := map[*source]map[string]bool{}
	for _, s := range k.stanzas {
		g := s.option("gateway")
		k.outsideGateway(s, g)
		if g == nil || s.option("metric") != nil || s.method.Value != "static" || g.Has(conffile.Expands) || isTemplate(g.Value) {
			continue
		}
		if atBoot[s.file] == nil {
			atBoot[s.file] = automatic(s.file.text)
		}
		of := gateway{s.place(), s.method.Name}
		before, second := first[of]
		switch {
		case !atBoot[s.file][s.method.Iface]:
		case !second:
			first[of] = *g
		case before.Iface != g.Iface:
			k.reportIn(s.file, *g, finding{code: "conflict", severity: Warning,
				sources: []string{"interfaces(5), gateway, metric", "Debian ifupdown inet.defn (ip route add default)"},
				message: fmt.Sprintf("%s has a gateway, and %s has one already (line %d)", g.Iface, before.Iface, before.Line),
				because: "A gateway is a default route, and the kernel refuses the second one of the same metric; what only " +
					"leads to some networks is a route to them, by up ip route add, or has a metric of its own."})
		}
	}
}

// leadsTo is a command that gives an interface addresses or routes besides those of its stanza.
var leadsTo = regexp.MustCompile(`(?m)^[ \t]*(?:pre-|post-)?up[ \t].*\b(?:(?:ip|ifconfig|route)[ \t].*\b(?:add|replace|append)|ifconfig)\b`)

// outsideGateway reports a private gateway outside of the private networks of its interface. Public ones are often
// meant: hosters give single addresses whose router is in another network, and ifup adds the route with onlink.
func (k *checker) outsideGateway(s *stanza, g *conffile.Entry) {
	if g == nil || s.method.Value != "static" || s.method.Name != "interfaces:inet" || leadsTo.MatchString(s.file.text) {
		return
	}
	var networks []string
	for _, other := range k.stanzas {
		if other.place() == s.place() && other.method.Iface == s.method.Iface && other.method.Name == s.method.Name {
			networks = append(networks, other.network())
		}
	}
	k.judgeOutside(s.file, *g, networks, "Unless the router there answers for this address too, nothing leaves the network",
		"interfaces(5), gateway", "Debian ifupdown inet.defn")
}

// refusedOutside is what comes of a route through such a gateway that is not said to be on the link (fib_check_nh_v4_gw).
const refusedOutside = "The kernel refuses the route: \"Nexthop has invalid gateway\""

// judgeOutside reports a private gateway that is in none of the networks of its interface, which are all plainly
// private and of several hosts, and what comes of it.
func (k *checker) judgeOutside(file *source, g conffile.Entry, networks []string, because string, sources ...string) {
	gateway, err := netip.ParseAddr(g.Value)
	if err != nil || !gateway.IsPrivate() || len(networks) == 0 {
		return
	}
	shown := make([]string, len(networks))
	for i, text := range networks {
		n, err := netip.ParsePrefix(text)
		if err != nil || !n.Addr().IsPrivate() || n.Bits() < 8 || n.Bits() > 30 || n.Contains(gateway) {
			return
		}
		shown[i] = n.Masked().String()
	}
	k.reportIn(file, g, finding{code: "conflict", severity: Warning, value: true, sources: sources,
		message: fmt.Sprintf("the gateway %s is not in the network of %s, %s", g.Value, g.Iface, strings.Join(shown, " and ")),
		because: "The host reaches a gateway only on the network of the interface. " + because +
			". Check the address, its prefix and the gateway."})
}

// network is a stanza's address with the length of its prefix, "" without one.
func (s *stanza) network() string {
	address, mask := s.option("address"), s.option("netmask")
	if address == nil || s.option("pointopoint", "scope") != nil {
		return ""
	}
	text := address.Value
	if mask != nil && !strings.Contains(text, "/") {
		bits := mask.Value
		if m := net.ParseIP(bits).To4(); m != nil {
			ones, _ := net.IPMask(m).Size()
			bits = fmt.Sprint(ones)
		}
		text += "/" + bits
	}
	return text
}

// automatic are the interfaces that come up at boot.
func automatic(text string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(line)
		if len(words) > 1 && slices.Contains([]string{"auto", "allow-auto", "allow-hotplug"}, words[0]) {
			for _, name := range words[1:] {
				names[name] = true
			}
		}
	}
	return names
}

// judgeStanzaPorts reports members of bonds and ports of bridges that cannot send what these do.
func (k *checker) judgeStanzaPorts() {
	type member struct {
		place
		name string
	}
	told := map[member]bool{}
	judge := func(s *stanza, port, master string) {
		if m := (member{s.place(), port}); !told[m] {
			told[m] = true
			k.judgeMember(s.method.Block, port, master)
		}
	}
	for _, s := range k.stanzas {
		if o := s.option("bond-master", "bond_master"); o != nil {
			judge(s, s.method.Iface, o.Value)
		}
		for _, names := range [][]string{{"bridge-ports", "bridge_ports"}, {"bond-slaves", "bond_slaves"}} {
			if o := s.option(names...); o != nil {
				for _, port := range strings.Fields(o.Value) {
					judge(s, port, s.method.Iface)
				}
			}
		}
	}
}
