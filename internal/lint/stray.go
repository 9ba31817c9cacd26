package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// stray judges a name without dots that the catalog does not have: a variable of
// loader.conf or rc.conf, or a key of a sysctl file.
func (k *checker) stray(e conffile.Entry) []finding {
	kind := k.kindOf(e)
	switch {
	case kind == conffile.Sysctl:
		return k.withoutGroup(e)
	case k.system == catalog.FreeBSD && kind == conffile.Loader:
		return k.strayInLoader(e)
	case k.system == catalog.FreeBSD && kind == conffile.RC && !e.Has(conffile.Part):
		return k.misspeltVariable(e)
	case k.system == catalog.OpenBSD && kind == conffile.RC && strings.HasSuffix(e.Name, "_enable"):
		daemon := strings.TrimSuffix(e.Name, "_enable")
		return []finding{{code: "unknown-key", severity: Warning, sources: []string{"rc.conf.local(8)", "rc.d(8)"},
			message: fmt.Sprintf("%s is not a variable of OpenBSD's rc.conf; nothing reads it", e.Name),
			because: fmt.Sprintf("A daemon of the system starts by %s_flags=, one of a package by its name in pkg_scripts; "+
				"rcctl enable writes the right one.", daemon)}}
	}
	return nil
}

// rcForms begin the names of rc.conf's variables that hold an interface or a route.
var rcForms = []string{"ifconfig_", "ipv4_addrs_", "vlans_", "wlans_", "create_args_", "route_", "static_route"}

// Words of names that the loader itself, its menu or the kernel read (loader.conf(5),
// stand/defaults/loader.conf), and the ends of those that go with a module.
var (
	loaderForms = []string{"boot", "loader_", "efi_", "geom_", "comconsole", "init_", "kernel", "module_", "screen_",
		"zfs_", "beastie_",
		"entropy_", "autoboot", "verbose_", "smbios", "tftp", "console", "vidconsole", "opt_"}
	moduleEnds = []string{"_name", "_type", "_flags", "_before", "_after", "_error"}
)

// strayInLoader judges a variable of loader.conf that belongs elsewhere, or a module
// without the ending that loads it.
func (k *checker) strayInLoader(e conffile.Entry) []finding {
	begins := func(form string) bool { return strings.HasPrefix(e.Name, form) }
	switch {
	case strings.HasSuffix(e.Name, "_enable") || slices.ContainsFunc(rcForms, begins):
		return []finding{{code: "wrong-file", severity: Warning, sources: []string{"loader.conf(5)", "rc.conf(5)"},
			message: e.Name + " is a variable of rc.conf by its name; nothing reads it from the loader",
			because: "The loader passes it on, and the scripts of rc.d, which ask for such variables, do not see it."}}
	case isModule(e.Name):
		return k.misspeltModule(e)
	case !strings.EqualFold(e.Value, "yes") || slices.ContainsFunc(loaderForms, begins) ||
		slices.ContainsFunc(moduleEnds, func(end string) bool { return strings.HasSuffix(e.Name, end) }):
		return nil
	}
	return []finding{{code: "unknown-key", severity: Warning, sources: []string{"loader.conf(5)"},
		message: fmt.Sprintf("%s is not a variable of the loader; %s_load=\"YES\" loads a module of that name",
			e.Name, e.Name),
		because: "Only what ends in _load makes the loader load something, and nothing else reads this name."}}
}

// portEnds are the ends of names that ports give their own variables.
var portEnds = []string{"enable", "flags", "program", "config", "conf", "user", "group", "dir",
	"args", "env", "pidfile"}

