package lint

import (
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// pointToPoint are interfaces whose addresses need no mask: ifconfig of FreeBSD says
// so of loopback and of interfaces with two ends.
var pointToPoint = []string{"lo", "tun", "gif", "gre", "ng", "ppp", "stf", "ipsec", "me"}

// ifconfigLines are the variables of rc.conf for ifconfig, in the order of their names.
func (k *checker) ifconfigLines() iter.Seq[*assignment] {
	return func(yield func(*assignment) bool) {
		for _, key := range slices.Sorted(maps.Keys(k.set)) {
			a := k.set[key]
			if a.kind == conffile.RC && strings.HasPrefix(a.entry.Name, "ifconfig_") && !yield(a) {
				return
			}
		}
	}
}

// judgeMasks reports an IPv4 address without a mask.
func (k *checker) judgeMasks() {
	for a := range k.ifconfigLines() {
		words := strings.Fields(a.entry.Value)
		if a.entry.Has(conffile.Expands) ||
			slices.Contains(pointToPoint, strings.TrimRight(a.entry.Iface, "0123456789")) ||
			slices.Contains(words, "netmask") {
			continue
		}
		i := slices.Index(words, "inet")
		if i < 0 && !strings.Contains(a.entry.Name, "_alias") {
			words = append([]string{"inet"}, words...) // which is what ifconfig takes an address for
			i = 0
		}
		if i < 0 || i+1 == len(words) || strings.Trim(words[i+1], "0123456789.") != "" ||
			strings.Count(words[i+1], ".") != 3 ||
			i+2 < len(words) && strings.Trim(words[i+2], "0123456789.") == "" {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "syntax", severity: Warning, value: true,
			sources: []string{"ifconfig(8), netmask", "freebsd-src sbin/ifconfig/af_inet.c, warn_nomask (13 and 14), errx (15.0)"},
			message: fmt.Sprintf("%s has an address without a mask; write %s/24 or whichever prefix its network has",
				a.entry.Name, words[i+1]),
			because: "ifconfig then takes " + classMask(words[i+1]) + ", the mask of its old class, and warns that this is " +
				"deprecated; since 15.0 it refuses the address (\"... without mask is no longer supported\")."})
	}
}

// judgeRouterFamily reports a default router whose address is of the other family.
func (k *checker) judgeRouterFamily() {
	for name, other := range map[string]string{"defaultrouter": "ipv6_defaultrouter", "ipv6_defaultrouter": "defaultrouter"} {
		a := k.assigned(name)
		if a == nil || a.kind != conffile.RC || a.entry.Has(conffile.Expands) {
			continue
		}
		if at, err := netip.ParseAddr(a.entry.Value); err == nil && at.Is6() != (name == "ipv6_defaultrouter") {
			k.reportIn(a.file, a.entry, finding{code: "bad-value", severity: Warning, value: true,
				sources: []string{"rc.conf(5)", "libexec/rc/rc.d/routing, static_inet and static_inet6"},
				message: fmt.Sprintf("%s is an address of the other family: write %s", a.entry.Value, other),
				because: "rc.d/routing passes it to route for one family, which refuses it, so there is no default route."})
		}
	}
}

// judgeHarvest reports a mask of entropy sources in rc.conf that sysctl.conf sets otherwise.
func (k *checker) judgeHarvest() {
	a, other := k.assigned("harvest_mask"), k.assigned("kern.random.harvest.mask")
	if a == nil || other == nil || a.kind != conffile.RC || other.kind != conffile.Sysctl {
		return
	}
	first, err := strconv.ParseUint(a.entry.Value, 0, 64)
	second, otherErr := strconv.ParseUint(other.entry.Value, 0, 64)
	if err != nil || otherErr != nil || first == second {
		return
	}
	k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true, sources: []string{"rc.conf(5)", "rc.d/random", "rc.d/sysctl_lastload"},
		message: fmt.Sprintf("harvest_mask = %s, but %s:%d sets %s to %s", a.entry.Value, other.file.path, other.entry.Line, other.entry.Name, other.entry.Value),
		because: "rc.d/random writes the variable into the same sysctl, and sysctl.conf is applied once more at the end of the boot."})
}

