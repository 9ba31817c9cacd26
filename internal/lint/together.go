package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// judgeTogether judges lines that act together with lines of other names.
func (k *checker) judgeTogether() {
	if k.system == catalog.FreeBSD {
		k.judgeRoutes("static_routes", "route_")
		k.judgeRoutes("ipv6_static_routes", "ipv6_route_")
		k.judgeFilters()
		k.judgeForwarding("gateway_enable", "net.inet.ip.forwarding")
		k.judgeForwarding("ipv6_gateway_enable", "net.inet6.ip6.forwarding")
		k.judgeHarvest()
		k.judgeAdvertised()
		k.judgeAliases()
		k.judgeAttached()
		k.judgeSolicited()
		k.judgeSameAddress()
		k.judgeFirewallType()
		k.judgeMasks()
		k.judgeRouter()
		k.judgeSlots()
		k.judgePrefixes()
		k.judgePorts()
		k.judgeCloned()
		k.judgeClones()
		k.judgeLinuxNames()
		k.judgeNumberless()
		k.judgeOwnRouter()
		k.judgeRouterFamily()
		k.judgeSegmentSize()
		k.judgeTagNumbers()
		k.judgeServices()
		k.judgeNetworkAddress()
		k.judgeTags()
		k.judgeBridged()
		k.judgeTranslation()
	}
	if k.system == catalog.Linux {
		k.judgeConntrack()
		k.judgeAccepted()
		k.judgeSharedMemory()
		k.judgeTagMTU()
		k.judgeNetplan()
	}
	k.judgeSegments()
	k.judgePortSpan("net.inet.ip.portfirst", "net.inet.ip.portlast")
	k.judgePortSpan("net.inet.ip.portrange.first", "net.inet.ip.portrange.last")
	for _, p := range ordered {
		if p.system == k.system {
			k.judgeOrder(p)
		}
	}
}

// assigned returns the last line that sets a variable or a setting.
func (k *checker) assigned(name string) *assignment { return k.set[name+"\x00"] }

// switchedOn reports whether a variable of rc.conf is set to YES.
func (k *checker) switchedOn(name string) bool {
	a := k.assigned(name)
	if a == nil {
		return false
	}
	on, ok := truth(a.entry.Value)
	return ok && on == 1
}

