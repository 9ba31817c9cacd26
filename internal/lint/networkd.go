package lint

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// networkdText has the options of .network and .netdev files by their sections, without [Match] and [Link]: those of
// systemd-networkd 252, and newer ones from its manual.
//
//go:embed networkd.txt
var networkdText string

// networkdSections are the options of each section.
var networkdSections = sync.OnceValue(func() map[string][]string {
	sections := map[string][]string{}
	for line := range strings.Lines(networkdText) {
		name, options, _ := strings.Cut(line, ":")
		sections[name] = strings.Fields(options)
	}
	return sections
})

// steady are sections that get no new options from release to release.
var steady = []string{"NetDev", "Bond", "VLAN", "Tun", "Tap", "VRF"}

// networkd judges the name of an option in a section of a .network or .netdev file.
func networkd(section, option string) *finding {
	sections := networkdSections()
	told := func(severity Severity, message string) *finding {
		return &finding{code: "unknown-key", severity: severity, sources: []string{"systemd.network(5)", "systemd.netdev(5)"},
			because: "systemd-networkd logs a warning and ignores the line.", message: message}
	}
	known, exists := sections[section]
	switch {
	case strings.HasPrefix(section, "X-") || slices.Contains(known, option):
		return nil
	case !exists:
		near := slipFrom(section, slices.Sorted(maps.Keys(sections)))
		if near == "" {
			return nil
		}
		return told(Warning, fmt.Sprintf("%s is in a section [%s], which does not exist; did you mean [%s]?", option, section, near))
	}
	if near := slipFrom(option, known); near != "" {
		f := told(Warning, option+" does not exist; did you mean "+near+"?")
		f.fix = &Fix{Kind: FixRename, To: near, Reason: f.message}
		return f
	}
	if homes := homesOf(option); len(homes) > 0 {
		f := told(Warning, fmt.Sprintf("%s is an option of %s, not of [%s]", option, strings.Join(homes, " and "), section))
		f.code = "wrong-file"
		return f
	}
	f := told(Info, fmt.Sprintf("%s is not a known option of [%s]", option, section))
	f.because += " A newer systemd may have it."
	if slices.Contains(steady, section) {
		f.severity = Warning
	}
	if section == "Bond" && option == "Primary" {
		f.message += ": write PrimarySlave=yes in [Network] of the member's .network file"
	}
	return f
}

// bondTimes are times of bonds, with the least plain number that is hardly meant as seconds.
var bondTimes = map[string]int{"MIIMonitorSec": 10, "ARPIntervalSec": 10, "UpDelaySec": 100, "DownDelaySec": 100}

// bondSeconds reports a time of a bond that was written in milliseconds, as the driver's own options are.
func bondSeconds(e conffile.Entry, section, option string) *finding {
	least := bondTimes[option]
	n, err := strconv.Atoi(e.Value)
	if section != "Bond" || least == 0 || err != nil || n < least {
		return nil
	}
	return &finding{code: "wrong-unit", severity: Warning, value: true, sources: []string{"systemd.netdev(5), [Bond]", "systemd.time(7)"},
		message: fmt.Sprintf("%s = %d is %d seconds: write %dms for milliseconds", option, n, n, n),
		because: "A number without a unit is of seconds here, while the options of the bonding driver count milliseconds.",
		fix:     &Fix{Kind: FixValue, Text: fmt.Sprintf("%dms", n), Reason: "milliseconds"}}
}

// slipFrom returns the first of some names that is spelt almost as a word, or is the word with its unit, "" without one.
func slipFrom(word string, names []string) string {
	i := slices.IndexFunc(names, func(name string) bool {
		return strings.EqualFold(name, word) || name == word+"Bytes" || name == word+"Sec" || len(name) > 5 && spelling.Edits(name, word) <= 2
	})
	if i < 0 {
		return ""
	}
	return names[i]
}