// judgeBridged reports an address of an interface that is a member of a bridge.
func (k *checker) judgeBridged() {
	bridges := map[string]*assignment{}
	for a := range k.ifconfigLines() {
		words := strings.Fields(a.entry.Value)
		for i := 0; i+1 < len(words); i++ {
			if words[i] == "addm" {
				bridges[words[i+1]] = a
			}
		}
	}
	if allowed := k.effects["net.link.bridge.member_ifaddrs"]; allowed != nil && !isOff(allowed.entry.Value) {
		return
	}
	for a := range k.ifconfigLines() {
		bridge := bridges[a.entry.Iface]
		if bridge == nil || a.entry.Has(conffile.Expands) || !slices.ContainsFunc(strings.Fields(a.entry.Value), givesAddress) {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true,
			sources: []string{"bridge(4)", "FreeBSD 15.0R release notes, ifconfig(8) and members of a bridge"},
			message: fmt.Sprintf("%s gives %s an address, and %s makes it a member of %s (line %d): "+
				"the address belongs to the bridge",
				a.entry.Name, a.entry.Iface, bridge.entry.Name, bridge.entry.Iface, bridge.entry.Line),
			because: "Since 15.0 the address or the membership is refused unless net.link.bridge.member_ifaddrs is 1, " +
				"which 16 takes away; before, packets of the bridge's other members reach it badly or not at all."})
	}
}

// judgeTags reports a named VLAN that gets no tag: a number in vlans_IF is its tag, a name has it in create_args.
func (k *checker) judgeTags() {
	for _, key := range slices.Sorted(maps.Keys(k.set)) {
		a := k.set[key]
		parent, vlans := strings.CutPrefix(a.entry.Name, "vlans_")
		if !vlans || a.kind != conffile.RC || a.entry.Has(conffile.Expands|conffile.Conditional) {
			continue
		}
		for _, name := range strings.Fields(a.entry.Value) {
			args, line := k.assigned("create_args_"+name), k.set["ifconfig_"+name+"\x00"+name]
			if strings.Trim(name, "0123456789") == "" || args != nil || line != nil && (line.entry.Has(conffile.Expands) ||
				slices.Contains(strings.Fields(line.entry.Value), "vlan")) {
				continue
			}
			k.reportIn(a.file, a.entry, finding{code: "needs", severity: Warning, value: true,
				sources: []string{"rc.conf(5), vlans_<interface>", "libexec/rc/network.subr, childif_create"},
				message: fmt.Sprintf("%s lists %q, and no line sets create_args_%s=\"vlan NUMBER\"", a.entry.Name, name, name),
				because: fmt.Sprintf("A VLAN of %s that is a name and no number needs its tag from there.", parent)})
		}
	}
}

// givesAddress reports a word of ifconfig_IF by which the interface gets an address.
func givesAddress(word string) bool {
	return word == "inet" || strings.EqualFold(word, "DHCP") || strings.EqualFold(word, "SYNCDHCP")
}

// classMask is the prefix length that an address had before there were masks.
func classMask(address string) string {
	first, _, _ := strings.Cut(address, ".")
	n, _ := parseNumber(first, catalog.OpenBSD, "")
	switch {
	case n < 128:
		return "/8"
	case n < 192:
		return "/16"
	}
	return "/24"
}

// judgeTranslation reports segmentation in the card where the kernel's own
// translation of addresses (libalias) sees the packets.
func (k *checker) judgeTranslation() {
	var nat *assignment
	for _, name := range []string{"firewall_nat_enable", "natd_enable"} {
		if k.switchedOn(name) {
			nat = k.assigned(name)
		}
	}
	tso := k.effects["net.inet.tcp.tso"]
	if nat == nil || tso == nil || isOff(tso.entry.Value) {
		return
	}
	k.reportIn(tso.file, tso.entry, finding{code: "conflict", severity: Warning, value: true,
		sources: []string{"ipfw(8), NETWORK ADDRESS TRANSLATION (NAT)", "libalias(3)"},
		message: fmt.Sprintf("%s = %s, and %s:%d translates addresses by libalias, which needs 0",
			tso.entry.Name, tso.entry.Value, nat.file.path, nat.entry.Line),
		because: "By the design of libalias the translation is not compatible with segmentation in the card, as ipfw(8) has " +
			"it, so that connections of this host are not translated reliably."})
}