// judgeRoutes reports routes that are listed and not described (rc.d/routing).
func (k *checker) judgeRoutes(list, prefix string) {
	a := k.assigned(list)
	if a == nil || a.kind != conffile.RC {
		return
	}
	listed := map[string]bool{}
	for _, route := range strings.Fields(a.entry.Value) {
		route, _, _ = strings.Cut(route, ":") // name:interface
		listed[route] = true
		if !k.variables[prefix+route] {
			k.reportIn(a.file, a.entry, finding{code: "needs", severity: Warning, value: true, sources: []string{"rc.conf(5)"},
				message: fmt.Sprintf("%s lists %q, and no line sets %s%s", list, route, prefix, route),
				because: "rc.d/routing adds the route that the variable of that name describes, so this one is not added."})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		b := k.set[key]
		route, is := strings.CutPrefix(b.entry.Name, prefix)
		if !is || b.kind != conffile.RC || listed[route] {
			continue
		}
		k.reportIn(b.file, b.entry, finding{code: "no-effect", severity: Warning, sources: []string{"rc.conf(5)"},
			message: fmt.Sprintf("%s is not in %s, so the route is not added", b.entry.Name, list),
			because: "rc.d/routing adds only the routes that " + list + " names."})
	}
}

// judgeFilters reports two packet filters beside each other.
func (k *checker) judgeFilters() {
	var on []*assignment
	for _, name := range []string{"pf_enable", "firewall_enable", "ipfilter_enable"} {
		if k.switchedOn(name) {
			on = append(on, k.assigned(name))
		}
	}
	if len(on) < 2 || on[0].entry.Block != on[1].entry.Block { // two ways to do it in a guide
		return
	}
	k.reportIn(on[1].file, on[1].entry, finding{code: "conflict",
		severity: Warning, sources: []string{"rc.conf(5)", "pfil(9)"},
		message: fmt.Sprintf("%s and %s (%s:%d) switch on two packet filters",
			on[1].entry.Name, on[0].entry.Name, on[0].file.path, on[0].entry.Line),
		because: "Each packet must pass both, so that what one of them lets in the other drops, and each costs its " +
			"processor time; ipfw drops all that its rules do not let in."})
}

// judgeFirewallType reports rules that pass everything, and a type that is given to
// another script than the one which has types.
func (k *checker) judgeFirewallType() {
	a, script := k.assigned("firewall_type"), k.assigned("firewall_script")
	if a == nil || a.kind != conffile.RC || a.entry.Has(conffile.Expands) {
		return
	}
	f := finding{code: "weakens-security", severity: Info, value: true,
		sources: []string{"freebsd-src libexec/rc/rc.firewall, open: allows all packets"},
		message: fmt.Sprintf("firewall_type = %s weakens the system's security",
			a.entry.Value), because: "The rules then pass everything."}
	switch {
	case script != nil && script.entry.Value != "/etc/rc.firewall":
		f.code, f.sources = "no-effect", []string{"rc.conf(5)", "freebsd-src libexec/rc/rc.d/ipfw, ipfw_start"}
		f.message = fmt.Sprintf("firewall_type = %s is up to %s, which firewall_script names",
			a.entry.Value, script.entry.Value)
		f.because = "The types are those of /etc/rc.firewall; another script gets the word as its argument alone."
	case !strings.EqualFold(a.entry.Value, "open"):
		return
	}
	k.reportIn(a.file, a.entry, f)
}

// judgeForwarding reports a sysctl of forwarding that rc.conf undoes
// (rc.d/routing sets it by the variable each time it runs).
func (k *checker) judgeForwarding(variable, setting string) {
	a := k.assigned(setting)
	if a == nil || a.kind != conffile.Sysctl || !k.kinds[conffile.RC] {
		return
	}
	on, ok := truth(a.entry.Value)
	part := a.file.kind == conffile.Other || a.file.kind == conffile.Script
	if !ok || on == 1 == k.switchedOn(variable) || on == 1 && part && !k.variables["hostname"] {
		return // a guide may show, and a script write, a part of rc.conf
	}
	f := finding{code: "conflict", severity: Warning, value: true, sources: []string{"rc.conf(5)", "rc.d/routing"},
		message: fmt.Sprintf("%s = %s, but rc.conf does not set %s=\"YES\"", setting, a.entry.Value, variable),
		because: "rc.d/routing sets it to 0 whenever it runs, such as at service routing restart; " +
			"the variable is the switch."}
	if on == 0 {
		g := k.assigned(variable)
		f.message = fmt.Sprintf("%s = %s, but %s:%d sets %s", setting, a.entry.Value, g.file.path, g.entry.Line, variable)
		f.because = "sysctl.conf is applied once more at the end of the boot, so that nothing is forwarded then."
	}
	k.reportIn(a.file, a.entry, f)
}

// pair are two settings of which the first must not be above the second.
type pair struct {
	system    catalog.System
	low, high string
	strict    bool // nor the same
	because   string
	share     float64 // of the second that the first can have, where it is less than all
}

// ordered are the pairs, with what the kernel does with others.
var ordered = []pair{
	{catalog.Linux, "vm.dirty_background_ratio", "vm.dirty_ratio", true,
		"The kernel then takes half of the larger one for the background (mm/page-writeback.c, domain_dirty_limits).", 0},
	{catalog.Linux, "vm.dirty_background_bytes", "vm.dirty_bytes", true,
		"The kernel then takes half of the larger one for the background (mm/page-writeback.c, domain_dirty_limits).", 0},
	{catalog.Linux, "net.ipv4.neigh.default.gc_thresh2", "net.ipv4.neigh.default.gc_thresh3", false,
		"The table is full at gc_thresh3, so that the threshold below it is never met and new neighbours " +
			"are refused immediately.", 0},
	{catalog.Linux, "net.ipv4.neigh.default.gc_thresh1", "net.ipv4.neigh.default.gc_thresh2", false,
		"Below gc_thresh1 nothing is collected, so that the threshold above it does nothing.", 0},
	{catalog.Linux, "net.ipv6.neigh.default.gc_thresh2", "net.ipv6.neigh.default.gc_thresh3", false,
		"The table is full at gc_thresh3, so that the threshold below it is never met and new neighbours " +
			"are refused immediately.", 0},
	{catalog.Linux, "net.ipv6.neigh.default.gc_thresh1", "net.ipv6.neigh.default.gc_thresh2", false,
		"Below gc_thresh1 nothing is collected, so that the threshold above it does nothing.", 0},
	{catalog.FreeBSD, "net.inet.tcp.sendbuf_max", "kern.ipc.maxsockbuf", false,
		"A buffer stops growing at the first step that kern.ipc.maxsockbuf refuses, about 8/9 of it.", 8.0 / 9},
	{catalog.FreeBSD, "net.inet.tcp.recvbuf_max", "kern.ipc.maxsockbuf", false,
		"A buffer stops growing at the first step that kern.ipc.maxsockbuf refuses, about 8/9 of it.", 8.0 / 9},
	{catalog.FreeBSD, "net.inet.tcp.sendspace", "kern.ipc.maxsockbuf", false,
		"The kernel cannot reserve the buffer, so that no TCP socket can be created (soreserve of " +
			"sys/kern/uipc_sockbuf.c: ENOBUFS).", 0},
	{catalog.FreeBSD, "net.inet.tcp.recvspace", "kern.ipc.maxsockbuf", false,
		"The kernel cannot reserve the buffer, so that no TCP socket can be created (soreserve of " +
			"sys/kern/uipc_sockbuf.c: ENOBUFS).", 0},
	{catalog.FreeBSD, "net.inet.udp.recvspace", "kern.ipc.maxsockbuf", false,
		"The kernel cannot reserve the buffer, so that no UDP socket can be created (soreserve of " +
			"sys/kern/uipc_sockbuf.c: ENOBUFS).", 0},
	{catalog.FreeBSD, "net.inet.ip.intr_queue_maxlen", "net.isr.maxqlimit", false, queueOrder, 0},
	{catalog.FreeBSD, "net.inet6.ip6.intr_queue_maxlen", "net.isr.maxqlimit", false, queueOrder, 0},
	{catalog.FreeBSD, "net.route.netisr_maxqlen", "net.isr.maxqlimit", false, queueOrder, 0},
	{catalog.FreeBSD, "net.isr.defaultqlimit", "net.isr.maxqlimit", false,
		"The kernel lowers it to the maximum when it starts (sys/net/netisr.c, netisr_init).", 0},
	{catalog.OpenBSD, "kern.maxproc", "kern.maxthread", false,
		"Every process has a thread at least, so that fork fails at the smaller limit " +
			"(sys/kern/kern_fork.c, fork_check_maxthread).", 0},
	{catalog.OpenBSD, "pf:set/limit/states", "pf:set/timeout/adaptive.end", false, purgedStates, 0},
	{catalog.FreeBSD, "pf:set/limit/states", "pf:set/timeout/adaptive.end", false, purgedStates, 0},
	{catalog.FreeBSD, "net.inet.ip.portrange.first", "net.inet.ip.portrange.last", false,
		"Ports are taken from between the two in either order, which is hardly what was meant.", 0},
	{catalog.FreeBSD, "vfs.zfs.arc.min", "vfs.zfs.arc.max", false, arcOrder, 0},
	{catalog.FreeBSD, "vfs.zfs.arc_min", "vfs.zfs.arc_max", false, arcOrder, 0},
}

const purgedStates = "All timeouts reach zero at adaptive.end, so pf drops idle connections long before the table is full (pf.conf(5))."

const queueOrder = "The kernel refuses a longer queue than the maximum (sys/net/netisr.c, netisr_setqlimit: EINVAL); raise " +
	"net.isr.maxqlimit in loader.conf first."

const arcOrder = "The kernel refuses the one that comes second (module/os/freebsd/zfs/sysctl_os.c, param_set_arc_min and " +
	"param_set_arc_max: EINVAL), or ignores it when it boots."

// judgeOrder reports a pair in the wrong order; what no file sets has its
// default.
func (k *checker) judgeOrder(p pair) {
	low, high := k.effects[p.low], k.effects[p.high]
	if low == nil && high == nil {
		return
	}
	lowValue, ok1 := k.numberOf(low, p.low)
	highValue, ok2 := k.numberOf(high, p.high)
	unless := "unless it is set"
	if r := k.lookup(p.high); high == nil && !ok2 && r != nil {
		if d, ok := r.DefaultIn(k.versions[0]); ok && d.AtMost != "" {
			highValue, ok2 = lastNumber(d.AtMost)
			unless = "at most, unless it is set"
		}
	}
	if !ok1 || !ok2 || lowValue <= 0 || highValue <= 0 {
		return
	}
	if lowValue < highValue || lowValue == highValue && !p.strict {
		k.judgeShare(p, low, high, lowValue, highValue)
		return
	}
	below, above := "is above", "is below"
	if p.strict {
		below, above = "is not below", "is not above"
	}
	at, text := low, fmt.Sprintf("%s = %.0f %s %s, %.0f", p.low, lowValue, below, p.high, highValue)
	if high == nil {
		text += " " + unless
	}
	if low == nil {
		at, text = high, fmt.Sprintf("%s = %.0f %s %s, which is %.0f unless it is set",
			p.high, highValue, above, p.low, lowValue)
	}
	k.reportIn(at.file, at.entry, finding{code: "conflict", severity: Warning, value: true, sources: at.record.Sources,
		message: text, because: p.because})
}

// fewPorts are so few for outgoing connections that a busy host runs out of them.
const fewPorts = 8000

// judgePortSpan reports lines that leave few ports to outgoing connections.
func (k *checker) judgePortSpan(first, last string) {
	at := cmp.Or(k.effects[last], k.effects[first])
	if k.system == catalog.Linux || at == nil || at.record == nil {
		return
	}
	low, ok1 := k.numberOf(k.effects[first], first)
	high, ok2 := k.numberOf(k.effects[last], last)
	if span := high - low + 1; ok1 && ok2 && span > 0 && span < fewPorts {
		k.reportIn(at.file, at.entry, finding{code: "harmful", severity: Warning, value: true, sources: at.record.Sources,
			message: fmt.Sprintf("%s to %s leaves only %.0f ports for outgoing connections", first, last, span),
			because: "Every connection to the same address and port needs its own local port, even in TIME_WAIT; a busy proxy or resolver runs out of ports."})
	}
}

// judgeShare reports a value that is within the other one and above what it can use of it.
func (k *checker) judgeShare(p pair, low, high *assignment, lowValue, highValue float64) {
	if p.share == 0 || low == nil || high == nil || lowValue <= highValue*p.share {
		return
	}
	k.reportIn(low.file, low.entry, finding{code: "conflict", severity: Info, value: true, sources: low.record.Sources,
		because: p.because,
		message: fmt.Sprintf("%s = %.0f is more than %s = %.0f lets a buffer have, %.0f",
			p.low, lowValue, p.high, highValue, highValue*p.share)})
}

// numberOf is the number that a line sets, or the default where none does.
func (k *checker) numberOf(a *assignment, name string) (float64, bool) {
	if a != nil {
		v := k.read(a.record, a.entry.Value, placeOf(a.kind, a.entry))
		if !v.numeric || len(v.numbers) != 1 {
			return 0, false
		}
		return v.numbers[0], true
	}
	r := k.lookup(name)
	if r == nil {
		return 0, false
	}
	n, exact, ok := standard(r, k.versions[0], nil)
	return n, exact && ok
}

// judgeAdvertised reports interfaces that are told to obey router advertisements
// on a router, which does not.
func (k *checker) judgeAdvertised() {
	if !k.switchedOn("ipv6_gateway_enable") || k.assigned("ipv6_cpe_wanif") != nil ||
		k.switchedOn("net.inet6.ip6.rfc6204w3") {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		a := k.set[key]
		if a.kind != conffile.RC || !strings.HasPrefix(a.entry.Name, "ifconfig_") ||
			!slices.Contains(strings.Fields(a.entry.Value), "accept_rtadv") {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "no-effect",
			severity: Warning, value: true, sources: []string{"rc.conf(5), ipv6_cpe_wanif"},
			message: fmt.Sprintf("%s says accept_rtadv, which ipv6_gateway_enable=\"YES\" makes idle", a.entry.Name),
			because: fmt.Sprintf("A host that forwards IPv6 obeys no router advertisements; ipv6_cpe_wanif=%q makes an "+
				"exception of the interface to the provider.", a.entry.Iface)})
	}
}

