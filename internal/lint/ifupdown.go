package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
)

// place is where the lines stand that are about the same interfaces: a file, or one example of a guide.
type place struct {
	file  *source
	block int
}

// place is where a stanza stands.
func (s *stanza) place() place { return place{s.file, s.method.Block} }

// stanza is an iface of ifupdown's interfaces with its options.
type stanza struct {
	file    *source
	method  conffile.Entry // interfaces:inet and its method
	options []conffile.Entry
}

// option returns the first option of one of these names.
func (s *stanza) option(names ...string) *conffile.Entry {
	for i := range s.options {
		if slices.Contains(names, strings.TrimPrefix(s.options[i].Name, "interfaces:")) {
			return &s.options[i]
		}
	}
	return nil
}

// ifupdown remembers the stanzas of an interfaces file, and finds a placeholder that
// was left in one.
func (k *checker) ifupdown(e conffile.Entry) *finding {
	name, ok := strings.CutPrefix(e.Name, "interfaces:")
	if !ok || k.kindOf(e) != conffile.Interfaces {
		return nil
	}
	if name == "inet" || name == "inet6" {
		if len(k.stanzas) < cacheLimit {
			k.stanzas = append(k.stanzas, &stanza{file: k.file, method: e})
		}
		return nil
	}
	if n := len(k.stanzas) - 1; n >= 0 && k.stanzas[n].place() == (place{k.file, e.Block}) && k.stanzas[n].method.Iface == e.Iface &&
		len(k.stanzas[n].options) < cacheLimit {
		k.stanzas[n].options = append(k.stanzas[n].options, e)
	}
	if k.file.kind != conffile.Other && len(e.Value) > 2 && e.Value[0] == '<' && e.Value[len(e.Value)-1] == '>' {
		return &finding{code: "bad-value", severity: Error, value: true, sources: []string{"interfaces(5)"},
			message: fmt.Sprintf("%s is still the placeholder %s", e.Key, e.Value), because: "ifup fails at this interface."}
	}
	return nil
}

// judgeStanzas judges stanzas by themselves and beside each other.
func (k *checker) judgeStanzas() {
	type port struct {
		place
		name string
	}
	ports := map[port]*stanza{} // the bridge or the bond of each port
	for _, s := range k.stanzas {
		if o := s.option("bridge-ports", "bridge_ports", "bond-slaves", "bond_slaves"); o != nil {
			for _, name := range strings.Fields(o.Value) {
				ports[port{s.place(), name}] = s
			}
		}
	}
	for _, s := range k.stanzas {
		family := strings.TrimPrefix(s.method.Name, "interfaces:")
		method := s.method.Value
		if o := s.option("address", "netmask", "gateway"); o != nil && method == "dhcp" {
			k.reportIn(s.file, *o, finding{code: "no-effect",
				severity: Warning, sources: []string{"interfaces(5), the dhcp method"},
				message: fmt.Sprintf("%s has no effect with the method dhcp, by which %s gets its address", o.Key, s.method.Iface),
				because: "ifup takes the address from the DHCP server. A fixed address " +
					"needs the method static."})
		}
		master := ports[port{s.place(), s.method.Iface}]
		if master != nil && master != s && family == "inet" && (method == "dhcp" || method == "static") {
			k.reportIn(s.file, s.method, ownAddress(s.method.Iface, master.method.Iface))
		}
		k.judgeBondOptions(s)
	}
}

// bondOptions are options of the bonding driver that no other script of ifupdown has.
var bondOptions = []string{"ad-select", "ad-actor-sys-prio", "ad-actor-system", "lacp-rate", "xmit-hash-policy",
	"miimon", "downdelay",
	"updelay", "fail-over-mac", "min-links", "primary-reselect", "arp-interval", "arp-ip-target",
	"lp-interval", "tlb-dynamic-lb"}

// judgeBondOptions reports options of a bond that lack the prefix by which they are known.
func (k *checker) judgeBondOptions(s *stanza) {
	if !slices.ContainsFunc(s.options, func(o conffile.Entry) bool {
		return strings.HasPrefix(o.Name, "interfaces:bond-") || strings.HasPrefix(o.Name, "interfaces:bond_")
	}) {
		return
	}
	for _, o := range s.options {
		name := strings.ReplaceAll(strings.TrimPrefix(o.Name, "interfaces:"), "_", "-")
		if !slices.Contains(bondOptions, name) {
			continue
		}
		k.reportIn(s.file, o, finding{code: "no-effect", severity: Warning,
			sources: []string{"Debian ifenslave, if-pre-up.d/ifenslave (IF_BOND_*)", "ifupdown2 addons/bond.py"},
			message: fmt.Sprintf("%s is not read: the option is bond-%s", o.Key, name),
			fix:     &Fix{Kind: FixRename, To: "bond-" + name, Reason: "bond options begin with bond-"},
			because: "The scripts that set up bonds read options that begin with bond-; ifup takes any other " +
				"name and nothing uses it."})
	}
}