// localVariable judges the variables of daemons of OpenBSD.
func (k *checker) localVariable(e conffile.Entry) *finding {
	daemon, flags := strings.CutSuffix(e.Name, "_flags")
	if k.system != catalog.OpenBSD || k.kindOf(e) != conffile.RC {
		return nil
	}
	switch on, gone := strings.EqualFold(e.Value, "yes"), goneDaemons[daemon]; {
	case flags && gone.release != "" && !strings.EqualFold(e.Value, "no") && k.versions[0].AtLeast(gone.release):
		return &finding{code: "removed", severity: Warning, sources: []string{"openbsd/www faq/" + gone.page},
			message: fmt.Sprintf("%s has nothing to start: OpenBSD has no %s since %s", e.Name, daemon, gone.release),
			because: "Use " + gone.instead + " instead."}
	case e.Name == "pf" && strings.EqualFold(e.Value, "no"):
		return &finding{code: "weakens-security", severity: Warning, value: true, sources: []string{"rc.conf(8)", "pf(4)"},
			message: "pf=NO leaves the host without its packet filter",
			because: "pf is on by default; without it every service of the host is reached from outside, and nothing is translated."}
	case flags && on:
		return &finding{code: "harmful", severity: Warning, value: true,
			sources: []string{"rc.conf(8)", "openbsd/src etc/rc.d/rc.subr, rc_cmd"},
			message: fmt.Sprintf("%s = %s starts %s with the argument %q", e.Name, e.Value, daemon, e.Value),
			because: "The value is the daemon's arguments: an empty one switches it on, and NO off (rcctl enable " +
				daemon + ")."}
	case slices.Contains(baseDaemons, e.Name):
		return &finding{code: "unknown-key", severity: Warning, sources: []string{"rc.conf.local(8)", "openbsd/src etc/rc.conf"},
			message: fmt.Sprintf("%s is not a variable of OpenBSD's rc.conf; nothing reads it", e.Name),
			because: fmt.Sprintf("The daemon starts by %s_flags=, with its arguments or nothing behind it (rcctl enable %s).",
				e.Name, e.Name)}
	}
	return nil
}

// goneDaemons are daemons that OpenBSD no longer has, and no package of the same name either.
var goneDaemons = map[string]struct {
	release       catalog.Version
	instead, page string
}{
	"rtadvd":  {"6.4", "rad, with a line \"interface em1\" in /etc/rad.conf,", "upgrade64.html"},
	"named":   {"5.7", "unbound or nsd, or isc_named of the package isc-bind,", "upgrade57.html"},
	"rtsold":  {"5.7", "inet6 autoconf in hostname.if", "upgrade57.html"},
	"rebound": {"6.7", "unwind", "upgrade67.html"},
	"switchd": {"7.2", "veb(4)", "upgrade72.html"},
	"timed":   {"5.0", "ntpd", "upgrade50.html"},
}

// baseDaemons are daemons of OpenBSD's own, which its rc.conf has NAME_flags for.
var baseDaemons = []string{"httpd", "ntpd", "sshd", "relayd", "smtpd", "bgpd", "ospfd", "dhcpd", "rad", "unbound", "nsd", "vmd",
	"snmpd", "hotplugd", "apmd", "sndiod", "unwind", "slowcgi", "iked", "ftpproxy", "tftpd", "cron", "syslogd", "slaacd"}

// hostBits judges an address of pf.conf with bits behind its prefix.
func (k *checker) hostBits(e conffile.Entry) *finding {
	if e.Name != "pf:rule/host-bits" {
		return nil
	}
	address, _, _ := strings.Cut(e.Key, "/")
	return &finding{code: "harmful", severity: Warning,
		sources: []string{"pfctl_parser.c of OpenBSD and FreeBSD, set_ipmask"},
		message: fmt.Sprintf("%s means the whole network %s", e.Key, e.Value),
		because: fmt.Sprintf("pfctl clears the host bits. Write %s to match only this host, "+
			"and %s to match the network.", address, e.Value)}
}

