package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// listed are the subtrees of the BSDs whose names were taken from the systems'
// sources, so that a name which is not in the catalog does not exist; few is the
// number of its names below which a subtree is not taken for complete. Those of
// Linux are checked against running kernels (catalog.Complete).
var listed = []struct {
	system catalog.System
	prefix string
	few    int
}{
	{catalog.FreeBSD, "net.inet.tcp.", 100}, {catalog.FreeBSD, "net.inet.udp.", 7}, {catalog.FreeBSD, "net.inet.ip.", 30},
	{catalog.FreeBSD, "net.inet.icmp.", 12}, {catalog.FreeBSD, "net.isr.", 6}, {catalog.FreeBSD, "kern.ipc.", 40},
	{catalog.FreeBSD, "security.bsd.", 15}, {catalog.FreeBSD, "net.inet.carp.", 6},
	{catalog.FreeBSD, "net.link.ether.inet.", 11}, {catalog.FreeBSD, "hw.ix.", 12}, {catalog.FreeBSD, "hw.em.", 12},
	{catalog.FreeBSD, "hw.igb.", 9}, {catalog.FreeBSD, "net.pf.", 8}, {catalog.FreeBSD, "net.inet.igmp.", 7},
	{catalog.FreeBSD, "net.inet6.ip6.", 40}, {catalog.FreeBSD, "net.inet6.icmp6.", 14},
	{catalog.FreeBSD, "net.inet6.mld.", 4}, {catalog.FreeBSD, "net.bpf.", 5}, {catalog.FreeBSD, "vm.", 40},
	{catalog.OpenBSD, "kern.", 90}, {catalog.OpenBSD, "vm.", 12}, {catalog.OpenBSD, "fs.", 1},
	{catalog.OpenBSD, "net.", 100},
	{catalog.OpenBSD, "hw.", 25},
}

// modular are subtrees of FreeBSD and Linux that modules bring along, or that are not described in full.
var modular = []string{"net.inet.ip.fw.", "net.inet6.ip6.fw.", "net.inet6.ip6.mfctable", "net.inet6.ip6.mif6table",
	"net.inet.ip.dummynet.", "net.inet.tcp.rack.", "net.inet.tcp.bbr.",
	"net.inet.tcp.cc.",
	"net.inet.ip.alias.", "net.inet.tcp.siftr.", "net.inet.ip.mfctable", "net.inet.ip.mrtproto",
	"net.pf.share_", // OPNsense's own
	// What is no socket buffer, mbuf or System V object was not taken from the source.
	"kern.ipc.pipe", "kern.ipc.umtx_", "kern.ipc.posix_shm", "kern.ipc.sf", "kern.ipc.sendfile.", "kern.ipc.splice.",
	// Of kernel TLS only what can be set was.
	"kern.ipc.tls.stats.", "kern.ipc.tls.sw.", "kern.ipc.tls.ifnet.", "kern.ipc.tls.toe.", "kern.ipc.tls.max_",
	"kern.ipc.tls.allow_unload",
	"kern.ipc.tls.tasks_active",

	"kernel.spl.", "kernel.sg-big-buff", "fs.binfmt_misc."}

// undescribed are names and groups of FreeBSD below vm. without records: those of debugging kernels and architectures,
// those that only report, and those of which it is not known which release had them first.
var undescribed = []string{"vm.blacklist", "vm.boot_pages", "vm.cluster_anon", "vm.debug.", "vm.dmmax", "vm.domain.",
	"vm.exec_map_entries", "vm.exec_map_entry_size", "vm.imply_prot_max", "vm.inact_scan_laundry_weight", "vm.kmem_map_free",
	"vm.kmem_map_size", "vm.kmem_zmax", "vm.kstacks", "vm.largepages.", "vm.malloc.", "vm.max_kernel_address", "vm.md_malloc_wait", "vm.memguard.",
	"vm.min_kernel_address", "vm.mincore_mapped", "vm.nswapdev", "vm.objects", "vm.page_blacklist", "vm.pgcache_zone_max_pcpu",
	"vm.phys_pager_cluster", "vm.pmap.", "vm.redzone.", "vm.reserv.", "vm.stats.", "vm.swap_fragmentation", "vm.swap_info",
	"vm.swap_maxpages", "vm.swap_objects", "vm.swap_reserved", "vm.swap_total", "vm.swzone", "vm.uma.", "vm.zone_stats"}

