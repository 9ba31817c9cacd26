package lint

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	netplanSource = []string{"canonical/netplan src/parse.c, src/validation.c", "netplan(5)"}
	memberSource  = []string{"torvalds/linux v6.12 drivers/net/bonding/bond_main.c, bond_enslave",
		"torvalds/linux v6.12 net/bridge/br_forward.c, br_dev_queue_push_xmit"}
)

// planned is a line of netplan's that says how interfaces go together.
type planned struct {
	file  *source
	entry conffile.Entry
}

// netplan remembers a line that says how interfaces go together, and finds an address
// without its prefix; is is false for any other line.
func (k *checker) netplan(e conffile.Entry) (f *finding, is bool) {
	name, is := strings.CutPrefix(e.Name, "netplan:")
	if !is {
		return nil, false
	}
	if len(k.plans) < cacheLimit {
		k.plans = append(k.plans, planned{k.file, e})
	}
	if name == "version" && e.Value != "2" && e.Value != "" && !isTemplate(e.Value) {
		return &finding{code: "bad-value", severity: Error, value: true, sources: netplanSource,
			message: "netplan accepts only version 2 of its format, not " + e.Value,
			because: "netplan refuses the whole file: \"Only version 2 is supported\"."}, true
	}
	if _, err := netip.ParseAddr(e.Value); name == "addresses" && err == nil {
		return &finding{code: "bad-value", severity: Error, value: true, sources: netplanSource,
			message: fmt.Sprintf("the address %s lacks its prefix, such as %s/24", e.Value, e.Value),
			because: "netplan refuses the whole file: \"address is missing /prefixlength\"."}, true
	}
	return nil, true
}

// ofPlans returns the remembered lines of these names.
func (k *checker) ofPlans(names ...string) (lines []planned) {
	for _, p := range k.plans {
		if slices.Contains(names, strings.TrimPrefix(p.entry.Name, "netplan:")) {
			lines = append(lines, p)
		}
	}
	return lines
}

// judgeNetplan judges the interfaces of netplan's files beside each other.
func (k *checker) judgeNetplan() {
	if len(k.plans) == 0 {
		return
	}
	if described, all := k.described(); all {
		for _, p := range k.ofPlans("link", "interfaces") {
			if !described[p.entry.Value] {
				k.judgeNamed(p)
			}
		}
	}
	for _, p := range k.ofPlans("interfaces") {
		k.judgeMember(p.entry.Block, p.entry.Value, p.entry.Iface)
	}
	k.judgeOwnAddresses()
	for _, p := range k.ofPlans("bonds") {
		k.judgeUnwatched(p)
	}
	k.judgeDefaults()
	k.judgeVia()
}

// described are the interfaces that netplan's files describe; all is false when there may be
// files that were not given.
func (k *checker) described() (names map[string]bool, all bool) {
	names = map[string]bool{}
	files := map[string]*source{}
	for _, p := range k.plans {
		files[path.Base(p.file.path)] = p.file
		if p.entry.Iface == p.entry.Key {
			names[p.entry.Iface] = true
		}
	}
	for _, f := range files {
		if f.kind != conffile.Netplan {
			return names, false
		}
		for _, beside := range f.beside {
			if files[beside] == nil && (strings.HasSuffix(beside, ".yaml") || strings.HasSuffix(beside, ".yml")) {
				return names, false
			}
		}
	}
	return names, true
}

// judgeNamed reports a name of an interface that no file describes.
func (k *checker) judgeNamed(p planned) {
	name := p.entry.Value
	if name == "" || strings.ContainsAny(name, "{}$[]<>*&") {
		return
	}
	k.reportIn(p.file, p.entry, finding{code: "needs", severity: Warning, value: true, sources: netplanSource,
		message: fmt.Sprintf("%s names the interface %s, which is not defined", p.entry.Iface, name),
		because: "netplan refuses the file: \"interface is not defined\". An interface without options must be " +
			"defined too, as " + name + ": {}."})
}

// judgeMember reports a port or a member that cannot send what its bridge or bond does.
func (k *checker) judgeMember(block int, port, master string) {
	below, above := k.mtus[inBlock{block, port}], k.mtus[inBlock{block, master}]
	if below == nil || above == nil {
		return
	}
	member, err := strconv.Atoi(below.entry.Value)
	whole, bad := strconv.Atoi(above.entry.Value)
	if err != nil || bad != nil || member >= whole {
		return
	}
	k.reportIn(below.file, below.entry, finding{code: "conflict", severity: Warning, value: true, sources: memberSource,
		message: fmt.Sprintf("the MTU of %s, %d, is below that of %s, %d, whose packets it sends (%s:%d)",
			port, member, master, whole, above.file.path, above.entry.Line),
		because: "A bond sets the MTU of its members when they join, and the value set last applies. If that is the smaller " +
			"one, as with a bridge port, larger packets are lost on this link."})
}

// judgeOwnAddresses reports members of bonds and bridges that have addresses.
func (k *checker) judgeOwnAddresses() {
	masters := map[inBlock]string{}
	for _, p := range k.ofPlans("interfaces") {
		masters[inBlock{p.entry.Block, p.entry.Value}] = p.entry.Iface
	}
	for _, p := range k.ofPlans("addresses", "dhcp4", "dhcp6") {
		of := inBlock{p.entry.Block, p.entry.Iface}
		on, isSwitch := truth(p.entry.Value)
		if master := masters[of]; master != "" && (!isSwitch || on == 1) {
			k.reportIn(p.file, p.entry, ownAddress(p.entry.Iface, master))
			delete(masters, of)
		}
	}
}

