package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// judgeTogether judges lines that act together with lines of other names.
func (k *checker) judgeTogether() {
	if k.system == catalog.FreeBSD {
		k.judgeRoutes("static_routes", "route_")
		k.judgeRoutes("ipv6_static_routes", "ipv6_route_")
		k.judgeFilters()
		k.judgeForwarding("gateway_enable", "net.inet.ip.forwarding")
		k.judgeForwarding("ipv6_gateway_enable", "net.inet6.ip6.forwarding")
	}
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
	if len(on) < 2 {
		return
	}
	k.reportIn(on[1].file, on[1].entry, finding{code: "conflict", severity: Warning, sources: []string{"rc.conf(5)", "pfil(9)"},
		message: fmt.Sprintf("%s and %s (%s:%d) switch on two packet filters", on[1].entry.Name, on[0].entry.Name, on[0].file.path, on[0].entry.Line),
		because: "Each packet must pass both, so that what one of them lets in the other drops, and each costs its processor time; ipfw drops all that its rules do not let in."})
}

// judgeForwarding reports a sysctl of forwarding that rc.conf undoes
// (rc.d/routing sets it by the variable each time it runs).
func (k *checker) judgeForwarding(variable, setting string) {
	a := k.assigned(setting)
	if a == nil || a.kind != conffile.Sysctl || !k.kinds[conffile.RC] {
		return
	}
	on, ok := truth(a.entry.Value)
	if !ok || on == 1 == k.switchedOn(variable) {
		return
	}
	f := finding{code: "conflict", severity: Warning, value: true, sources: []string{"rc.conf(5)", "rc.d/routing"},
		message: fmt.Sprintf("%s = %s, but rc.conf does not set %s=\"YES\"", setting, a.entry.Value, variable),
		because: "rc.d/routing sets it to 0 whenever it runs, such as at service routing restart; the variable is the switch."}
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
}

// ordered are the pairs, with what the kernel does with others.
var ordered = []pair{
	{catalog.Linux, "vm.dirty_background_ratio", "vm.dirty_ratio", true,
		"The kernel then takes half of the larger one for the background (mm/page-writeback.c, domain_dirty_limits)."},
	{catalog.Linux, "vm.dirty_background_bytes", "vm.dirty_bytes", true,
		"The kernel then takes half of the larger one for the background (mm/page-writeback.c, domain_dirty_limits)."},
	{catalog.Linux, "net.ipv4.neigh.default.gc_thresh2", "net.ipv4.neigh.default.gc_thresh3", false,
		"The table is full at gc_thresh3, so that the threshold below it is never met and new neighbours are refused at once."},
	{catalog.Linux, "net.ipv4.neigh.default.gc_thresh1", "net.ipv4.neigh.default.gc_thresh2", false,
		"Below gc_thresh1 nothing is collected, so that the threshold above it does nothing."},
	{catalog.Linux, "net.ipv6.neigh.default.gc_thresh2", "net.ipv6.neigh.default.gc_thresh3", false,
		"The table is full at gc_thresh3, so that the threshold below it is never met and new neighbours are refused at once."},
	{catalog.Linux, "net.ipv6.neigh.default.gc_thresh1", "net.ipv6.neigh.default.gc_thresh2", false,
		"Below gc_thresh1 nothing is collected, so that the threshold above it does nothing."},
	{catalog.FreeBSD, "net.inet.tcp.sendbuf_max", "kern.ipc.maxsockbuf", false,
		"A buffer stops growing at the first step that kern.ipc.maxsockbuf refuses, about 8/9 of it."},
	{catalog.FreeBSD, "net.inet.tcp.recvbuf_max", "kern.ipc.maxsockbuf", false,
		"A buffer stops growing at the first step that kern.ipc.maxsockbuf refuses, about 8/9 of it."},
	{catalog.FreeBSD, "net.inet.ip.portrange.first", "net.inet.ip.portrange.last", false,
		"Ports are taken from between the two in either order, which is hardly what was meant."},
}

// judgeOrder reports a pair in the wrong order; what no file sets has its
// default.
func (k *checker) judgeOrder(p pair) {
	low, high := k.effects[p.low], k.effects[p.high]
	if low == nil && high == nil {
		return
	}
	lowValue, ok1 := k.numberOf(low, p.low)
	highValue, ok2 := k.numberOf(high, p.high)
	if !ok1 || !ok2 || lowValue <= 0 || highValue <= 0 || lowValue < highValue || lowValue == highValue && !p.strict {
		return
	}
	below, above := "is above", "is below"
	if p.strict {
		below, above = "is not below", "is not above"
	}
	at, text := low, fmt.Sprintf("%s = %.0f %s %s, %.0f", p.low, lowValue, below, p.high, highValue)
	if low == nil {
		at, text = high, fmt.Sprintf("%s = %.0f %s %s, which is %.0f unless it is set", p.high, highValue, above, p.low, lowValue)
	}
	k.reportIn(at.file, at.entry, finding{code: "conflict", severity: Warning, value: true, sources: at.record.Sources,
		message: text, because: p.because})
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
