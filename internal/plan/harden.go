package plan

import (
	"cmp"
	"slices"

	"github.com/wirerate/wirerate/internal/catalog"
)

// hardening is a value whose purpose is security, with what it costs and who
// says so; without a source the cost follows from what the setting does.
type hardening struct{ setting, value, cost, source string }

// hardenings are the settings of --harden. They are those of the FreeBSD
// tuning guide that only protect, and their counterparts on the other systems;
// what the guide calls hardening and is a trade of speed or reachability
// (fragments refused, PMTU discovery off, shorter timeouts) is not among them.
var hardenings = map[catalog.System][]hardening{
	catalog.FreeBSD: {
		{"hw.kbd.keymap_restrict_change", "4", "users cannot change the console's key map", ""},
		{"kern.elf32.allow_wx", "0", "32 bit programs with just-in-time compilers may fail", "the FreeBSD tuning guide (2021)"},
		{"kern.elf64.allow_wx", "0", "programs with just-in-time compilers (browsers, some runtimes) may fail", "the FreeBSD tuning guide (2021)"},
		{"kern.random.fortuna.minpoolsize", "128", "the generator reseeds half as often", "random(4)"},
		{"kern.randompid", "1", "process numbers are not in order of age", ""},
		{"net.inet.icmp.drop_redirect", "1", "a router's better route is not learnt", "RFC 1122, section 3.2.2.2"},
		{"net.inet.ip.rfc1122_strong_es", "1", "packets that come in on another interface than the address has are dropped: not for asymmetric routes", "RFC 1122, section 3.3.4.2"},
		{"kern.msgbuf_show_timestamp", "1", "none: messages get the time", ""},
		{"net.inet.ip.check_interface", "1", "packets that come in on another interface than the address has are dropped: not for asymmetric routes", "RFC 1122, section 3.3.4.2"},
		{"net.inet.ip.random_id", "1", "a random number for each packet that may be fragmented", "inet(4)"},
		{"net.inet.ip.redirect", "0", "hosts on the same network keep the longer route", "RFC 1812, section 5.2.7.2"},
		{"net.inet.tcp.blackhole", "2", "closed ports answer nothing: errors show as timeouts", "blackhole(4)"},
		{"net.inet.tcp.drop_synfin", "1", "none known", ""},
		{"net.inet.udp.blackhole", "1", "traceroute to this host does not end", "blackhole(4)"},
		{"net.inet6.icmp6.rediraccept", "0", "a router's better route is not learnt", "RFC 4861, section 8.3"},
		{"net.inet6.ip6.redirect", "0", "hosts on the same network keep the longer route", "RFC 4861, section 8.2"},
		{"security.bsd.hardlink_check_gid", "1", "programs that link files of other groups (some mail systems) fail", "the FreeBSD tuning guide (2021)"},
		{"security.bsd.hardlink_check_uid", "1", "programs that link files of other users (some mail systems) fail", "the FreeBSD tuning guide (2021)"},
		{"security.bsd.see_other_gids", "0", "users see only their own groups' processes", "security(7)"},
		{"security.bsd.see_other_uids", "0", "users see only their own processes", "security(7)"},
		{"security.bsd.stack_guard_page", "1", "none known", ""},
		{"security.bsd.unprivileged_proc_debug", "0", "users cannot debug or trace their programs", "security(7)"},
		{"security.bsd.unprivileged_read_msgbuf", "0", "users cannot read dmesg", "security(7)"},
	},
	catalog.Linux: {
		{"dev.tty.ldisc_autoload", "0", "rare serial protocols need their module loaded by root", "drivers/tty/Kconfig, LDISC_AUTOLOAD"},
		{"fs.protected_fifos", "1", "none known", ""},
		{"fs.protected_hardlinks", "1", "programs that link files of other users fail", "Documentation/admin-guide/sysctl/fs.rst"},
		{"fs.protected_regular", "1", "none known", ""},
		{"fs.protected_symlinks", "1", "none known", ""},
		{"kernel.dmesg_restrict", "1", "users cannot read dmesg", "Documentation/admin-guide/sysctl/kernel.rst"},
		{"kernel.kptr_restrict", "1", "users' profilers see no kernel symbols", "Documentation/admin-guide/sysctl/kernel.rst"},
		{"kernel.randomize_va_space", "2", "none known", ""},
		{"kernel.unprivileged_bpf_disabled", "1", "users cannot load BPF programs; it cannot be taken back before a reboot", "Documentation/admin-guide/sysctl/kernel.rst"},
		{"kernel.yama.ptrace_scope", "1", "users debug only what they start in the debugger", "Documentation/admin-guide/LSM/Yama.rst"},
		{"net.core.bpf_jit_harden", "1", "BPF programs of users run slower", "Documentation/admin-guide/sysctl/net.rst"},
		{"net.ipv4.conf.all.accept_redirects", "0", "a router's better route is not learnt", ""},
		{"net.ipv4.conf.all.accept_source_route", "0", "none known", ""},
		{"net.ipv4.conf.all.send_redirects", "0", "hosts on the same network keep the longer route", ""},
		{"net.ipv4.conf.default.accept_redirects", "0", "a router's better route is not learnt", ""},
		{"net.ipv4.conf.default.accept_source_route", "0", "none known", ""},
		{"net.ipv4.conf.default.send_redirects", "0", "hosts on the same network keep the longer route", ""},
		{"net.ipv4.icmp_echo_ignore_broadcasts", "1", "none known", ""},
		{"net.ipv4.tcp_syncookies", "1", "none known", ""},
		{"net.ipv6.conf.all.accept_redirects", "0", "a router's better route is not learnt", ""},
		{"net.ipv6.conf.all.accept_source_route", "0", "none known", ""},
		{"net.ipv6.conf.default.accept_redirects", "0", "a router's better route is not learnt", ""},
		{"net.ipv6.conf.default.accept_source_route", "0", "none known", ""},
		{"vm.unprivileged_userfaultfd", "0", "virtual machines that users migrate live may fail", "Documentation/admin-guide/sysctl/vm.rst"},
	},
	catalog.OpenBSD: {
		{"ddb.console", "0", "no way into the kernel debugger from the console", "OpenBSD ddb(4)"},
		{"hw.smt", "0", "half of the hardware threads stay unused", "OpenBSD sysctl(2)"},
		{"kern.nosuidcoredump", "1", "no core dumps of set-user-ID programs", ""},
		{"net.inet.icmp.bmcastecho", "0", "none known", ""},
		{"net.inet.icmp.rediraccept", "0", "a router's better route is not learnt", ""},
		{"net.inet.ip.directed-broadcast", "0", "none known", ""},
		{"net.inet.ip.redirect", "0", "hosts on the same network keep the longer route", "RFC 1812, section 5.2.7.2"},
		{"net.inet.ip.sourceroute", "0", "none known", ""},
		{"net.inet6.ip6.redirect", "0", "hosts on the same network keep the longer route", "RFC 4861, section 8.2"},
		{"vm.swapencrypt.enable", "1", "processor time while swapping", ""},
	},
}