// apart tells that two lines of a guide stand in different examples.
func apart(a, b *assignment) bool {
	from, to := min(a.entry.KeySpan.Start, b.entry.KeySpan.Start), max(a.entry.KeySpan.Start, b.entry.KeySpan.Start)
	return a.file.kind == conffile.Other && a.file == b.file && strings.Contains(a.file.text[from:to], "\n```")
}

// judgeSameAddress reports an address that two interfaces of one routing table have.
func (k *checker) judgeSameAddress() {
	owners := map[string]*assignment{}
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		a := k.set[key]
		words := strings.Fields(a.entry.Value)
		if a.kind != conffile.RC || !strings.HasPrefix(a.entry.Name, "ifconfig_") ||
			a.entry.Has(conffile.Expands|conffile.Conditional) ||
			a.entry.Iface == "" || slices.ContainsFunc(words,
			func(w string) bool { return w == "fib" || w == "vhid" || w == "vnet" || w == "tunnel" }) ||
			jailEnd.MatchString(a.entry.Iface) && a.file.kind == conffile.Other {
			continue
		}
		i := slices.Index(words, "inet")
		if i < 0 || i+1 == len(words) {
			continue
		}
		address, _, _ := strings.Cut(words[i+1], "/")
		b := owners[address]
		if b == nil {
			owners[address] = a
			continue
		}
		if address == "0.0.0.0" || a.entry.Iface == b.entry.Iface || apart(a, b) || strings.Trim(address, "0123456789.") != "" ||
			a.file.path != b.file.path {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "conflict",
			severity: Warning, value: true, sources: []string{"ifconfig(8)", "inet(4)"},
			message: fmt.Sprintf("%s gives %s the address %s, which %s has (line %d)",
				a.entry.Name, a.entry.Iface, address, b.entry.Iface, b.entry.Line),
			because: "The network of an address is reached through one interface; what arrives at the other is " +
				"answered through the first."})
	}
}

