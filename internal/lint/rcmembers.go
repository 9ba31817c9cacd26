package lint

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// judgePrefixes reports addresses of ifconfig that there are not.
func (k *checker) judgePrefixes() {
	for a := range k.ifconfigLines() {
		if a.entry.Has(conffile.Expands) {
			continue
		}
		for _, w := range strings.Fields(a.entry.Value) {
			address, bits, masked := strings.Cut(w, "/")
			n, err := strconv.Atoi(bits)
			at, wrong := netip.ParseAddr(address)
			most := 32
			if wrong == nil && at.Is6() {
				most = 128
			}
			message := ""
			switch {
			case strings.Count(address, ".") == 3 && strings.Trim(address, "0123456789.") == "" && wrong != nil:
				message = "each of the four numbers is at most 255"
			case masked && wrong == nil && err == nil && n > most:
				message = fmt.Sprintf("its prefix is at most /%d", most)
			default:
				continue
			}
			k.reportIn(a.file, a.entry, finding{code: "syntax", severity: Error, value: true, sources: []string{"ifconfig(8)"},
				message: fmt.Sprintf("%s has %s, which is not a valid address: %s", a.entry.Name, w, message),
				because: "ifconfig refuses it, so the interface has no address."})
			break
		}
	}
}

// virtualPorts are interfaces that come up when a program or a jail opens them.
var virtualPorts = []string{"tap", "tun", "epair", "vnet", "vether", "vxlan", "gif", "wlan", "vlan", "lagg", "bridge", "ng",
	"ngeth", "vmnet", "ue", "wg"}

// judgePorts reports ports of a lagg or a bridge that no line brings up.
func (k *checker) judgePorts() {
	if k.variables["ifconfig_DEFAULT"] || !k.variables["hostname"] {
		return // a part of a file may lack the line
	}
	for a := range k.ifconfigLines() {
		words := strings.Fields(a.entry.Value)
		if a.kind != conffile.RC || a.file.kind == conffile.Other || a.entry.Has(conffile.Expands|conffile.Conditional) {
			continue
		}
		for i := 0; i+1 < len(words); i++ {
			port := words[i+1]
			driver := strings.TrimRight(port, "0123456789")
			if words[i] != "laggport" && words[i] != "addm" || k.variables["ifconfig_"+port] ||
				k.variables["ifconfig_"+port+"_ipv6"] || driver == port ||
				slices.Contains(virtualPorts, driver) || strings.Trim(driver, "abcdefghijklmnopqrstuvwxyz") != "" {
				continue
			}
			k.reportIn(a.file, a.entry, finding{code: "needs", severity: Warning, value: true,
				sources: []string{"FreeBSD Handbook, Link Aggregation and Failover; Bridging: ifconfig_IF=\"up\"", "rc.conf(5)"},
				message: fmt.Sprintf("%s has the port %s, and no line sets ifconfig_%s=\"up\"", a.entry.Name, port, port),
				because: "Nothing brings the port up at boot, so that it carries no packets."})
			break
		}
	}
}

// judgeTagNumbers reports tags of VLANs that there are not, and VLANs with larger packets than their parent's.
func (k *checker) judgeTagNumbers() {
	lines := map[string]*assignment{}
	for a := range k.ifconfigLines() {
		lines[strings.TrimPrefix(a.entry.Name, "ifconfig_")] = a
	}
	for _, name := range slices.Sorted(maps.Keys(k.variables)) {
		parent, vlans := strings.CutPrefix(name, "vlans_")
		a := k.assigned(name)
		if !vlans || a == nil || a.kind != conffile.RC || a.entry.Has(conffile.Expands|conffile.Conditional) {
			continue
		}
		for _, tag := range strings.Fields(a.entry.Value) {
			n, err := strconv.Atoi(tag)
			if err == nil && (n < 1 || n > 4094) {
				k.reportIn(a.file, a.entry, finding{code: "out-of-range", severity: Error, value: true,
					sources: []string{"vlan(4)", "IEEE 802.1Q"},
					message: fmt.Sprintf("%s lists the tag %s: tags are 1 to 4094", name, tag),
					because: "The kernel makes no such VLAN."})
			}
			child := tag
			if err == nil {
				child = parent + "_" + tag
			}
			k.largerThanParent(parent, lines[parent], lines[child])
		}
	}
}