// refusedHardening is what the FreeBSD tuning guide has in its hardening list
// and --harden leaves out, with the reason.
var refusedHardening = map[catalog.System][]struct{ setting, value, why string }{
	catalog.FreeBSD: {
		{"kern.ipc.shm_use_phys", "1", "shared memory that cannot be paged out protects nothing and can exhaust the memory"},
		{"net.bpf.optimize_writers", "1", "it saves work for programs that only write packets, and protects nothing"},
		{"net.inet.ip.maxfragpackets", "0", "large DNS answers, tunnels and NFS over UDP are lost"},
		{"net.inet6.ip6.maxfragpackets", "0", "large DNS answers are lost, and IPv6 has no other way to send them"},
		{"net.inet.ip.portrange.first", "32768", "it takes 22768 of 55536 ports from outgoing connections, and ports are random anyway"},
		{"net.inet.ip.portrange.randomcps", "9999", "it matters only to whoever opens more than ten connections a second, and ports are random below that"},
		{"net.inet.tcp.fast_finwait2_recycle", "1", "peers that still send get a reset"},
		{"net.inet.tcp.fastopen.client_enable", "0", "a program must ask for it, and it saves a round trip"},
		{"net.inet.tcp.finwait2_timeout", "1000", "a peer that closes later than a second is reset"},
		{"net.inet.tcp.icmp_may_rst", "0", "a connection to a host that says it cannot be reached then waits for its timeout"},
		{"net.inet.tcp.keepcnt", "2", "two lost probes end a connection on a path that works again a minute later"},
		{"net.inet.tcp.keepidle", "62000", "every idle connection sends probes each minute, and wakes phones"},
		{"net.inet.tcp.keepinit", "5000", "a peer whose first two answers are lost is never reached"},
		{"net.inet.tcp.msl", "2500", "late segments of an old connection can reach a new one"},
		{"net.inet.tcp.path_mtu_discovery", "0", "segments shrink to mssdflt and may be fragmented"},
		{"net.inet.tcp.syncache.rexmtlimit", "0", "a client whose SYN-ACK was lost waits for its own timeout"},
		{"net.inet.tcp.syncookies", "0", "a flood then locks real clients out"},
	},
}

