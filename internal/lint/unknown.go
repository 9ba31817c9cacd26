package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// covered are the subtrees that the catalog describes in full, so that a name
// which is not in it does not exist; few is the number of its names below
// which the subtree is not taken for complete.
var covered = []struct {
	system catalog.System
	prefix string
	few    int
}{
	{catalog.Linux, "net.core.", 30}, {catalog.Linux, "net.ipv4.tcp_", 90}, {catalog.Linux, "net.ipv4.udp_", 4},
	{catalog.Linux, "net.ipv4.icmp_", 6}, {catalog.Linux, "net.ipv4.conf.*.", 25}, {catalog.Linux, "net.ipv6.conf.*.", 35},
	{catalog.FreeBSD, "net.inet.tcp.", 100}, {catalog.FreeBSD, "net.inet.udp.", 7}, {catalog.FreeBSD, "net.inet.ip.", 30},
	{catalog.FreeBSD, "net.inet.icmp.", 12}, {catalog.FreeBSD, "net.isr.", 6}, {catalog.FreeBSD, "kern.ipc.", 40},
	{catalog.OpenBSD, "net.inet.tcp.", 20}, {catalog.OpenBSD, "net.inet.udp.", 4}, {catalog.OpenBSD, "net.inet.ip.", 25},
}

// modular are subtrees that modules bring along.
var modular = []string{"net.inet.ip.fw.", "net.inet.ip.dummynet.", "net.inet.tcp.rack.", "net.inet.tcp.bbr.", "net.inet.tcp.cc.",
	"net.inet.ip.alias.", "net.inet.tcp.siftr.", "net.inet.ip.mfctable", "net.inet.ip.mrtproto"}

// unknown judges a name that the system's catalog does not have.
func (k *checker) unknown(e conffile.Entry) []finding {
	if strings.ContainsAny(e.Name, ":/*$ {}<>@%") || !strings.Contains(e.Name, ".") {
		return nil
	}
	switch k.kindOf(e) {
	case conffile.Sysctl, conffile.Loader, conffile.Script, conffile.HostnameIf, conffile.Interfaces, conffile.Tuned:
	case conffile.Cmdline:
		if !strings.HasPrefix(e.Key, "sysctl.") {
			return nil
		}
	default:
		return nil
	}
	if k.running(e) {
		return nil
	}
	if f := k.wrongSystem(e); f != nil {
		return []finding{*f}
	}
	if at, _ := slices.BinarySearch(k.names, e.Name+"."); at < len(k.names) && strings.HasPrefix(k.names[at], e.Name+".") {
		return []finding{{code: "unknown-key", severity: Warning, message: e.Name + " is no setting but the name of a group of them",
			because: "Only its members can be set, such as " + k.names[at] + "."}}
	}
	if f := k.dottedInterface(e); f != nil {
		return []finding{*f}
	}
	prefix := k.coveredBy(e.Name)
	if prefix == "" {
		return nil
	}
	f := finding{code: "unknown-key", severity: Warning, message: e.Name + " does not exist",
		because: fmt.Sprintf("The catalog has every setting below %s* of %s, and not this one.", prefix, k.system.Title())}
	if near := k.nearest(e.Name); near != "" {
		f.message += "; did you mean " + near + "?"
	} else {
		f.severity = Info
	}
	if e.Has(conffile.IgnoreErrors) {
		f.severity = Info
	}
	return []finding{f}
}

// dottedInterface finds settings of an interface whose name holds a dot, such
// as a VLAN's, which is lost in a name of dots.
func (k *checker) dottedInterface(e conffile.Entry) *finding {
	parts := strings.Split(e.Name, ".")
	if k.system != catalog.Linux || len(parts) != 6 || parts[0] != "net" || parts[2] != "conf" && parts[2] != "neigh" {
		return nil
	}
	r := k.lookup(strings.Join([]string{parts[0], parts[1], parts[2], "*", parts[5]}, "."))
	if r == nil {
		return nil
	}
	return &finding{code: "unknown-key", severity: Warning, sources: []string{"sysctl(8)", "sysctl.d(5)"},
		message: fmt.Sprintf("%s does not exist: write net/%s/%s/%s.%s/%s", e.Name, parts[1], parts[2], parts[3], parts[4], parts[5]),
		because: "In a name of dots the dot of the interface separates too; in one of slashes it does not."}
}

// coveredBy returns the complete subtree that a name lies in, "" for none.
func (k *checker) coveredBy(name string) string {
	for _, m := range modular {
		if strings.HasPrefix(name, m) {
			return ""
		}
	}
	if e := strings.SplitN(name, ".", 5); k.system == catalog.Linux && len(e) == 5 && (e[2] == "conf" || e[2] == "neigh") {
		e[3] = "*"
		name = strings.Join(e, ".")
	}
	for _, c := range covered {
		if c.system != k.system || !strings.HasPrefix(name, c.prefix) {
			continue
		}
		from, _ := slices.BinarySearch(k.names, c.prefix)
		to := from
		for to < len(k.names) && strings.HasPrefix(k.names[to], c.prefix) {
			to++
		}
		if to-from >= c.few {
			return c.prefix
		}
	}
	return ""
}

// nearest returns a name that differs by a slip of the keyboard: at most two
// letters, in a name of the same subtree.
func (k *checker) nearest(name string) string {
	parent := name[:strings.LastIndexByte(name, '.')+1]
	for _, n := range k.catalog.Nearest(k.system, name, 3) {
		if strings.HasPrefix(n, parent) && within(name, n, 2) {
			return n
		}
	}
	return ""
}

// within reports whether two names differ in a stretch of at most n bytes.
func within(a, b string, n int) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= n && len(b) <= n
}

// wrongSystem judges a setting of another system.
func (k *checker) wrongSystem(e conffile.Entry) *finding {
	owner, tells := conffile.SystemOfKey(e.Name)
	linuxKey := tells && owner == conffile.Linux
	bsdKey := tells && !linuxKey
	for _, s := range catalog.Systems() {
		if s == k.system {
			continue
		}
		foreign := (s == catalog.Linux) != (k.system == catalog.Linux)
		if foreign && (s == catalog.Linux && !linuxKey || s != catalog.Linux && !bsdKey) {
			continue
		}
		r, has := k.catalog.Lookup(s, e.Name)
		if !has {
			continue
		}
		f := &finding{code: "wrong-system", severity: Error, because: r.Does, sources: r.Sources,
			message: fmt.Sprintf("%s is a setting of %s; %s has none of that name", e.Name, s.Title(), k.system.Title())}
		if !foreign && k.coveredBy(e.Name) == "" && owner != conffile.System(s) {
			return nil // the two BSDs share much, and this subtree is not complete
		}
		f.fix = &Fix{Kind: FixCommentOut, Reason: f.message}
		return f
	}
	linuxTree := strings.HasPrefix(e.Name, "net.ipv4.") || strings.HasPrefix(e.Name, "net.core.")
	bsdTree := strings.HasPrefix(e.Name, "net.inet")
	if k.system == catalog.Linux && bsdTree || k.system != catalog.Linux && linuxTree {
		other := "Linux"
		if k.system == catalog.Linux {
			other = "the BSDs"
		}
		return &finding{code: "wrong-system", severity: Error, because: "The subtree " + e.Name[:strings.LastIndexByte(e.Name, '.')] + " is not one of " + k.system.Title() + ".",
			message: fmt.Sprintf("%s is a setting of %s; %s has none of that name", e.Name, other, k.system.Title())}
	}
	return nil
}