func (k *checker) largerThanParent(parent string, p, c *assignment) {
	if p == nil || c == nil || p.entry.Has(conffile.Expands) || c.entry.Has(conffile.Expands) {
		return
	}
	outer, inner := mtuOf(p.entry.Value, 1500), mtuOf(c.entry.Value, 0)
	if inner <= outer {
		return
	}
	k.reportIn(c.file, c.entry, finding{code: "conflict", severity: Warning, value: true,
		sources: []string{"freebsd-src sys/net/if_vlan.c, vlan_ioctl, SIOCSIFMTU"},
		message: fmt.Sprintf("%s sets mtu %d, and %s, which carries it, has %d (line %d)", c.entry.Name, inner, parent, outer,
			p.entry.Line),
		because: "The kernel refuses a VLAN larger packets than its parent's; set the parent's mtu first."})
}

// mtuOf is the MTU that a line of ifconfig sets.
func mtuOf(line string, standard int) int {
	words := strings.Fields(line)
	i := slices.Index(words, "mtu")
	if i < 0 || i+1 == len(words) {
		return standard
	}
	n, err := strconv.Atoi(words[i+1])
	if err != nil {
		return standard
	}
	return n
}

// companions are variables of rc.conf whose scripts another one runs, and exclusive those of daemons for one task.
var (
	companions = [][2]string{{"natd_enable", "firewall_enable"}, {"firewall_nat_enable", "firewall_enable"},
		{"dummynet_enable", "firewall_enable"}, {"firewall_nat64_enable", "firewall_enable"}}
	exclusive = [][]string{{"ntpd_enable", "openntpd_enable", "chronyd_enable"}, {"powerd_enable", "powerdxx_enable"},
		{"syslogd_enable", "rsyslogd_enable", "syslog_ng_enable"}, {"unbound_enable", "local_unbound_enable"}}
)

// judgeServices reports what is switched on without what starts it, and two daemons for one task.
func (k *checker) judgeServices() {
	for _, c := range companions {
		a, other := k.assigned(c[0]), k.assigned(c[1])
		if !k.switchedOn(c[0]) || a.file.kind != conffile.RC || k.switchedOn(c[1]) || other != nil && other.entry.Has(conffile.Expands) ||
			c[0] == "dummynet_enable" && k.switchedOn("pf_enable") {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "needs", severity: Warning, value: true,
			sources: []string{"freebsd-src libexec/rc/rc.d/ipfw, ipfw_prestart and firewall_coscripts"},
			message: fmt.Sprintf("%s does nothing without %s=\"YES\"", c[0], c[1]),
			because: "The script of ipfw alone looks at it, which does not run."})
	}
	for _, names := range exclusive {
		var first *assignment
		for _, name := range names {
			a := k.assigned(name)
			if !k.switchedOn(name) || a.kind != conffile.RC {
				continue
			}
			if first == nil {
				first = a
				continue
			}
			k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true,
				sources: []string{"rc.conf(5)"},
				message: fmt.Sprintf("%s and %s (line %d) start two daemons for one task", a.entry.Name, first.entry.Name,
					first.entry.Line),
				because: "The two work against each other, or the second one finds its port taken; switch one off."})
		}
	}
}

// judgeAttached reports routes to networks that an interface is attached to.
func (k *checker) judgeAttached() {
	attached := map[netip.Prefix]*assignment{}
	for a := range k.ifconfigLines() {
		if network, clear := networkOf(a.entry); clear && network.IsValid() && network.Bits() > 0 && network.Bits() < 32 {
			attached[network.Masked()] = a
		}
	}
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		a := k.set[key]
		words := strings.Fields(a.entry.Value)
		if a.kind != conffile.RC || !strings.HasPrefix(a.entry.Name, "route_") || a.entry.Has(conffile.Expands|conffile.Conditional) ||
			len(words) != 3 || words[0] != "-net" {
			continue
		}
		network, err := netip.ParsePrefix(words[1])
		if err != nil || attached[network.Masked()] == nil {
			continue
		}
		b := attached[network.Masked()]
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true, sources: []string{"route(8)", "rtsock(4): EEXIST"},
			message: fmt.Sprintf("%s is a route to %s, which %s is attached to (line %d)", a.entry.Name, network.Masked(), b.entry.Iface,
				b.entry.Line),
			because: "The address of the interface brings the route to its network, and the kernel refuses a second one."})
	}
}

