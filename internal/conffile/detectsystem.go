package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// votes counts lines that belong to one system.
type votes struct{ linux, freebsd, openbsd, bsd int }

// winner returns the system that more lines speak for than for any other, or
// whether at least the family is certain.
func (v votes) winner() (system System, bsd bool) {
	all := v.freebsd + v.openbsd + v.bsd
	switch {
	case v.linux > all:
		return Linux, false
	case all == 0 || v.linux == all:
		return "", false
	case v.freebsd > v.openbsd:
		return FreeBSD, true
	case v.openbsd > v.freebsd:
		return OpenBSD, true
	}
	return "", true
}

// systemPrefixes are the beginnings of keys that only one system has.
var systemPrefixes = []struct {
	prefix string
	system System
}{
	{"net.ipv4.", Linux}, {"net.ipv6.", Linux}, {"net.core.", Linux}, {"net.netfilter.", Linux}, {"net.nf_", Linux},
	{"net.bridge.", Linux}, {"net.unix.", Linux}, {"net.mptcp.", Linux}, {"kernel.", Linux}, {"fs.", Linux},
	{"vm.min_free", Linux}, {"vm.overcommit_", Linux},
	{"vm.vfs_", Linux}, {"vm.swapi", Linux}, {"vm.swapp", Linux}, {"vm.dirty", Linux}, {"vm.nr_", Linux},
	{"vm.max_map", Linux}, {"vm.zone_", Linux}, {"vm.mmap_", Linux}, {"vm.drop_", Linux}, {"vm.compact", Linux},
	{"vm.hugetlb", Linux}, {"vm.page-", Linux}, {"vm.watermark_", Linux}, {"vm.numa_", Linux},
	{"kern.ipc.", FreeBSD}, {"net.isr.", FreeBSD}, {"vfs.", FreeBSD}, {"security.", FreeBSD}, {"dev.", FreeBSD},
	{"net.link.", FreeBSD}, {"net.pf.", FreeBSD}, {"net.inet.tcp.cc.", FreeBSD}, {"net.inet.tcp.functions", FreeBSD},
	{"net.inet.tcp.syncache", FreeBSD}, {"net.inet.tcp.hostcache", FreeBSD}, {"net.inet.tcp.sendbuf", FreeBSD},
	{"net.inet.tcp.recvbuf", FreeBSD}, {"net.inet.tcp.sendspace", FreeBSD}, {"net.inet.tcp.recvspace", FreeBSD},
	{"net.inet.tcp.msl", FreeBSD}, {"net.inet.tcp.blackhole", FreeBSD}, {"net.inet.udp.blackhole", FreeBSD},
	{"net.inet.tcp.delayed_ack", FreeBSD}, {"net.inet.tcp.nolocaltimewait", FreeBSD},
	{"net.inet.tcp.path_mtu", FreeBSD},
	{"net.inet.ip.portrange.", FreeBSD}, {"net.inet.ip.fw.", FreeBSD}, {"net.inet.ip.dummynet", FreeBSD},
	{"net.inet.ip.intr_", FreeBSD}, {"net.inet.ip.fastforwarding", FreeBSD}, {"net.inet.ip.random_id", FreeBSD},
	{"net.inet.icmp.drop_redirect", FreeBSD}, {"net.inet.icmp.icmplim", FreeBSD}, {"net.inet.raw.", FreeBSD},
	{"net.local.", FreeBSD},
	{"net.route.", FreeBSD}, {"kern.random.", FreeBSD}, {"kern.sched.", FreeBSD}, {"kern.geom.", FreeBSD},
	{"kern.maxfilesperproc", FreeBSD}, {"kern.hz", FreeBSD}, {"kern.randompid", FreeBSD}, {"hw.igb.", FreeBSD},
	{"hw.intr_storm", FreeBSD},
	{"hw.acpi.", FreeBSD}, {"net.bpf.", FreeBSD}, {"compat.", FreeBSD}, {"kern.eventtimer", FreeBSD}, {"kern.evdev", FreeBSD},
	{"net.add_addr", FreeBSD}, {"vm.pmap.", FreeBSD}, {"vm.kmem_", FreeBSD}, {"hw.em.", FreeBSD}, {"hw.ix.", FreeBSD},
	{"hw.cxgbe.", FreeBSD}, {"hw.vtnet.", FreeBSD}, {"hw.ibrs_", FreeBSD}, {"hw.snd.", FreeBSD}, {"hw.usb.", FreeBSD},
	{"hw.pci.", FreeBSD}, {"kern.cam.", FreeBSD}, {"kern.elf", FreeBSD}, {"kern.racct.", FreeBSD}, {"kern.vt.", FreeBSD},
	{"machdep.hyperthreading", FreeBSD},
	{"ddb.panic", OpenBSD}, {"ddb.console", OpenBSD}, {"machdep.allowaperture", OpenBSD},
	{"kern.bufcachepercent", OpenBSD},
	{"kern.pool_debug", OpenBSD}, {"kern.seminfo.", OpenBSD}, {"kern.shminfo.", OpenBSD}, {"kern.maxclusters", OpenBSD},
	{"kern.somaxconn", OpenBSD}, {"kern.sominconn", OpenBSD}, {"kern.nosuidcoredump", OpenBSD},
	{"kern.splassert", OpenBSD},
	{"kern.audio.", OpenBSD}, {"kern.video.", OpenBSD}, {"hw.smt", OpenBSD}, {"hw.perfpolicy", OpenBSD},
	{"hw.setperf", OpenBSD},
	{"hw.allowpowerdown", OpenBSD}, {"machdep.lidaction", OpenBSD}, {"machdep.kbdreset", OpenBSD},
	{"vm.swapencrypt", OpenBSD}, {"vm.kmem_size", FreeBSD},
	{"net.inet.ip.ifq.", OpenBSD}, {"net.inet.ip.multipath", OpenBSD}, {"net.inet6.ip6.multipath", OpenBSD},
	{"net.inet.ip.mtudisc", OpenBSD}, {"net.inet.tcp.baddynamic", OpenBSD}, {"net.inet.udp.baddynamic", OpenBSD},
	{"net.inet.tcp.synbucketlimit", OpenBSD}, {"net.inet.tcp.syncachelimit", OpenBSD},
	{"net.inet.tcp.synhashsize", OpenBSD}, {"net.inet.tcp.keepinittime", OpenBSD}, {"net.inet.tcp.rstppslimit", OpenBSD},
	{"net.inet.tcp.synuselimit", OpenBSD}, {"net.inet.tcp.reasslimit", OpenBSD}, {"net.inet.tcp.sackholelimit", OpenBSD},
	{"net.inet.tcp.rootonly", OpenBSD}, {"net.inet.udp.rootonly", OpenBSD}, {"net.inet.ip.maxqueue", OpenBSD},
	{"net.inet.ip.mforwarding", OpenBSD}, {"net.inet6.ip6.mforwarding", OpenBSD}, {"net.inet.ip.arpqueue", OpenBSD},
	{"net.inet.ip.encdebug", OpenBSD}, {"net.inet.ip.directed-broadcast", OpenBSD}, {"net.inet.ip.ipsec-", OpenBSD},
	{"net.inet.tcp.ackonpush", OpenBSD}, {"net.inet.ip.porthilast", OpenBSD}, {"net.inet.ip.portfirst", OpenBSD},
	{"net.inet.udp.sendspace", OpenBSD}, {"net.inet.esp.", OpenBSD}, {"net.inet.ah.", OpenBSD},
	{"net.inet.etherip.", OpenBSD},
	{"net.inet.gre.", OpenBSD}, {"net.inet.ipcomp.", OpenBSD}, {"net.bpf.bufsize", OpenBSD}, {"net.mpls.", OpenBSD},
	{"net.pipex.", OpenBSD},
	{"net.inet.", ""}, {"net.inet6.", ""}, {"kern.", ""}, {"hw.", ""}, {"machdep.", ""}, {"debug.", ""},
}