// harden adds the settings whose purpose is security.
func (p *Plan) harden(c *catalog.Catalog, m Machine) {
	planned := map[string]bool{}
	for _, ch := range p.Changes {
		planned[ch.Setting] = true
	}
	for _, h := range hardenings[p.System] {
		rec, ok := c.Lookup(p.System, h.setting)
		if !ok || rec.StateIn(p.Release) != catalog.Present || planned[h.setting] {
			continue
		}
		def, _ := rec.DefaultIn(p.Release)
		running, has := m.Running[h.setting]
		running = normal(running)
		from := cmp.Or(running, knownDefault(def))
		inst := instance{name: h.setting, running: running, has: has}
		switch why := p.obstacle(rec, inst, m); {
		case why != "":
			p.keep(h.setting, running, "hardening would be "+h.value+", but "+why)
			continue
		case from == h.value || h.value == "1" && stricter(from):
			p.keep(h.setting, from, "already as hardening has it")
			continue
		}
		undo := rec.Undo
		if undo == "" {
			undo = "restore"
		}
		cost := h.cost
		if h.source != "" {
			cost += " (" + h.source + ")"
		}
		p.Changes = append(p.Changes, Change{Setting: h.setting, From: running, To: h.value, Default: knownDefault(def), Kind: rec.Kind, Belongs: rec.Belongs[0],
			Does: rec.Does, Because: "Security. Cost: " + cost + ". Asked for with --harden.", Evidence: bestGrade(rec.Evidence),
			Risk: rec.Risk, Undo: undo, Sources: rec.Sources})
	}
}

// refuse lists what a guide calls hardening and the plan does not set.
func (p *Plan) refuse(c *catalog.Catalog, m Machine) {
	for _, r := range refusedHardening[p.System] {
		rec, ok := c.Lookup(p.System, r.setting)
		if !ok || rec.StateIn(p.Release) != catalog.Present || slices.ContainsFunc(p.Changes, func(ch Change) bool { return ch.Setting == r.setting }) {
			continue
		}
		def, _ := rec.DefaultIn(p.Release)
		p.Kept = slices.DeleteFunc(p.Kept, func(k Kept) bool { return k.Setting == r.setting })
		p.Kept = append(p.Kept, Kept{Setting: r.setting, Value: cmp.Or(normal(m.Running[r.setting]), knownDefault(def)), Refused: true,
			Because: "a guide's hardening has " + r.value + ", refused: " + r.why})
	}
}

// stricter tells whether a level is above the one that hardening asks for.
func stricter(level string) bool {
	v, ok := number(level)
	return ok && v > 1
}

// Hardening returns what --harden sets a setting to, and its cost.
func Hardening(system catalog.System, setting string) (value, cost string, ok bool) {
	for _, h := range hardenings[system] {
		if h.setting == setting {
			return h.value, h.cost, true
		}
	}
	return "", "", false
}