// clonedBy are drivers whose interfaces have to be made, with the word of ifconfig that only they take.
var clonedBy = map[string]string{"lagg": "laggport", "bridge": "addm", "vlan": "vlandev"}

// anyVariable tells whether a variable of rc.conf begins with a prefix.
func (k *checker) anyVariable(prefix string) bool {
	for name := range k.variables {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// judgeCloned reports a lagg, a bridge or a VLAN that no line makes.
func (k *checker) judgeCloned() {
	list := k.assigned("cloned_interfaces")
	if k.variables["autobridge_interfaces"] || list != nil && (list.entry.Has(conffile.Append) || list.entry.Has(conffile.Expands)) {
		return
	}
	named, silent := k.namedInterfaces(), map[*source]bool{}
	for a := range k.ifconfigLines() {
		words, iface := strings.Fields(a.entry.Value), cmp.Or(named[a.entry.Iface], a.entry.Iface)
		driver := strings.TrimRight(iface, "0123456789")
		at := slices.Index(words, clonedBy[driver])
		if a.kind != conffile.RC || driver == iface || at < 0 || a.entry.Has(conffile.Expands|conffile.Conditional) ||
			driver == "vlan" && k.anyVariable("vlans_") || list != nil && slices.Contains(strings.Fields(list.entry.Value), iface) {
			continue
		}
		if !k.setsUpAll(a, words[at:], silent) {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "needs", severity: Warning,
			sources: []string{"rc.conf(5), cloned_interfaces", "libexec/rc/network.subr, clone_up"},
			message: fmt.Sprintf("nothing creates %s: cloned_interfaces does not list it", iface),
			because: "The rc scripts configure only interfaces that exist; cloned_interfaces=\"" + iface + "\" creates this one at boot."})
	}
}

// createsClones is what a guide says that makes interfaces.
var createsClones = regexp.MustCompile(`cloned_interfaces|\b(?:lagg|bridge|vlan)[0-9]* create\b`)

// setsUpAll reports a line of a file that is no part of one, or of a guide that is silent on how such interfaces come to
// be and sets up a member too; words begin with what stands before the member.
func (k *checker) setsUpAll(a *assignment, words []string, silent map[*source]bool) bool {
	if a.file.kind != conffile.Other {
		return k.variables["hostname"]
	}
	if _, known := silent[a.file]; !known {
		silent[a.file] = !createsClones.MatchString(a.file.text)
	}
	if !silent[a.file] || len(words) < 2 {
		return false
	}
	member := k.set["ifconfig_"+words[1]+"\x00"+words[1]]
	return member != nil && member.file == a.file && member.entry.Block == a.entry.Block
}

// namedInterfaces are the drivers' names of interfaces, by those that lines give them.
func (k *checker) namedInterfaces() map[string]string {
	named := map[string]string{}
	for _, a := range k.set {
		if before, ok := strings.CutSuffix(a.entry.Name, "_name"); ok && a.kind == conffile.RC {
			named[a.entry.Value] = strings.TrimPrefix(before, "ifconfig_")
		}
	}
	return named
}

// otherwiseMade are drivers of which cloned_interfaces alone makes no interface, with what does.
var otherwiseMade = map[string]struct{ instead, because, source string }{
	"carp": {`since 10.0 CARP is configured on an address: ifconfig_IF_aliasN="inet ADDRESS/32 vhid NUMBER pass PASSWORD"`,
		"carp interfaces no longer exist, so neither the interface nor its address is set up.", "carp(4)"},
	"wlan": {`a wlan interface belongs to a device: write wlans_DEVICE="%s", and create_args_%[1]s="wlanmode hostap" for an access point`,
		"ifconfig cannot create a wlan interface without its parent device.", "rc.conf(5), wlans_<parent-interface>"},
}

// judgeClones reports interfaces that cloned_interfaces lists and does not make.
func (k *checker) judgeClones() {
	a := k.assigned("cloned_interfaces")
	if a == nil || a.kind != conffile.RC || a.entry.Has(conffile.Expands) {
		return
	}
	for _, iface := range strings.Fields(a.entry.Value) {
		driver := strings.TrimRight(iface, "0123456789")
		made, otherwise := otherwiseMade[driver]
		if args := k.assigned("create_args_" + iface); !otherwise || args != nil && strings.Contains(args.entry.Value, "wlandev") {
			continue
		}
		if strings.Contains(made.instead, "%") {
			made.instead = fmt.Sprintf(made.instead, iface)
		}
		k.reportIn(a.file, a.entry, finding{code: "bad-value", severity: Warning, value: true, sources: []string{made.source},
			message: fmt.Sprintf("cloned_interfaces cannot create %s: %s", iface, made.instead), because: made.because})
	}
}

// linuxName is a name that systemd gives to cards, which no driver of FreeBSD has.
var linuxName = regexp.MustCompile(`^(?:en|wl)(?:o[0-9]+|s[0-9]+|p[0-9]+s[0-9]+)(?:f[0-9]+)?$`)

// judgeLinuxNames reports interfaces by names of Linux that no line gives to one.
func (k *checker) judgeLinuxNames() {
	named := k.namedInterfaces()
	for a := range k.ifconfigLines() {
		if !linuxName.MatchString(a.entry.Iface) || named[a.entry.Iface] != "" {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "wrong-system", severity: Warning, sources: []string{"ifconfig(8)", "rc.conf(5), ifconfig_<interface>_name"},
			message: fmt.Sprintf("%s is an interface name of Linux; FreeBSD names interfaces after their drivers, such as em0, igb0 or ix0", a.entry.Iface),
			because: "No interface has this name, so the line has no effect; ifconfig -l lists the names."})
		return // one tells of all
	}
}