// openbsdGroups are the first parts of all names of OpenBSD, which sysctl(8) has in a table (CTL_NAMES of sys/sysctl.h).
var openbsdGroups = []string{"kern", "vm", "fs", "net", "debug", "hw", "machdep", "user", "ddb", "vfs"}

// unknown judges a name that the system's catalog does not have.
func (k *checker) unknown(e conffile.Entry) []finding {
	if k.kindOf(e) == conffile.KernelConf {
		return nil // few options are about the network
	}
	if k.kindOf(e) == conffile.Sysctl && strings.ContainsAny(e.Key, " \t") {
		return []finding{k.blankInName(e)}
	}
	if strings.HasPrefix(e.Name, "ethtool:features/") {
		return k.misspeltFeature(e)
	}
	if k.kindOf(e) == conffile.Tuned && strings.HasPrefix(e.Name, "tuned:") {
		return k.otherSection(e)
	}
	if strings.HasPrefix(e.Name, "pf:set/") {
		return k.unknownOption(e)
	}
	if f := k.kernelName(e); f != nil {
		return []finding{*f}
	}
	if strings.ContainsAny(e.Name, ":/*$ {}<>@%") {
		return nil
	}
	if !strings.Contains(e.Name, ".") {
		return k.stray(e)
	}
	switch kind := k.kindOf(e); {
	case kind == conffile.Sysctl, kind == conffile.Loader, slices.Contains(ofCommands, kind):
	case kind == conffile.Other:
		if k.system == catalog.Linux && !strings.HasPrefix(e.Name, "net.") {
			return nil // other languages have such names too
		}
	case kind == conffile.Cmdline && strings.HasPrefix(e.Key, "sysctl."):
	default:
		return nil
	}
	if k.running(e) || k.catalog.HasSeen(k.system, e.Name) || k.system == catalog.FreeBSD && slices.Contains(undescribed, e.Name) {
		return nil
	}
	if f := k.wrongSystem(e); f != nil {
		return []finding{*f}
	}
	if at, _ := slices.BinarySearch(k.names, e.Name+"."); at < len(k.names) && strings.HasPrefix(k.names[at], e.Name+".") {
		return []finding{{code: "unknown-key", severity: Warning, message: e.Name +
			" is not a setting but the name of a group of settings",
			because: "Only its members can be set, such as " + k.memberOf(at, e.Name+".") + "."}}
	}
	if f := cmp.Or(k.dottedInterface(e), k.unitless(e), k.dottedVariable(e)); f != nil {
		return []finding{*f}
	}
	return k.absent(e)
}

// memberOf is the member of a group that stands for it: the switch, where it has one. The members begin at a place in
// the names.
func (k *checker) memberOf(at int, group string) string {
	for _, name := range k.names[at:] {
		if !strings.HasPrefix(name, group) {
			break
		}
		if strings.HasSuffix(name, "enable") {
			return name
		}
	}
	return k.names[at]
}

// absent judges a sysctl that the catalog does not have by what it has of its subtree
// and by names that are spelt almost the same.
func (k *checker) absent(e conffile.Entry) []finding {
	because := k.covers(e.Name)
	near, slip := k.underOther(e.Name), true
	if near == "" {
		near, slip = k.nearest(e.Name)
	}
	if because == "" && near == "" {
		return nil
	}
	f := finding{code: "unknown-key", severity: Warning, message: e.Name + " does not exist", because: because}
	if because == "" {
		f.message = e.Name + " is not known"
		f.because = "The catalog does not have every setting of this subtree, but one that is spelt almost the same."
		if lastPart(near) == lastPart(e.Name) && slip && k.underOther(e.Name) == near {
			f.because = "The setting of this name is in another group."
		}
		if group, _, _ := strings.Cut(e.Name, "."); k.system == catalog.Linux && !k.hasGroup(group) {
			f.because = "Linux itself has no group of settings by the name " + group + "."
		}
	}
	if near != "" {
		f.message += "; did you mean " + near + "?"
		if slip {
			f.fix = &Fix{Kind: FixRename, To: near, Reason: f.message}
		}
	}
	if near == "" && because != "" && k.foreign(e.Name) {
		f.message, f.severity = e.Name+" is none of the kernel's own settings", Info
		f.because += " A module from elsewhere may bring such a group."
	}
	if e.Has(conffile.IgnoreErrors) || because == "" && !slip {
		f.severity = Info
	}
	return []finding{f}
}