// systemWords are texts that only one system's files of other formats hold.
var systemWords = []struct {
	kind   Kind
	word   string
	system System
}{
	{RC, "_enable=", FreeBSD}, {RC, "ifconfig_", FreeBSD}, {RC, "kld_list", FreeBSD},
	{RC, "cloned_interfaces", FreeBSD},
	{RC, "_flags=", ""}, {RC, "pkg_scripts=", OpenBSD}, {RC, "_timeout=", OpenBSD},
	{RC, "pf=NO", OpenBSD}, {RC, "pf=YES", OpenBSD}, {RC, "ipsec=NO", OpenBSD}, {RC, "ipsec=YES", OpenBSD},
	{RC, "pflogd_flags=", OpenBSD}, {RC, "isakmpd_flags=", OpenBSD}, {RC, "npppd_flags=", OpenBSD},
	{RC, "xenodm_flags=", OpenBSD}, {RC, "slaacd_flags=", OpenBSD}, {RC, "resolvd_flags=", OpenBSD},
	{RC, "dhcpleased_flags=", OpenBSD}, {RC, "dhcp6leased_flags=", OpenBSD}, {RC, "rad_flags=", OpenBSD},
	{RC, "unwind_flags=", OpenBSD}, {RC, "vmd_flags=", OpenBSD}, {RC, "sndiod_flags=", OpenBSD},
	{RC, "relayd_flags=", OpenBSD}, {RC, "library_aslr=", OpenBSD}, {RC, "shlib_dirs=", OpenBSD},
	{RC, "check_quotas=", OpenBSD}, {RC, "spamd_black=", OpenBSD},
	{PF, "altq", FreeBSD}, {PF, "scrub in", FreeBSD}, {PF, "scrub on", FreeBSD}, {PF, "rdr on", FreeBSD},
	{PF, "rdr pass", FreeBSD},
	{PF, "nat on", FreeBSD}, {PF, "match ", OpenBSD}, {PF, "rdr-to", OpenBSD}, {PF, "nat-to", OpenBSD},
	{PF, "block return", ""},
	{Script, "ethtool ", Linux}, {Script, "ip link", Linux}, {Script, "ip route", Linux}, {Script, "modprobe ", Linux},
	{Script, "/proc/sys", Linux}, {Script, "/proc/irq", Linux}, {Script, "irqbalance", Linux},
	{Script, "/sys/class/net", Linux}, {Script, " qdisc ", Linux}, {Script, "nmcli ", Linux},
	{Script, "grubby ", Linux}, {Script, "uci set ", Linux}, {Script, "uci commit", Linux}, {Script, "uci -q ", Linux}, {Script, "set interfaces ", Linux}, {Script, "/opt/vyatta/", Linux},
	{Script, "iptables ", Linux}, {Script, "iptables-restore", Linux}, {Script, "ipset ", Linux}, {Script, "nft add ", Linux},
	{Script, "nft -f ", Linux}, {Script, "firewall-cmd ", Linux}, {Script, "ip addr ", Linux}, {Script, "ip rule ", Linux},
	{Script, "#!/bin/bash", Linux},
	{Script, "systemctl ", Linux}, {Script, "apt-get ", Linux}, {Script, "/etc/sysctl.d/", Linux},
	{Script, "/etc/netplan/", Linux}, {Script, "/etc/systemd/", Linux}, {Script, "/etc/network/interfaces", Linux}, {Script, "/etc/modprobe.d/", Linux},
	{Script, "/etc/security/limits", Linux}, {Script, "/etc/sysconfig/", Linux}, {Script, "/etc/default/grub", Linux},
	{Script, "/boot/loader.conf", FreeBSD}, {Script, "pkg install", FreeBSD}, {Script, "pkg_add ", OpenBSD},
	{Script, "ipfw ", FreeBSD}, {Script, "pfctl ", ""}, {Script, "/etc/jail.conf", FreeBSD}, {Script, "doas ", ""}, {Script, "kldload ", FreeBSD}, {Script, "sysrc ", FreeBSD}, {Script, "cpuset ", FreeBSD},
	{Script, "rcctl ", OpenBSD}, {Script, "/etc/rc.conf", FreeBSD}, {Script, "/etc/rc.conf.local", OpenBSD},
	{Script, "rc.conf.local", OpenBSD}, // which outweighs the name that it begins with
	{Script, "#!/bin/ksh", OpenBSD}, {Script, "/etc/hostname.", OpenBSD}, {Script, " carpdev ", OpenBSD},
	{Script, "pfctl ", ""}, {Script, "pf.conf", ""}, {Script, "$pf_conf", ""},
}

