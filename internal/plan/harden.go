package plan

import (
	"cmp"

	"github.com/wirerate/wirerate/internal/catalog"
)

// hardening is a value whose purpose is security, with what it costs.
type hardening struct{ setting, value, cost string }

// hardenings are the settings of --harden. They are those of the FreeBSD
// tuning guide that only protect, and their counterparts on the other systems;
// what the guide calls hardening and is a trade of speed or reachability
// (fragments refused, PMTU discovery off, shorter timeouts) is not among them.
var hardenings = map[catalog.System][]hardening{
	catalog.FreeBSD: {
		{"hw.kbd.keymap_restrict_change", "4", "users cannot change the console's key map"},
		{"kern.elf32.allow_wx", "0", "32 bit programs with just-in-time compilers may fail"},
		{"kern.elf64.allow_wx", "0", "programs with just-in-time compilers (browsers, some runtimes) may fail"},
		{"kern.random.fortuna.minpoolsize", "128", "the generator reseeds half as often"},
		{"kern.randompid", "1", "process numbers are not in order of age"},
		{"net.inet.icmp.drop_redirect", "1", "a router's better route is not learnt"},
		{"net.inet.ip.rfc1122_strong_es", "1", "packets that come in on another interface than the address has are dropped: not for asymmetric routes"},
		{"net.inet.ip.random_id", "1", "a random number for each packet that may be fragmented"},
		{"net.inet.ip.redirect", "0", "hosts on the same network keep the longer route"},
		{"net.inet.tcp.blackhole", "2", "closed ports answer nothing: errors show as timeouts"},
		{"net.inet.tcp.drop_synfin", "1", "none known"},
		{"net.inet.udp.blackhole", "1", "traceroute to this host does not end"},
		{"net.inet6.icmp6.rediraccept", "0", "a router's better route is not learnt"},
		{"net.inet6.ip6.redirect", "0", "hosts on the same network keep the longer route"},
		{"security.bsd.hardlink_check_gid", "1", "programs that link files of other groups (some mail systems) fail"},
		{"security.bsd.hardlink_check_uid", "1", "programs that link files of other users (some mail systems) fail"},
		{"security.bsd.see_other_gids", "0", "users see only their own groups' processes"},
		{"security.bsd.see_other_uids", "0", "users see only their own processes"},
		{"security.bsd.stack_guard_page", "1", "none known"},
		{"security.bsd.unprivileged_proc_debug", "0", "users cannot debug or trace their programs"},
		{"security.bsd.unprivileged_read_msgbuf", "0", "users cannot read dmesg"},
	},
	catalog.Linux: {
		{"dev.tty.ldisc_autoload", "0", "rare serial protocols need their module loaded by root"},
		{"fs.protected_fifos", "1", "none known"},
		{"fs.protected_hardlinks", "1", "programs that link files of other users fail"},
		{"fs.protected_regular", "1", "none known"},
		{"fs.protected_symlinks", "1", "none known"},
		{"kernel.dmesg_restrict", "1", "users cannot read dmesg"},
		{"kernel.kptr_restrict", "1", "users' profilers see no kernel symbols"},
		{"kernel.randomize_va_space", "2", "none known"},
		{"kernel.unprivileged_bpf_disabled", "1", "users cannot load BPF programs; it cannot be taken back before a reboot"},
		{"kernel.yama.ptrace_scope", "1", "users debug only what they start in the debugger"},
		{"net.core.bpf_jit_harden", "1", "BPF programs of users run slower"},
		{"net.ipv4.conf.all.accept_redirects", "0", "a router's better route is not learnt"},
		{"net.ipv4.conf.all.accept_source_route", "0", "none known"},
		{"net.ipv4.conf.all.send_redirects", "0", "hosts on the same network keep the longer route"},
		{"net.ipv4.conf.default.accept_redirects", "0", "a router's better route is not learnt"},
		{"net.ipv4.conf.default.accept_source_route", "0", "none known"},
		{"net.ipv4.conf.default.send_redirects", "0", "hosts on the same network keep the longer route"},
		{"net.ipv4.icmp_echo_ignore_broadcasts", "1", "none known"},
		{"net.ipv4.tcp_syncookies", "1", "none known"},
		{"net.ipv6.conf.all.accept_redirects", "0", "a router's better route is not learnt"},
		{"net.ipv6.conf.all.accept_source_route", "0", "none known"},
		{"net.ipv6.conf.default.accept_redirects", "0", "a router's better route is not learnt"},
		{"net.ipv6.conf.default.accept_source_route", "0", "none known"},
		{"vm.unprivileged_userfaultfd", "0", "virtual machines that users migrate live may fail"},
	},
	catalog.OpenBSD: {
		{"ddb.console", "0", "no way into the kernel debugger from the console"},
		{"hw.smt", "0", "half of the hardware threads stay unused"},
		{"kern.nosuidcoredump", "1", "no core dumps of set-user-ID programs"},
		{"net.inet.icmp.bmcastecho", "0", "none known"},
		{"net.inet.icmp.rediraccept", "0", "a router's better route is not learnt"},
		{"net.inet.ip.directed-broadcast", "0", "none known"},
		{"net.inet.ip.redirect", "0", "hosts on the same network keep the longer route"},
		{"net.inet.ip.sourceroute", "0", "none known"},
		{"net.inet6.ip6.redirect", "0", "hosts on the same network keep the longer route"},
		{"vm.swapencrypt.enable", "1", "processor time while swapping"},
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
		p.Changes = append(p.Changes, Change{Setting: h.setting, From: running, To: h.value, Default: knownDefault(def), Kind: rec.Kind, Belongs: rec.Belongs[0],
			Does: rec.Does, Because: "Asked for with --harden; it is for security, not speed. Cost: " + h.cost + ".", Evidence: bestGrade(rec.Evidence),
			Risk: rec.Risk, Undo: undo, Sources: rec.Sources})
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