// dottedVariable finds a variable of rc.conf that is written with a dot, as a sysctl is.
func (k *checker) dottedVariable(e conffile.Entry) *finding {
	variable := strings.ReplaceAll(e.Name, ".", "_")
	r := k.lookup(variable)
	if k.system != catalog.FreeBSD || r == nil || !slices.Contains(r.Belongs, "rc") || strings.Contains(r.Name, "*") {
		return nil
	}
	return &finding{code: "unknown-key", severity: Warning, sources: r.Sources,
		message: fmt.Sprintf("%s does not exist; %s is a variable of rc.conf", e.Name, variable),
		because: "The kernel has no setting of this name, and a variable of rc.conf is written with underscores."}
}

// misspeltMember judges a name of which the catalog has no more than the group, but one that is spelt almost the same.
func (k *checker) misspeltMember(r *catalog.Record, e conffile.Entry) *finding {
	if !strings.HasSuffix(r.Name, ".*") {
		return nil
	}
	near, slip := k.nearest(e.Name)
	if !slip || strings.Contains(near, "*") || withoutDigits(near) == withoutDigits(e.Name) {
		return nil
	}
	text := e.Name + " is not known; did you mean " + near + "?"
	return &finding{code: "unknown-key", severity: Warning, message: text, sources: r.Sources,
		because: "The catalog does not have every setting of this subtree, but one that is spelt almost the same.",
		fix:     &Fix{Kind: FixRename, To: near, Reason: text}}
}

// foreign reports whether the catalog has nothing in a group below net, which a
// module that is not the kernel's may add.
func (k *checker) foreign(name string) bool {
	rest, below := strings.CutPrefix(name, "net.")
	group, _, ok := strings.Cut(rest, ".")
	if !below || !ok || k.system != catalog.Linux {
		return false
	}
	group = "net." + group + "."
	at, _ := slices.BinarySearch(k.names, group)
	return at == len(k.names) || !strings.HasPrefix(k.names[at], group)
}

// otherSection finds a sysctl in a section of TuneD whose plug-in has no such option.
func (k *checker) otherSection(e conffile.Entry) []finding {
	f := finding{code: "wrong-file", severity: Warning, sources: []string{"redhat-performance/tuned " +
		"tuned/plugins/base.py, _get_effective_options"},
		message: e.Key + " is a sysctl: it belongs in the section [sysctl]",
		because: "TuneD warns of an option that the plug-in does not have, and ignores it."}
	if r := k.lookup(conffile.LinuxName(e.Key)); r != nil && slices.Contains(r.Belongs, "sysctl") {
		return []finding{f}
	}
	if e.Name != "tuned:vm/transparent_hugepages" && strings.HasPrefix(e.Name, "tuned:vm/") && spelling.Edits(e.Key, "transparent_hugepages") <= 2 {
		f.code, f.message = "unknown-key", e.Key+" does not exist; did you mean transparent_hugepages?"
		f.fix = &Fix{Kind: FixRename, To: "transparent_hugepages", Reason: f.message}
		return []finding{f}
	}
	return nil
}

// withoutGroup judges a key of a sysctl file that holds no dot: every setting is in a
// group, such as net or vm.
func (k *checker) withoutGroup(e conffile.Entry) []finding {
	f := finding{code: "unknown-key", severity: Warning, message: e.Name + " does not exist",
		because: "Every setting is in a group, such as vm or net, with which its name begins."}
	for _, name := range k.names {
		if last := lastPart(name); len(last) > 4 && spelling.Edits(last, e.Name) <= 1 && k.meant(e.Name, name) {
			f.message += "; did you mean " + name + "?"
			break
		}
	}
	return []finding{f}
}