// misspeltVariable judges a variable of rc.conf that is a slip from a known one. Ports
// bring others that nobody lists.
func (k *checker) misspeltVariable(e conffile.Entry) []finding {
	at := strings.LastIndexByte(e.Name, '_')
	front, end := e.Name[:max(at, 0)], e.Name[at+1:]
	if iface, older := strings.CutPrefix(e.Name, "ipv6_ifconfig_"); older {
		to := "ifconfig_" + iface
		if !strings.Contains(iface, "_alias") {
			to += "_ipv6"
		}
		return []finding{{code: "renamed", severity: Warning, sources: []string{"libexec/rc/network.subr, ifalias_af_common"},
			message: fmt.Sprintf("%s is obsolete; the address belongs into %s=\"inet6 ...\"", e.Name, to),
			because: "The name is that of releases before 9.0; the scripts warn at each start."}}
	}
	near := k.inSmallLetters(e)
	command, joined := strings.CutPrefix(e.Name, "sysrc_") // the command that sets a variable
	switch {
	case near != "":
	case joined && (strings.HasSuffix(command, "_enable") || k.lookup(command) != nil):
		near = command
	case at > 0 && (spelling.Edits(end, "enable") == 1 || swapped(end, "enable")) && k.lookup(front+"_enable") != nil:
		near = front + "_enable"
	case len(e.Name) >= 8 && !slices.Contains(portEnds, end):
		other, slip := k.nearest(e.Name)
		if r := k.lookup(other); slip && r != nil && slices.Contains(r.Belongs, "rc") &&
			withoutDigits(other) != withoutDigits(e.Name) {
			near = other
		}
	}
	if near == "" {
		return nil
	}
	f := finding{code: "unknown-key", severity: Warning, sources: []string{"rc.conf(5)"},
		message: fmt.Sprintf("%s is not known; did you mean %s?", e.Name, near),
		because: "No rc script reads a variable of this name."}
	f.fix = &Fix{Kind: FixRename, To: near, Reason: f.message}
	return []finding{f}
}

// inSmallLetters is the variable of rc.conf that a name is but for its capital letters; "" for another name.
func (k *checker) inSmallLetters(e conffile.Entry) string {
	front, end, _ := strings.Cut(e.Name, "_")
	small := strings.ToLower(front) + "_" + strings.ToLower(end)
	if strings.EqualFold(front, "ifconfig") {
		iface, family, _ := strings.Cut(end, "_")
		if small = "ifconfig_" + iface; family != "" {
			small += "_" + strings.ToLower(family)
		}
	}
	if small == e.Name || k.lookup(small) == nil {
		return ""
	}
	return small
}

// numberedAlias is the end of a variable for one more address of an interface.
var numberedAlias = regexp.MustCompile(`^alias[0-9]+$`)

// capitalFamily finds a variable of an interface whose end is ipv6 or aliasN in capital letters.
func (k *checker) capitalFamily(e conffile.Entry) *finding {
	iface, of := strings.CutPrefix(e.Name, "ifconfig_")
	at := strings.LastIndexByte(iface, '_')
	if !of || at < 1 || k.system != catalog.FreeBSD || k.kindOf(e) != conffile.RC {
		return nil
	}
	small := strings.ToLower(iface[at+1:])
	if small == iface[at+1:] || small != "ipv6" && !numberedAlias.MatchString(small) {
		return nil
	}
	meant := "ifconfig_" + iface[:at+1] + small
	f := &finding{code: "unknown-key", severity: Warning, sources: []string{"rc.conf(5)"},
		message: fmt.Sprintf("%s is not known; did you mean %s?", e.Name, meant),
		because: "No rc script reads a variable of this name."}
	f.fix = &Fix{Kind: FixRename, To: meant, Reason: f.message}
	return f
}

// noSwitch judges a switch of rc.conf whose value is neither of the words that the scripts know.
func (k *checker) noSwitch(e conffile.Entry) *finding {
	if k.system != catalog.FreeBSD || k.kindOf(e) != conffile.RC || !strings.HasSuffix(e.Name, "_enable") ||
		e.Has(conffile.Expands) || !plainWord.MatchString(e.Value) {
		return nil
	}
	value := strings.ToLower(e.Value)
	if _, known := truth(value); known && value != "enabled" {
		return nil // NONE and DISABLED are taken for NO
	}
	r := k.lookup(e.Name)
	slip := spelling.Slip(value, "yes") || spelling.Slip(value, "true") || spelling.Slip(value, "false")
	if len(value) > 1 && !slip && !strings.HasPrefix(value, "enable") && (r == nil || r.Type != catalog.TypeBool) {
		return nil // of a port, which may know other words
	}
	return &finding{code: "bad-value", severity: Warning, value: true, sources: []string{"rc.subr(8), checkyesno"},
		message: fmt.Sprintf("%s takes YES or NO; %q counts as NO, with a warning", e.Name, e.Value),
		because: "The scripts know YES, TRUE, ON and 1 for one, and NO, FALSE, OFF and 0 for the other."}
}