// judgeNumberless reports an interface whose name is a slip from one of another line: emo for em0, bridge or brdige0 for bridge0.
func (k *checker) judgeNumberless() {
	named, numbered := k.namedInterfaces(), map[string]bool{}
	for _, a := range k.set {
		if iface := a.entry.Iface; a.kind == conffile.RC && iface != strings.TrimRight(iface, "0123456789") {
			numbered[iface] = true
		}
	}
	var clones []string
	if a := k.assigned("cloned_interfaces"); a != nil && a.kind == conffile.RC && !a.entry.Has(conffile.Expands) {
		clones = strings.Fields(a.entry.Value)
	}
	for a := range k.ifconfigLines() {
		iface := a.entry.Iface
		if named[iface] != "" || iface == "" || iface == "*" || slices.Contains(clones, iface) {
			continue
		}
		meant, because := "", "with a letter in place of the digit"
		if strings.Trim(iface, "abcdefghijklmnopqrstuvwxyz") == "" {
			for _, name := range slices.Sorted(maps.Keys(numbered)) {
				if len(name) == len(iface) && strings.ReplaceAll(strings.ReplaceAll(name, "0", "o"), "1", "l") == iface {
					meant = name
					break
				}
			}
		}
		for _, clone := range clones {
			driver := strings.TrimRight(clone, "0123456789")
			switch {
			case meant != "" || clone == driver:
			case iface == driver:
				meant, because = clone, "without a number"
			case clonedDrivers[driver] && strings.TrimLeft(iface, "abcdefghijklmnopqrstuvwxyz") == clone[len(driver):] && spelling.Slip(iface, clone):
				meant, because = clone, "which nothing creates"
			}
		}
		if meant != "" {
			k.reportIn(a.file, a.entry, finding{code: "unknown-key", severity: Warning, sources: []string{"rc.conf(5), ifconfig_<interface>"},
				message: fmt.Sprintf("%s names the interface %s, %s; did you mean %s?", a.entry.Name, iface, because, meant),
				because: "No interface has this name, so the line has no effect."})
		}
	}
}

// clonedDrivers are drivers of cloned interfaces from whose names no other driver's is a slip.
var clonedDrivers = map[string]bool{"bridge": true, "epair": true, "lagg": true, "vxlan": true}