// jailEnd is the end of an epair that is in a jail, whose rc.conf a guide shows beside the host's.
var jailEnd = regexp.MustCompile(`^epair[0-9]+b$`)

// judgeSolicited reports rtsold where no interface takes the advertisements it asks for.
func (k *checker) judgeSolicited() {
	a := k.assigned("rtsold_enable")
	if a == nil || a.kind != conffile.RC || !k.switchedOn("rtsold_enable") || k.switchedOn("net.inet6.ip6.accept_rtadv") {
		return
	}
	addresses := false
	for _, b := range k.set {
		if b.kind != conffile.RC || !strings.HasPrefix(b.entry.Name, "ifconfig_") {
			continue
		}
		if b.entry.Has(conffile.Expands) || strings.Contains(strings.ToLower(b.entry.Value), "accept_rtadv") {
			return
		}
		addresses = addresses || strings.Contains(b.entry.Value, "inet6")
	}
	if flags := k.assigned("rtsold_flags"); !addresses || flags != nil || k.assigned("ipv6_cpe_wanif") != nil {
		return
	}
	k.reportIn(a.file, a.entry, finding{code: "no-effect", severity: Warning, sources: []string{"rtsold(8)",
		"rc.conf(5), ifconfig_<interface>_ipv6"},
		message: "rtsold_enable asks for router advertisements, and no line of an interface says accept_rtadv",
		because: "rtsold takes only interfaces that accept advertisements; ifconfig_IF_ipv6=\"inet6 " +
			"accept_rtadv\" makes one of them."})
}