// pfFaults are what the reader of pf.conf reports about rules and queues, by the name that it gives them; {key} and {value}
// stand for those of its entry.
var pfFaults = map[string]struct {
	code             string
	sources          []string
	message, because string
}{
	"plain": {"unknown-key", []string{"pf.conf(5), MACROS"},
		"{key} is read as an interface name: write {value} for the macro",
		"pf accepts interfaces that do not exist yet, so the rule is loaded, but no packet matches it or is translated."},
	"other": {"unknown-key", []string{"pf.conf(5), MACROS", "openbsd/src sys/net/pf_if.c, pfi_match_addr: 0 without addresses"},
		"{key} is read as an interface name: write {value} for the macro",
		"pf accepts interfaces that do not exist yet. Such an interface has no address, so that with ! before it nothing is left out."},
	"skipped": {"no-effect", []string{"pf.conf(5), set skip"},
		"this rule has no effect: set skip exempts {value} from filtering",
		"pf passes every packet on a skipped interface without evaluating rules. Take the interface out of set skip, or remove the rule."},
	"missed": {"unknown-key", []string{"pf.conf(5), set skip", "lo(4)"},
		"set skip on {key} skips no interface: did you mean {value}?",
		"pf accepts interfaces that do not exist, so that the loopback interface is filtered."},
	"resolved": {"harmful", []string{"pf.conf(5): names are resolved when the rules are loaded", "openbsd/src sbin/pfctl/pfctl_parser.c, host_dns"},
		"{value} is looked up only when the rules are loaded",
		"If the name cannot be resolved then, as at boot before the resolver runs, pfctl refuses the whole file; a later change " +
			"of the address goes unnoticed. Write the address, or fill a table with pfctl -T replace."},
	"egress": {"no-effect", []string{"ifconfig(8), group", "openbsd/src sys/net/if.c, if_group_egress_build"},
		"rules for egress match no packet: FreeBSD puts no interface into this group",
		"Only OpenBSD maintains the group. Name the interface instead, or add group egress to its ifconfig line in rc.conf."},
	"unreached": {"no-effect", []string{"pf.conf(5), quick"},
		"this rule has no effect: the quick rule in line {value} matches everything that it matches",
		"pf stops at the first matching rule with quick. Move this rule above that one."},
	"overruled": {"no-effect", []string{"pf.conf(5): the last matching rule decides"},
		"this rule has no effect: the later rule in line {value} matches everything that it matches",
		"Without quick the last matching rule decides. Add quick to this rule, or move the general rule above it."},
	"overload": {"no-effect", []string{"pf.conf(5): the last matching rule decides"},
		"this block rule does not stop what the later rule in line {value} passes, the one that fills the table",
		"Without quick the last matching rule decides, so the sources in the table can connect again. Write block in quick."},
	"second": {"no-effect", []string{"pf.conf(5) of FreeBSD, TRANSLATION: the first matching rule decides"},
		"this rule has no effect: the rule in line {value} comes first and matches everything that it matches",
		"Of rules of translation the first that matches decides, unlike filter rules. Move this rule above that one."},
	"source": {"no-effect", []string{"pf.conf(5), TRANSLATION: the rules that follow see what has been translated"},
		"this rule matches nothing: the rule in line {value} replaces the source {key} before",
		"Translation comes first, and a rule for outgoing packets then sees the new address. Filter where the packets come in, or by a tag."},
	"loopback": {"harmful", []string{"pf.conf(5), set skip"},
		"this rule also blocks what the host sends to itself over the loopback interface",
		"No rule passes what comes in on lo0, so that local services such as a resolver on 127.0.0.1 do not answer. Write set skip on lo0."},
	"few": {"harmful", []string{"pf.conf(5), max-src-conn, overload"},
		"{key} shuts out clients that do no more than is usual",
		"A browser opens up to six connections to a host at once, a mail server up to twenty, and hosts behind one translated address " +
			"share theirs. Allow 50 or more."},
	"unused": {"no-effect", []string{"pf.conf(5), overload"},
		"addresses are put into {key}, but no rule uses the table",
		"A source that exceeds the limit can connect again at once. Write block in quick from {key} above this rule."},
	"uncapped": {"no-effect", []string{"pf.conf(5), QUEUEING: max"},
		"the queue {key} has no max, so it limits nothing",
		"bandwidth only divides the interface when the interface itself is full. If the link behind it is slower, packets " +
			"queue there instead of here. Set max slightly below the rate of that link."},
	"guarantees": {"conflict", []string{"pf.conf(5), QUEUEING: min"},
		"the queues below {key} are guaranteed {value} Mbit/s in total, more than {key} has",
		"min is what a queue gets regardless of the others; pf cannot guarantee more than the parent has. Lower the min values."},
	"default-queue": {"harmful", []string{"pf.conf(5), QUEUEING"},
		"unassigned traffic uses {key}, and no rule assigns any to {value}, which is much faster",
		"The queue marked default takes all traffic that no rule assigns. Mark the faster queue as default, or assign traffic to it."},
	"commented": {"no-effect", []string{"openbsd/src and freebsd-src sbin/pfctl/parse.y, lgetc"},
		"this line belongs to the comment above, which ends in a backslash",
		"Lines are joined before comments are looked for. Remove the backslash at the end of the comment."},
	"antispoof": {"harmful", []string{"pf.conf(5), antispoof: loopback interfaces need set skip or a rule that passes them"},
		"antispoof quick for {key} also blocks what the host sends to its own address on {key}",
		"Such packets pass lo0, with an address that belongs to {key}. Write set skip on lo."},
	"driver": {"no-effect", []string{"openbsd/www faq/upgrade50.html: set skip handles groups"},
		"set skip on {key} skips no interface: only groups and interfaces with their number are taken",
		"No card is in a group by the name of its driver unless hostname.if says so. Name the interface, as in {key}0."},
	"proxy": {"no-effect", []string{"openbsd/www faq/upgrade50.html: ftp-proxy(8) and tftp-proxy(8)"},
		"{value} does not learn the server from rdr-to: write divert-to instead, in a rule with inet",
		"Since OpenBSD 5.0 {value} takes the address that the connection was made to, which rdr-to has replaced with its own."},
	"again": {"duplicate", []string{"pf.conf(5), MACROS"},
		"line {value} defines the macro {key} again, with another value, before anything uses it",
		"The later definition replaces this one. Write both values in one line."},
}