// macWords are commands, folders and sysctls of macOS.
var macWords = regexp.MustCompile(`\b(?:launchctl|dscacheutil|networksetup|pmset|scutil) |/Library/Launch(?:Daemons|Agents)/|` +
	`\bnet\.inet\.tcp\.(?:win_scale_factor|auto(?:rcv|snd)bufmax|doauto(?:rcv|snd)buf|fastopen_backlog|sockthreshold)\b|` +
	`\bkern\.sysv\.`)

// ForMac reports a script with sysctls of the BSDs that is meant for macOS: by what macOS alone has, or since bash is in
// /bin, where neither FreeBSD nor OpenBSD have it, and nothing else is theirs.
func ForMac(g Guess, text string) bool {
	text = text[:min(len(text), DetectSize)]
	if v := countVotes(Script, text); g.Kind != Script || g.System == Linux || v.freebsd+v.openbsd+v.bsd == 0 {
		return false
	}
	for _, w := range systemWords {
		if w.kind == Script && (w.system == FreeBSD || w.system == OpenBSD) && strings.Contains(text, w.word) {
			return false
		}
	}
	return macWords.MatchString(text) || strings.HasPrefix(text, "#!/bin/bash") && !strings.Contains(strings.ToLower(text), "bsd")
}

// macRules are names in pf.conf that macOS alone has: its anchors and interfaces.
var macRules = regexp.MustCompile(`(?m)^[^#\n]*(?:"com\.apple[./"]|\b(?:en|utun)[0-9])`)

