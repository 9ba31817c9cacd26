package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
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