// homesOf are the sections, at most three, that have an option; those of queueing disciplines are no place for others'.
func homesOf(option string) (homes []string) {
	if _, link := networkLinkKeys()[option]; link {
		homes = append(homes, "[Link]")
	}
	sections := networkdSections()
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if slices.Contains(sections[name], option) && !slices.Contains(sections[name], "Parent") {
			homes = append(homes, "["+name+"]")
		}
	}
	if len(homes) > 3 {
		return nil
	}
	return homes
}

// rememberNetdev keeps what says which kind of device a name is, which device others join, and addresses with gateways.
func (k *checker) rememberNetdev(e conffile.Entry) {
	switch e.Name {
	case "network-file:NetDev/Name", "network-file:NetDev/Kind", "network-file:Network/Bridge", "network-file:Network/Bond",
		"network-file:Network/DHCP", "network-file:Network/Address", "network-file:Address/Address",
		"network-file:Network/Gateway", "network-file:Route/Gateway":
		if len(k.netdevs) < cacheLimit {
			k.netdevs = append(k.netdevs, k.here(e))
		}
	}
}

// judgeMasters reports a device that joins a bond as the port of a bridge, or the other way round.
func (k *checker) judgeMasters() {
	kinds := map[string]string{} // of devices, of which the two lines stand beside each other
	for i, a := range k.netdevs[:max(len(k.netdevs)-1, 0)] {
		b := k.netdevs[i+1]
		name, kind := a.entry, b.entry
		if name.Key == "Kind" {
			name, kind = kind, name
		}
		if a.file == b.file && a.entry.Block == b.entry.Block && name.Key == "Name" && kind.Key == "Kind" {
			kinds[name.Value] = kind.Value
		}
	}
	for _, a := range k.netdevs {
		kind := kinds[a.entry.Value]
		if a.entry.Key == "Name" || a.entry.Key == "Kind" || kind == "" || strings.EqualFold(kind, a.entry.Key) ||
			kind != "bond" && kind != "bridge" {
			continue
		}
		option := strings.ToUpper(kind[:1]) + kind[1:]
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, sources: []string{"systemd.network(5), Bond=, Bridge="},
			message: fmt.Sprintf("%s is a %s: write %s=%s", a.entry.Value, kind, option, a.entry.Value),
			fix:     &Fix{Kind: FixRename, To: option, Reason: a.entry.Value + " is a " + kind},
			because: "systemd-networkd does not add the interface to a device of another kind, so it joins nothing."})
	}
}

// directly is a line by which an address outside of the interface's networks is on its link.
var directly = regexp.MustCompile(`(?m)^[ \t]*(?:Peer|GatewayOnLink|Scope)[ \t]*=`)

// judgeNetworkGateways reports gateways outside of the networks of interfaces whose addresses are all given.
func (k *checker) judgeNetworkGateways() {
	type network struct {
		place
		iface string
	}
	of := func(a *assignment) network { return network{place{a.file, a.entry.Block}, a.entry.Iface} }
	networks := map[network][]string{}
	dynamic := map[network]bool{}
	for _, a := range k.netdevs {
		switch on, isSwitch := truth(a.entry.Value); {
		case a.entry.Key == "DHCP":
			dynamic[of(a)] = !isSwitch && a.entry.Value != "ipv6" || on == 1
		case a.entry.Key == "Address" && !strings.Contains(a.entry.Value, ":"):
			networks[of(a)] = append(networks[of(a)], a.entry.Value)
		}
	}
	for _, a := range k.netdevs {
		if a.entry.Key == "Gateway" && !dynamic[of(a)] && !directly.MatchString(a.file.text) && !strings.Contains(a.entry.Value, ":") {
			k.judgeOutside(a.file, a.entry, networks[of(a)], refusedOutside, "systemd.network(5), Gateway=",
				"torvalds/linux v6.12 net/ipv4/fib_semantics.c, fib_check_nh_v4_gw")
		}
	}
}