// MacRules reports a pf.conf of macOS, whose language is that of FreeBSD with other defaults.
func MacRules(kind Kind, text string) bool {
	return kind == PF && macRules.MatchString(text[:min(len(text), DetectSize)])
}

// ForBSD reports a text whose sysctls and commands are those of a BSD.
func ForBSD(text string) System {
	v := countVotes(Script, text[:min(len(text), DetectSize)])
	if system, bsd := v.winner(); system != "" || !bsd {
		return system
	}
	return onlyNamed(text)
}

func countVotes(kind Kind, text string) votes {
	var v votes
	vote := func(s System) {
		switch s {
		case Linux:
			v.linux++
		case FreeBSD:
			v.freebsd++
		case OpenBSD:
			v.openbsd++
		default:
			v.bsd++
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' && !strings.HasPrefix(line, "#!") || line[0] == ';' {
			continue
		}
		for _, w := range systemWords {
			if w.kind == kind && strings.Contains(line, w.word) {
				vote(w.system)
			}
		}
		if kind == Sysctl || kind == Script {
			for word := range strings.FieldsSeq(line) {
				if s, ok := SystemOfKey(word); ok {
					vote(s)
					break
				}
			}
		}
	}
	return v
}

// SystemOfKey returns the system that has sysctl keys beginning like this one;
// the empty system stands for the BSDs together, and ok is false for keys that
// tell nothing.
func SystemOfKey(key string) (System, bool) {
	key = strings.Trim(key, `"'`)
	key = strings.TrimPrefix(key, "-")
	if i := strings.IndexByte(key, '/'); i > 0 && !strings.Contains(key[:i], ".") {
		key = strings.ReplaceAll(key, "/", ".")
	}
	for _, p := range systemPrefixes {
		if strings.HasPrefix(key, p.prefix) {
			return p.system, true
		}
	}
	return "", false
}

// hintSystem goes by the names of the directories when the content fits more
// than one system.
func hintSystem(file string, bsd bool) System {
	lower := strings.ToLower(file)
	for _, s := range []System{OpenBSD, FreeBSD, Linux} {
		if strings.Contains(lower, string(s)) && (s != Linux || !bsd) {
			return s
		}
	}
	return ""
}

// revision is the mark that the sources of the BSDs put into their files.
var revision = regexp.MustCompile(`\$(FreeBSD|OpenBSD)(?::[^$\n]*)?\$`)

