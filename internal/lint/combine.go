package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// judgedAlone reports whether one line of an interface's setting says by itself what
// holds: where both all and the interface must agree, an interface's 1 does nothing
// unless all is 1 too, which is not its default.
func judgedAlone(r *catalog.Record, e conffile.Entry) bool {
	return r.Combine != "and" || member(e) == "all"
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
		if all == nil || len(set[name]) > 1 {
			continue
		}
		if f := aloneOfAll(all); f != nil {
			k.reportIn(all.file, all.entry, *f)
		}
	}
}

// aloneOfAll judges a line of all without one of default or of an interface.
func aloneOfAll(a *assignment) *finding {
	f := &finding{code: "no-effect", severity: Warning, sources: a.record.Sources, value: true,
		message: a.entry.Name + " = " + a.entry.Value + " alone changes nothing"}
	def, _, _ := strings.Cut(a.entry.Name, ".all.")
	def += ".default." + lastPart(a.entry.Name)
	switch {
	case a.record.Combine == "own":
		f.because = "The kernel looks at the interfaces' own values of this setting; set " + def + " before they come up."
	case a.record.Combine == "or" && isOff(a.entry.Value):
		f.because = "It holds when all or the interface says so, and interfaces begin with 1; set " + def + " too."
	default:
		return nil
	}
	return f
}