// misspeltFeature judges a feature of ethtool -K whose name is a slip from a known
// one: drivers have others that nobody lists.
func (k *checker) misspeltFeature(e conffile.Entry) []finding {
	near, slip := k.nearest(e.Name)
	if !slip || !strings.HasPrefix(near, "ethtool:features/") {
		return nil
	}
	_, near, _ = strings.Cut(near, "/")
	return []finding{{code: "unknown-key", severity: Warning, message: fmt.Sprintf("%s is not known; did you mean %s?",
		e.Key, near),
		because: "ethtool refuses the name, and with it the whole line.", sources: []string{"ethtool(8)"}}}
}

// pastedCommand is a sysctl command before a name, behind a prompt as a guide
// prints it.
var pastedCommand = regexp.MustCompile(`^(?:\S*[$#%>~]\s+)?(?:(?:sudo|doas)\s+)?(?:\S*/)?sysctl\s+(?:-\S+\s+)*`)

// blankInName judges a name that holds blanks: a command that was pasted, or words
// before the name.
func (k *checker) blankInName(e conffile.Entry) finding {
	f := finding{code: "syntax", severity: Error, message: "not an assignment: a name holds no blanks",
		because: "The line is read as a setting called " + e.Key + ", which does not exist."}
	name := strings.Trim(e.Key[len(pastedCommand.FindString(e.Key)):], `"'`)
	if name == e.Key || strings.ContainsAny(name, " \t") {
		return f
	}
	f.message = "this is a command, not an assignment: leave out what is before the name"
	if _, known := k.catalog.Lookup(k.system, conffile.LinuxName(name)); known &&
		!strings.ContainsAny(e.Key+e.Value, `"'`) {
		f.fix = &Fix{Kind: FixRename, To: name, Reason: f.message}
	}
	return f
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
		message: fmt.Sprintf("%s does not exist: write net/%s/%s/%s.%s/%s",
			e.Name, parts[1], parts[2], parts[3], parts[4], parts[5]),
		because: "In a name of dots the dot of the interface separates too; in one of slashes it does not."}
}

// hasGroup reports whether the catalog has settings below a name.
func (k *checker) hasGroup(group string) bool {
	at, _ := slices.BinarySearch(k.names, group+".")
	return at < len(k.names) && strings.HasPrefix(k.names[at], group+".")
}

// covers says why a name that the catalog lacks does not exist: the catalog has
// all of its subtree. It is empty where nobody can say so.
func (k *checker) covers(name string) string {
	group, _, _ := strings.Cut(name, ".")
	switch below := func(m string) bool { return strings.HasPrefix(name, m) }; {
	case k.system == catalog.OpenBSD && !slices.Contains(openbsdGroups, group):
		return "OpenBSD has no group of settings called " + group + "."
	case k.system != catalog.OpenBSD && slices.ContainsFunc(modular, below) && !k.noAlgorithmHas(name):
		return ""
	case k.system == catalog.Linux:
		return k.coversLinux(name)
	case k.system == catalog.FreeBSD && slices.ContainsFunc(undescribed, below):
		return ""
	}
	for _, l := range listed {
		if l.system != k.system || !strings.HasPrefix(name, l.prefix) {
			continue
		}
		from, _ := slices.BinarySearch(k.names, l.prefix)
		to := from
		for to < len(k.names) && strings.HasPrefix(k.names[to], l.prefix) {
			to++
		}
		if to-from >= l.few {
			return fmt.Sprintf("The names below %s were taken from the source of %s, and this is not one of them.",
				strings.TrimSuffix(l.prefix, "."), k.system.Title())
		}
	}
	return ""
}

// noAlgorithmHas reports a name below net.inet.tcp.cc that is of none of the congestion controls, all of which the
// catalog has.
func (k *checker) noAlgorithmHas(name string) bool {
	const all = "net.inet.tcp.cc."
	group, _, below := strings.Cut(strings.TrimPrefix(name, all), ".")
	return k.system == catalog.FreeBSD && strings.HasPrefix(name, all) && below && !k.hasGroup(all+group) &&
		k.hasGroup("net.inet.tcp.cc.htcp")
}