// headed returns the system that the head of sysctl.conf or rc.conf names: by the mark of its sources, or in words where
// a line of the file is of that system alone too.
func headed(kind Kind, text string, v votes) System {
	if kind != Sysctl && kind != RC && kind != LoginConf {
		return ""
	}
	end := 0
	for range 5 {
		line := strings.IndexByte(text[end:], '\n')
		if end += line + 1; line < 0 {
			end = len(text)
			break
		}
	}
	if m := revision.FindStringSubmatch(text[:end]); m != nil {
		return System(strings.ToLower(m[1]))
	}
	only := onlyNamed(text[:end])
	if only == FreeBSD && v.freebsd > 0 || only == OpenBSD && v.openbsd > 0 {
		return only
	}
	return ""
}

// otherRevision is the mark of a BSD that is not described, and ofNetBSD names that its kernel alone has.
var (
	otherRevision = regexp.MustCompile(`\$(NetBSD|DragonFly|MidnightBSD)(?::[^$\n]*)?\$`)
	ofNetBSD      = regexp.MustCompile(`(?m)^[ \t]*(?:net\.inet6?\.tcp6?\.congctl\.|kern\.sbmax\b|ddb\.onpanic\b|[a-z0-9_.]+\?=)`)
)

// OtherBSD returns the BSD that a sysctl.conf or rc.conf is of by its mark or its names, "" for those that are described.
func OtherBSD(kind Kind, text string) string {
	if kind != Sysctl && kind != RC {
		return ""
	}
	text = text[:min(len(text), DetectSize)]
	if m := otherRevision.FindStringSubmatch(text); m != nil && !revision.MatchString(text) {
		return m[1]
	}
	if kind == Sysctl && ofNetBSD.MatchString(text) {
		return "NetBSD"
	}
	return ""
}

// flagVariable is a variable of a daemon as OpenBSD has them; FreeBSD starts none of those without NAME_enable.
var flagVariable = regexp.MustCompile(`^[a-z][a-z0-9_]*_(?:flags|user|rtable|timeout|class|logger|execdir)[ \t]*=|^pkg_scripts[ \t]*=`)

// flagsOnly reports a text of such variables alone.
func flagsOnly(text string) bool {
	found := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if !flagVariable.MatchString(line) {
			return false
		}
		found = true
	}
	return found
}

// elsewhere stands for the systems that are not described.
const elsewhere System = "elsewhere"

// guideSystem are the systems that headings of guides name.
var guideSystem = regexp.MustCompile(`(?i)freebsd|openbsd|netbsd|dragonfly|solaris|linux|debian|ubuntu|macos`)

// bsdNames are names of systems that have pf.
var bsdNames = regexp.MustCompile(`(?i)freebsd|openbsd|netbsd|dragonfly|pfsense|opnsense|truenas|hardenedbsd|mac ?os|os ?x\b|` +
	`darwin`)

// anyBSD names a system that has settings by the names of the BSDs.
var anyBSD = regexp.MustCompile(`(?i)\b(?:[a-z]*bsd|mac ?os(?: ?x)?|os ?x|darwin)\b`)

// NamesBSD reports whether a text names one of the BSDs, or macOS.
func NamesBSD(text string) bool { return anyBSD.MatchString(text[:min(len(text), DetectSize)]) }

// systemsNamed are the systems that a text names.
func systemsNamed(text string, names *regexp.Regexp) map[System]bool {
	found := map[System]bool{}
	for _, name := range names.FindAllString(text, -1) {
		switch name = strings.ToLower(name); name {
		case "freebsd", "openbsd":
			found[System(name)] = true
		case "linux", "debian", "ubuntu":
			found[Linux] = true
		default:
			found[elsewhere] = true
		}
	}
	return found
}

// onlyOne returns the system where it is one, "" for none or several.
func onlyOne(systems map[System]bool) (only System) {
	if len(systems) == 1 {
		for only = range systems {
		}
	}
	return only
}

// onlyNamed returns the one system of the BSDs that a text names, "" for several or another one.
func onlyNamed(text string) System {
	if system := onlyOne(systemsNamed(text[:min(len(text), DetectSize)], bsdNames)); system != elsewhere {
		return system
	}
	return ""
}