// judgeAccepted reports accept_ra = 1 where forwarding is on, which wants 2.
func (k *checker) judgeAccepted() {
	forwards := func(who string) bool { return k.switchedOn("net.ipv6.conf." + who + ".forwarding") }
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		a := k.set[key]
		if a.record == nil || a.record.Name != "net.ipv6.conf.*.accept_ra" || strings.TrimSpace(a.entry.Value) != "1" {
			continue
		}
		if who := member(a.entry); who == "all" || !forwards("all") && !forwards(who) {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "no-effect", severity: Warning, value: true, sources: a.record.Sources,
			message: a.entry.Name + " = 1 has no effect where forwarding is on",
			because: "An interface that forwards obeys router advertisements only with 2, so that it gets no address and no " +
				"default route from them.",
			fix: &Fix{Kind: FixValue, Text: "2", Reason: "1 does not hold on an interface that forwards"}})
	}
}

// judgeConntrack reports a table of connections that is larger than its hash
// table: each connection is in it twice, and from Linux 5.15 on one that meets a
// chain of 64 is dropped.
func (k *checker) judgeConntrack() {
	limit := k.effects["net.netfilter.nf_conntrack_max"]
	entries, known := k.numberOf(limit, "net.netfilter.nf_conntrack_max")
	if limit == nil || !known {
		return
	}
	const setting, option = "net.netfilter.nf_conntrack_buckets", "module:nf_conntrack/hashsize"
	table, name, severity := k.effects[setting], setting, Warning
	if table == nil {
		table, name = k.effects[option], option
	}
	var buckets float64
	if table != nil {
		buckets, known = k.numberOf(table, name)
	} else if r := k.lookup(setting); r != nil {
		buckets, _, known = k.standard(r, k.versions[0], k.inputs(limit.entry, reading{}, k.versions[0]))
	}
	if !known || buckets <= 0 || entries <= buckets {
		return
	}
	if entries <= 8*buckets {
		severity = Info
	}
	where := fmt.Sprintf("%s, %.0f unless it is set", setting, buckets)
	if table != nil {
		where = fmt.Sprintf("%.0f buckets in %s:%d", buckets, table.file.path, table.entry.Line)
	}
	k.reportIn(limit.file, limit.entry, finding{code: "conflict", severity: severity, value: true,
		sources: []string{"torvalds/linux commit d532bcd0b269 (conntrack: sanitize table size default settings)",
			"torvalds/linux commit d7e7747ac5c2 (refuse insertion if chain has grown too large)"},
		message: fmt.Sprintf("%s = %.0f is more than its hash table has room for: %s", limit.entry.Name, entries, where),
		because: "Each connection is in the table twice, so that every packet searches longer chains, and from Linux 5.15 " +
			"on a connection whose chain has grown to 64 is dropped; set as many buckets as connections."})
}