// ofPF is the name of the file of pf, setsOption a line that a part of it does not have, and inPart a comment that says so.
var (
	ofPF       = regexp.MustCompile(`(?:^|[/._-])pf\.conf`)
	inPart     = regexp.MustCompile(`(?i)#.*\b(?:snippets?|excerpts?|fragments? of|part of)\b`)
	setsOption = regexp.MustCompile(`(?m)^[ \t]*set[ \t]`)
)

// undefinedName judges a name in pf.conf that is not the one that was defined.
func (k *checker) undefinedName(e conffile.Entry) *finding {
	if e.Name == "pf:rule/loopback" && !setsOption.MatchString(k.file.text) && (!ofPF.MatchString(k.file.path) || inPart.MatchString(k.file.text)) {
		return nil // the rules of an anchor, or a part of a file
	}
	if fault, known := pfFaults[strings.TrimPrefix(e.Name, "pf:rule/")]; known {
		filled := strings.NewReplacer("{key}", e.Key, "{value}", e.Value)
		return &finding{code: fault.code, severity: Warning, sources: fault.sources, message: filled.Replace(fault.message),
			because: filled.Replace(fault.because)}
	}
	switch e.Name {
	case "pf:rule/macro":
		f := finding{code: "unknown-key", severity: Warning, sources: []string{"pf.conf(5), MACROS"},
			message: fmt.Sprintf("the macro %s is not defined above this line", e.Key),
			because: "pfctl refuses the whole file because of this line."}
		if e.Value != "" {
			f.severity, f.because = Error, "" // report adds the consequence
			f.message += "; did you mean " + e.Value + "?"
		}
		return &f
	case "pf:rule/table":
		f := finding{code: "unknown-key", severity: Warning, sources: []string{"pf.conf(5), TABLES"},
			message: fmt.Sprintf("no line defines the table %s", e.Key),
			because: "pf creates the table empty, so the rule matches no packet until pfctl -t " + e.Key + " -T add fills it."}
		if e.Value != "" {
			f.message += "; did you mean " + e.Value + "?"
		}
		return &f
	case "pf:rule/translated":
		if !k.known || k.versions[0].AtLeast("15.0") {
			return nil
		}
		return &finding{code: "not-yet", severity: Error, sources: []string{"pf.conf(5) of FreeBSD 14"},
			message: fmt.Sprintf("FreeBSD %s has no %s: write a rule that begins with nat or rdr", k.versions[0], e.Value)}
	case "pf:rule/segment":
		return k.segment(e)
	case "pf:rule/fixed":
		return k.fixedAddress(e)
	}
	return nil
}