// ownAddress is the finding of an address of a bond's or a bridge's member.
func ownAddress(port, master string) finding {
	return finding{code: "conflict", severity: Warning, value: true, sources: []string{"bridge-utils-interfaces(5)",
		"torvalds/linux v6.12 Documentation/networking/bonding.rst, Potential Sources of Trouble"},
		message: fmt.Sprintf("%s has its own address although it is a member of %s", port, master),
		because: "Packets that arrive at a member are passed to its bond or bridge, so the member's own address answers " +
			"through another interface or not at all. Configure addresses and DHCP on the bond or bridge only."}
}

// judgeUnwatched reports a bond that does not notice when a link loses its carrier.
func (k *checker) judgeUnwatched(p planned) {
	if strings.Contains(p.file.text, "NetworkManager") || strings.Contains(p.file.text, "openvswitch") {
		return // which have defaults of their own
	}
	var options map[string]conffile.Entry
	for _, b := range k.bonds { // which are few
		if b.name == p.entry.Iface && b.of.block == p.entry.Block && options == nil {
			options = b.of.options
		}
	}
	_, mii := options["miimon"]
	_, arp := options["arp_interval"]
	mode := options["mode"]
	if mii || arp || mode.Value == "" || !slices.Contains(bondModes[:4], mode.Value) {
		return // the driver looks at the links of the other modes every 100 ms
	}
	k.reportIn(p.file, mode, finding{code: "needs", severity: Warning, value: true,
		sources: append([]string{"torvalds/linux v6.12 drivers/net/bonding/bond_options.c, bond_option_mode_set"}, netplanSource...),
		message: fmt.Sprintf("%s does not monitor its links: mii-monitor-interval is not set", p.entry.Iface),
		because: "Without it, and without arp-interval, a bond of this mode keeps sending over a link without " +
			"carrier. Write mii-monitor-interval: 100."})
}

// judgeDefaults reports routes to all destinations of which only one can count.
func (k *checker) judgeDefaults() {
	first := map[inBlock]planned{} // by what tells the routes apart
	inVRF := map[string]bool{}
	for _, p := range k.ofPlans("vrfs") {
		inVRF[p.entry.Iface] = true
	}
	for _, p := range k.ofPlans("default", "gateway4", "gateway6") {
		of := p.entry.Value
		switch p.entry.Name {
		case "netplan:gateway4":
			of = ""
		case "netplan:gateway6":
			of = "IPv6"
		}
		before, second := first[inBlock{p.entry.Block, of}]
		switch {
		case inVRF[p.entry.Iface]:
		case !second:
			first[inBlock{p.entry.Block, of}] = p
		default:
			k.reportIn(p.file, p.entry, finding{code: "conflict", severity: Warning, sources: netplanSource,
				message: fmt.Sprintf("%s has a second default route with the same table and metric; the first is on %s (%s:%d)",
					p.entry.Iface, before.entry.Iface, before.file.path, before.entry.Line),
				because: "netplan warns about conflicting default routes, and only one of them is used. Give one " +
					"a higher metric:, or its own table: with a routing-policy."})
		}
	}
	for _, p := range k.ofPlans("gateway4", "gateway6") {
		k.reportIn(p.file, p.entry, finding{code: "renamed", severity: Warning, sources: netplanSource,
			message: fmt.Sprintf("%s is deprecated: write routes: with to: default, via: %s", p.entry.Key, p.entry.Value),
			because: "netplan still accepts it, but warns at each start."})
	}
}

// direct is a route to what is on the link itself, also outside of the interface's networks, or the renderer that adds one.
var direct = regexp.MustCompile(`(?m)^[ \t-]*(?:(?:on-link|scope):[ \t]*(?:true|yes|on|"?link)|renderer:[ \t]*"?NetworkManager)`)

// judgeVia reports gateways outside of the networks of interfaces whose addresses are all given.
func (k *checker) judgeVia() {
	networks := map[inBlock][]string{}
	dynamic := map[inBlock]bool{}
	for _, p := range k.ofPlans("addresses", "dhcp4") {
		of := inBlock{p.entry.Block, p.entry.Iface}
		if on, isSwitch := truth(p.entry.Value); isSwitch {
			dynamic[of] = dynamic[of] || on == 1
		} else if !strings.Contains(p.entry.Value, ":") {
			networks[of] = append(networks[of], p.entry.Value)
		}
	}
	for _, p := range k.ofPlans("gateway4", "via") {
		of := inBlock{p.entry.Block, p.entry.Iface}
		if !dynamic[of] && !direct.MatchString(p.file.text) && !strings.Contains(p.entry.Value, ":") {
			k.judgeOutside(p.file, p.entry, networks[of], refusedOutside, netplanSource...)
		}
	}
}

// links are the interfaces that netplan's VLANs lie on.
func (k *checker) links() map[inBlock]string {
	parents := map[inBlock]string{}
	for _, p := range k.ofPlans("link") {
		parents[inBlock{p.entry.Block, p.entry.Iface}] = p.entry.Value
	}
	return parents
}
