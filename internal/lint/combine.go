package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// judgedAlone reports whether one line of an interface's setting says by itself what
// holds: where both all and the interface must agree, an interface's 1 does nothing
// unless all is 1 too, which is not its default; where the kernel does not look at
// all, its value does nothing.
func judgedAlone(r *catalog.Record, e conffile.Entry) bool {
	switch r.Combine {
	case "and":
		return member(e) == "all"
	case "own":
		return member(e) != "all"
	}
	return true
}

// member is all, default, or the interface that a name such as
// net.ipv4.conf.eth0.rp_filter is of.
func member(e conffile.Entry) string {
	parts := strings.FieldsFunc(e.Name, func(c rune) bool { return c == '.' })
	if len(parts) < 5 {
		return ""
	}
	return parts[3]
}

// combination is how the kernel combines the values of all and of an interface: a
// router must be told by both to obey redirects, a host by one (include/linux/inetdevice.h,
// IN_DEV_RX_REDIRECTS).
func (k *checker) combination(r *catalog.Record) string {
	if r.Name != "net.ipv4.conf.*.accept_redirects" {
		return r.Combine
	}
	for _, name := range []string{"net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding"} {
		if k.switchedOn(name) {
			return "and"
		}
	}
	return r.Combine
}

// judgeCombined reports the lines of all that change nothing, since the kernel also
// asks the interfaces, of which no file sets any.
func (k *checker) judgeCombined() {
	set := map[string]map[string]*assignment{} // by record and member
	for _, a := range k.set {
		if a.record == nil || a.record.Combine == "" {
			continue
		}
		if set[a.record.Name] == nil {
			set[a.record.Name] = map[string]*assignment{}
		}
		set[a.record.Name][member(a.entry)] = a
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		all := set[name]["all"]
		if all == nil {
			continue
		}
		if len(set[name]) > 1 {
			k.judgeMembers(all, set[name])
			continue
		}
		if f := aloneOfAll(all, k.combination(all.record)); f != nil {
			k.reportIn(all.file, all.entry, *f)
		}
	}
}

// judgeMembers reports lines of interfaces whose value the one of all makes
// idle.
func (k *checker) judgeMembers(all *assignment, members map[string]*assignment) {
	top, ok := lastNumber(all.entry.Value)
	if !ok {
		return
	}
	combine := k.combination(all.record)
	if def := members["default"]; def != nil && combine == "or" && top == 0 {
		if on, ok := lastNumber(def.entry.Value); ok && on > 0 {
			k.reportIn(all.file, all.entry, finding{code: "no-effect",
				severity: Warning, sources: all.record.Sources, value: true,
				message: fmt.Sprintf("%s = %s has no effect beside %s = %s in %s:%d", all.entry.Name, all.entry.Value,
					def.entry.Name, def.entry.Value, def.file.path, def.entry.Line),
				because: "It holds when all or the interface says so, and interfaces begin with the value of default."})
		}
	}
	if def := members["default"]; def != nil && combine == "max" {
		if own, ok := lastNumber(def.entry.Value); ok && own > top {
			k.reportIn(all.file, all.entry, finding{code: "no-effect", severity: Info, sources: all.record.Sources, value: true,
				message: fmt.Sprintf("%s = %s does not hold beside %s = %s in %s:%d", all.entry.Name, all.entry.Value,
					def.entry.Name, def.entry.Value, def.file.path, def.entry.Line),
				because: "The kernel takes the larger one of all and the interface, which begins with the value of default."})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		a := members[name]
		own, ok := lastNumber(a.entry.Value)
		if !ok || a == all || a.entry.Has(conffile.Glob) {
			continue
		}
		because := ""
		switch {
		case combine == "max" && own < top:
			because = "The kernel takes the larger one of all and the interface."
		case combine == "or" && own == 0 && top > 0:
			because = "It holds when all or the interface says so."
		case combine == "and" && own > 0 && top == 0:
			because = "It holds only when all and the interface say so."
		default:
			continue
		}
		f := finding{code: "no-effect", severity: Warning, sources: a.record.Sources, value: true, because: because,
			message: fmt.Sprintf("%s = %s has no effect beside %s = %s in %s:%d",
				a.entry.Name, a.entry.Value, all.entry.Name, all.entry.Value, all.file.path, all.entry.Line)}
		if name == "default" {
			f.severity = Info // a base that interfaces begin with is often left as it was
		}
		k.reportIn(a.file, a.entry, f)
	}
}

// alwaysOff reports whether interfaces begin with 0 in each release.
func alwaysOff(r *catalog.Record) bool {
	return !slices.ContainsFunc(r.Default, func(d catalog.Default) bool { return d.Value != "0" })
}

// aloneOfAll judges a line of all without one of default or of an interface.
func aloneOfAll(a *assignment, combine string) *finding {
	f := &finding{code: "no-effect", severity: Warning, sources: a.record.Sources, value: true,
		message: a.entry.Name + " = " + a.entry.Value + " alone changes nothing"}
	def, _, _ := strings.Cut(a.entry.Name, ".all.")
	def += ".default." + lastPart(a.entry.Name)
	switch {
	case combine == "own":
		f.because = "The kernel looks at the interfaces' own values of this setting; set " + def + " before they come up."
	case combine == "or" && isOff(a.entry.Value) && !alwaysOff(a.record):
		f.because = "It holds when all or the interface says so, and interfaces begin with 1; set " + def + " too."
	default:
		return nil
	}
	return f
}