var plainWord = regexp.MustCompile(`^[A-Za-z]{1,12}$`)

// jailParameter judges a sysctl that tells which parameters jails have (sysctl_jail_param of kern_jail.c).
func (k *checker) jailParameter(e conffile.Entry) *finding {
	parameter, ok := strings.CutPrefix(e.Name, "security.jail.param.")
	if !ok || k.system != catalog.FreeBSD {
		return nil
	}
	return &finding{code: "no-effect", severity: Warning, sources: []string{"freebsd-src sys/kern/kern_jail.c, sysctl_jail_param"},
		message: fmt.Sprintf("%s holds no value: write %s into /etc/jail.conf, for the jails that need it", e.Name, parameter),
		because: "The names below security.jail.param tell which parameters jails have, and what is written to them is thrown away or refused."}
}

// placeholder finds a letter that a manual prints for the number of a card.
func (k *checker) placeholder(e conffile.Entry) *finding {
	parts := strings.Split(e.Name, ".")
	i := slices.IndexFunc(parts, func(p string) bool { return p == "X" || p == "N" || p == "x" })
	if k.system != catalog.FreeBSD || i < 2 || parts[0] != "dev" && parts[0] != "hw" {
		return nil
	}
	letter := parts[i]
	parts[i] = "0"
	meant := strings.Join(parts, ".")
	all := strings.Join(slices.Delete(slices.Clone(parts), i, i+1), ".")
	example := "as in " + meant
	switch {
	case k.lookup(meant) != nil:
	case k.lookup(all) != nil:
		example = all + " is for all cards"
	default:
		return nil
	}
	return &finding{code: "unknown-key", severity: Warning, sources: []string{"loader.conf(5)", "sysctl(8)"},
		message: fmt.Sprintf("%s does not exist: %s stands for the number of a card; %s", e.Name, letter, example),
		because: "Nothing reads the name with the letter."}
}

// unitless finds a setting of a card without the number of the card.
func (k *checker) unitless(e conffile.Entry) *finding {
	parts := strings.SplitN(e.Name, ".", 3)
	if k.system != catalog.FreeBSD || len(parts) < 3 || parts[0] != "dev" || strings.Trim(parts[2], "0123456789") == "" {
		return nil
	}
	unit, _, _ := strings.Cut(parts[2], ".")
	cards := "dev." + parts[1] + ".*."
	at, _ := slices.BinarySearch(k.names, cards)
	if strings.Trim(unit, "0123456789") == "" || at == len(k.names) || !strings.HasPrefix(k.names[at], cards) {
		return nil
	}
	meant := fmt.Sprintf("dev.%s.0.%s", parts[1], parts[2])
	return &finding{code: "unknown-key", severity: Warning, sources: []string{"sysctl(8)"},
		message: fmt.Sprintf("%s does not exist: the number of the card is missing, as in %s", e.Name, meant),
		because: fmt.Sprintf("Each card has settings of its own, %s0 those below dev.%s.0.", parts[1], parts[1])}
}

// families are the words by which an alias of rc.conf says what kind of address it is.
var families = []string{"inet", "inet6", "ether", "link"}

// judgeAliases reports aliases of an interface that do not name the address family.
func (k *checker) judgeAliases() {
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		a := k.set[key]
		words := strings.Fields(a.entry.Value)
		_, number, _ := strings.Cut(a.entry.Name, "_alias")
		numbered := number != "" && strings.Trim(number, "0123456789") == ""
		if a.kind != conffile.RC || !strings.HasPrefix(a.entry.Name, "ifconfig_") || !numbered || len(words) == 0 ||
			slices.Contains(families, words[0]) || a.entry.Has(conffile.Expands) {
			continue
		}
		family, severity, because := "inet", Info, "The scripts take it for an IPv4 address, and warn at each start."
		if strings.Contains(words[0], ":") {
			family, severity, because = "inet6", Warning, "The scripts take it for an IPv4 address, which this is not."
		}
		k.reportIn(a.file, a.entry, finding{code: "syntax", severity: severity, value: true,
			sources: []string{"rc.conf(5), ifconfig_<interface>_alias<n>", "libexec/rc/network.subr, ifalias_af_common"},
			message: fmt.Sprintf("%s does not say what kind of address follows; begin it with %q", a.entry.Name, family),
			because: because})
	}
}