// segments are the BSDs' settings of the segment size for peers that announce none, and of path MTU discovery.
var segments = map[catalog.System]struct {
	size, discovery string
	normal          float64
}{
	catalog.FreeBSD: {"net.inet.tcp.mssdflt", "net.inet.tcp.path_mtu_discovery", 536},
	catalog.OpenBSD: {"net.inet.tcp.mssdflt", "net.inet.ip.mtudisc", 512},
}

// judgeSegments reports a default segment size that nothing uses: it is also the cap for distant peers while path MTU
// discovery is off.
func (k *checker) judgeSegments() {
	names := segments[k.system]
	a := k.effects[names.size]
	if a == nil {
		return
	}
	if d := k.effects[names.discovery]; d != nil && isOff(d.entry.Value) {
		return
	}
	if n, ok := k.numberOf(a, names.size); !ok || n <= names.normal {
		return
	}
	k.reportIn(a.file, a.entry, finding{code: "no-effect", severity: Warning, value: true,
		sources: []string{"freebsd-src sys/netinet/tcp_input.c, tcp_mss_update", "openbsd/src sys/netinet/tcp_input.c, tcp_mss"},
		message: fmt.Sprintf("%s = %s does not have the effect that it is set for", names.size, a.entry.Value),
		because: "It applies to peers that announce no segment size, which is rare, and for distant ones while " +
			names.discovery + " is 0; otherwise the size comes from the interface and the peer. Forwarded connections " +
			"are clamped by scrub (max-mss) in pf.conf."})
}