// coversLinux looks for the largest subtree of the name that running kernels bear
// out.
func (k *checker) coversLinux(name string) string {
	parts := strings.Split(name, ".")
	for i := 1; i < len(parts); i++ {
		prefix := strings.Join(parts[:i], ".") + "."
		releases := k.catalog.Complete(k.system, prefix, k.version())
		if len(releases) == 0 {
			continue
		}
		words := make([]string, len(releases))
		for i, v := range releases {
			words[i] = string(v)
		}
		return fmt.Sprintf("The catalog has every setting below %s of running Linux %s, and not this one.",
			strings.TrimSuffix(prefix, "."), sentence(words))
	}
	return ""
}

// sentence joins words as a sentence does.
func sentence(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// nearest returns the name that was probably meant, and whether only a slip of the
// keyboard lies between: one letter.
func (k *checker) nearest(name string) (near string, slip bool) {
	const most = 1000 // each is compared with thousands of names
	if k.sought++; k.sought > most {
		return "", false
	}
	found := slices.DeleteFunc(k.catalog.Nearest(k.system, name, 4, k.catalog.Seen(k.system)...),
		func(other string) bool { return !k.meant(name, other) })
	if len(found) == 0 {
		return "", false
	}
	edits := spelling.Edits(name, found[0])
	if last := lastPart(name); edits >= len(last) {
		return "", false // nothing of the last part would be left
	}
	if edits > 2 && (edits > len(name)/4 || 10*edits > 3*len(lastPart(name)) || k.covers(name) == "") {
		return "", false
	}
	ours, theirs := lastPart(name), lastPart(found[0])
	if ours != theirs && withoutDigits(ours) == withoutDigits(theirs) && k.covers(name) == "" {
		return "", false // settings that differ in a number are others
	}
	return found[0], edits == 1 || bare(name) == bare(found[0])
}

// bare is a name without what people leave out or add when they write it from memory.
func bare(name string) string { return strings.TrimSuffix(strings.ReplaceAll(name, "_", ""), "s") }

// meant reports whether a known name can be what an unknown one stands for: one that
// the release has and that can be set, and none of another driver.
func (k *checker) meant(name, other string) bool {
	r := k.lookup(other)
	if r == nil && k.catalog.HasSeen(k.system, other) {
		// Other releases and machines have names that are much alike.
		return strings.Count(name, ".") == strings.Count(other, ".") && spelling.Edits(name, other) == 1
	}
	if r == nil || strings.Contains(other, "*") || r.StateIn(k.versions[0]) == catalog.Gone || r.Kind == catalog.ReadOnly {
		return false
	}
	ours, theirs := strings.SplitN(name, ".", 3), strings.SplitN(other, ".", 3)
	device := ours[0] == "hw" || ours[0] == "dev"
	if !device || len(ours) < 3 || len(theirs) < 3 || ours[1] == theirs[1] {
		return true
	}
	at, _ := slices.BinarySearch(k.names, ours[0]+"."+ours[1]+".")
	return at == len(k.names) || !strings.HasPrefix(k.names[at], ours[0]+"."+ours[1]+".")
}

// lastPart is what follows the last dot.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// withoutDigits is a name with its digits taken out.
func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// ownTrees are subtrees that only Linux has, or only the BSDs have.
var ownTrees = []struct {
	prefix, owner string
	linux         bool
}{
	{"kernel.", "Linux", true}, {"net.ipv4.", "Linux", true}, {"net.ipv6.", "Linux", true}, {"net.core.", "Linux", true},
	{"net.netfilter.", "Linux", true}, {"net.bridge.", "Linux", true}, {"net.inet", "the BSDs", false},
}

// wrongSystem judges a setting of another system.
func (k *checker) wrongSystem(e conffile.Entry) *finding {
	if k.file.several {
		return nil
	}
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
		if !foreign && k.covers(e.Name) == "" && owner != conffile.System(s) {
			return nil // the two BSDs share much, and this subtree is not complete
		}
		f.fix = &Fix{Kind: FixCommentOut, Reason: f.message}
		return f
	}
	for _, t := range ownTrees {
		if t.linux != (k.system == catalog.Linux) && strings.HasPrefix(e.Name, t.prefix) {
			return &finding{code: "wrong-system", severity: Error,
				because: k.system.Title() + " has no settings below " + strings.TrimSuffix(t.prefix, ".") + ".",
				message: fmt.Sprintf("%s is named like a setting of %s; %s has none of that name", e.Name, t.owner,
					k.system.Title())}
		}
	}
	return nil
}
