package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/units"
)

// procedures are the steps that the role and the path ask for.
func (p *Plan) procedures(r Request) {
	p.mtu(r)
	if s, ok := p.stacks(r); ok {
		p.Steps = append(p.Steps, s)
	}
	p.aggregate(r)
	for _, step := range []func(Request) (Step, bool){p.acceptFilters, p.qdisc, p.untracked, p.shape, p.logDevice,
		p.awake, p.softnets, p.openFiles, p.addresses} {
		if s, ok := step(r); ok {
			p.Steps = append(p.Steps, s)
		}
	}
}

// mtu sets the path's MTU on an interface whose MTU is smaller, once the whole
// path was shown to carry it, and says before how to show it.
func (p *Plan) mtu(r Request) {
	if r.Path.MTU <= 1500 {
		return
	}
	name, ping := map[catalog.System]string{catalog.Linux: "link:mtu", catalog.FreeBSD: "ifconfig:mtu",
		catalog.OpenBSD: "ifconfig:mtu"}[p.System],
		map[catalog.System]string{catalog.Linux: "ping -M do -s %d PEER", catalog.FreeBSD: "ping -D -s %d PEER",
			catalog.OpenBSD: "ping -D -s %d PEER"}[p.System]
	s := Step{Title: fmt.Sprintf("Show that the whole path carries %d bytes", r.Path.MTU),
		Why: fmt.Sprintf("No interface is changed for a path that is only declared: one device that does not carry "+
			"them drops every large packet. %d bytes of echo, 8 of ICMP and 20 of IP make %d.",
			r.Path.MTU-28, r.Path.MTU),
		Commands: []string{fmt.Sprintf(ping, r.Path.MTU-28)}, Sources: []string{"RFC 1191", "RFC 4821"}}
	for _, nic := range r.Machine.Interfaces {
		v, ok := number(nic.Running[name])
		if !ok || v >= float64(r.Path.MTU) {
			continue
		}
		ch := Change{Setting: name + "@" + string(nic.Name), From: nic.Running[name], To: strconv.Itoa(r.Path.MTU),
			Default: "1500", Kind: catalog.Runtime,
			Belongs: strings.TrimSuffix(name, ":mtu"), Does: "Largest packet that the interface sends.",
			Because:  "The whole path carries such packets: " + r.Path.Measured["mtu"] + ".",
			Evidence: catalog.Documented, Undo: "restore",
			Risk: "Every host and switch of the segment must have the same; a smaller one on the way loses packets " +
				"silently.", Sources: []string{"RFC 1191", "RFC 4821"}}
		if r.Path.Measured["mtu"] != "" {
			p.Changes = append(p.Changes, ch)
			continue
		}
		p.keep(ch.Setting, ch.From, "would be "+ch.To+", but the path was not shown to carry it")
		s.Commands = append(s.Commands, commands(p.System, ch)...)
	}
	if r.Path.Measured["mtu"] != "" {
		return
	}
	p.Steps = append(p.Steps, s)
}

// acceptFilters do nothing until the server asks for them.
func (p *Plan) acceptFilters(r Request) (Step, bool) {
	if !slices.ContainsFunc(p.Changes, func(ch Change) bool { return ch.Setting == "accf_http_load" }) {
		return Step{}, false
	}
	return Step{Title: "Have the server ask for the accept filters",
		Why: "Loading a filter changes nothing on its own. httpready holds a connection until a whole request " +
			"is there, dataready until the first byte; nginx and Apache name them where they listen.",
		Commands: []string{"nginx: listen 80 accept_filter=httpready; listen 443 ssl accept_filter=dataready;",
			"Apache: AcceptFilter http httpready", "netstat -Lan"},
		Sources: []string{"FreeBSD accf_http(9)", "FreeBSD accf_data(9)"}}, true
}

// qdisc puts the planned queueing discipline on interfaces that are up, as the
// default is for those that come.
func (p *Plan) qdisc(r Request) (Step, bool) {
	i := slices.IndexFunc(p.Changes, func(ch Change) bool { return ch.Setting == "net.core.default_qdisc" })
	if i < 0 || len(r.Machine.Interfaces) == 0 {
		return Step{}, false
	}
	var commands []string
	for _, nic := range r.Machine.Interfaces {
		replace := shell.Join("tc", "qdisc", "replace", "dev", string(nic.Name), "root")
		if nic.Queues > 1 {
			commands = append(commands, replace+" mq # each queue then gets "+p.Changes[i].To)
		} else {
			commands = append(commands, replace+" "+shell.Word(p.Changes[i].To))
		}
	}
	return Step{Title: "Give the interfaces that are up their queueing discipline",
		Why: "net.core.default_qdisc is read when an interface comes up: until then, or the next boot, they " +
			"keep the one they have.",
		Commands: commands, Sources: []string{"Linux net/sched/sch_generic.c, attach_default_qdiscs"}}, true
}

// untracked keeps a name server's queries out of the connection table.
func (p *Plan) untracked(r Request) (Step, bool) {
	if r.Role != "dns" {
		return Step{}, false
	}
	s := Step{Title: "Keep queries out of the firewall's table of states",
		Why: fmt.Sprintf("Each query would be a state of its own for half a minute: %.0f queries per second make "+
			"%.0f states, which nobody needs.", r.Load.PacketRate, r.Load.PacketRate*30)}
	switch p.System {
	case catalog.Linux:
		s.Commands, s.Sources = []string{"nft add table inet dns",
			"nft add chain inet dns in '{ type filter hook prerouting priority raw; }'",
			"nft add rule inet dns in udp dport 53 notrack",
			"nft add chain inet dns out '{ type filter hook output priority raw; }'",
			"nft add rule inet dns out udp sport 53 notrack"}, []string{"nft(8), notrack"}
	default:
		s.Commands, s.Sources = []string{"in pf.conf: pass in proto udp to port 53 no state",
			"in pf.conf: pass out proto udp from port 53 no state"}, []string{"pf.conf(5), no state"}
	}
	return s, true
}

// shape keeps the queue of an access line in the gateway, where it is managed,
// by sending a little less than the line carries.
func (p *Plan) shape(r Request) (Step, bool) {
	if r.Role != "home" {
		return Step{}, false
	}
	nic := "EXTERNAL"
	if len(r.Machine.Interfaces) == 1 {
		nic = shell.Word(string(r.Machine.Interfaces[0].Name))
	}
	rate := math.Floor(float64(r.Path.Rate)*0.95/1000) * 1000
	if rate < 1000 {
		return Step{}, false
	}
	s := Step{Title: "Shape the access line to 95% of its rate",
		Why: fmt.Sprintf("The queue then builds up here, under CoDel and fair among flows, and not in the modem, "+
			"which may hold seconds of it. 0.95 * %s = %s; where upload and download differ, give each its own.",
			r.Path.Rate, units.Rate(rate))}
	switch p.System {
	case catalog.Linux:
		kbit := fmt.Sprintf("%.0fkbit", rate/1000)
		s.Commands = []string{"tc qdisc replace dev " + nic + " root cake bandwidth " + kbit + " nat ack-filter",
			"ip link add ifb0 type ifb && ip link set ifb0 up", "tc qdisc replace dev " + nic + " handle ffff: ingress",
			"tc filter replace dev " + nic + " parent ffff: matchall action mirred egress redirect dev ifb0",
			"tc qdisc replace dev ifb0 root cake bandwidth " + kbit + " nat ingress"}
		s.Sources = []string{"tc-cake(8)"}
		if !p.Release.AtLeast("4.19") {
			s.Commands = []string{"tc qdisc replace dev " + nic + " root handle 1: htb default 1",
				"tc class replace dev " + nic + " parent 1: classid 1:1 htb rate " + kbit,
				"tc qdisc replace dev " + nic + " parent 1:1 fq_codel"}
			s.Sources = []string{"tc-htb(8)", "tc-fq_codel(8); cake came with Linux 4.19"}
		}
	case catalog.FreeBSD:
		s.Commands = []string{"kldload ipfw dummynet # with net.inet.ip.fw.default_to_accept=1 in loader.conf, or " +
			"the host is cut off",
			fmt.Sprintf("ipfw pipe 1 config bw %.0fKbit/s", rate/1000), "ipfw sched 1 config pipe 1 type fq_codel ecn",
			"ipfw queue 1 config sched 1", "ipfw add 100 queue 1 ip from any to any out via " + nic}
		s.Sources = []string{"FreeBSD ipfw(8), traffic shaper"}
	default:
		s.Commands = []string{fmt.Sprintf("in pf.conf: queue outq on %s flows 1024 bandwidth %.0fK max %.0fK default",
			nic, rate/1000, rate/1000), "pfctl -nf /etc/pf.conf && pfctl -f /etc/pf.conf", "systat queues"}
		s.Sources = []string{"OpenBSD pf.conf(5), QUEUEING: flows makes it FQ-CoDel"}
	}
	return s, true
}

// logDevice sizes a separate intent log for synchronous writes.
func (p *Plan) logDevice(r Request) (Step, bool) {
	if r.Role != "file" || p.System != catalog.FreeBSD {
		return Step{}, false
	}
	incoming := float64(r.Path.Rate) / 8
	size := incoming * 5 * 2
	s := Step{Title: "For NFS, databases and other synchronous writers: a log device (slog)",
		Why: fmt.Sprintf("A synchronous write waits for the log; a separate device takes that wait from the pool "+
			"and does not help anything else. At most what arrives in two transaction groups of 5 s is in it: %s / "+
			"8 * 5 s * 2 = %s. It must write %s/s at queue depth 1 and keep its cache over a power cut "+
			"(capacitors), or acknowledged writes are lost; mirror it.",
			r.Path.Rate, units.Bytes(size), units.Bytes(incoming)),
		Commands: []string{"zpool add POOL log mirror nvd1 nvd2", "zpool iostat -v POOL 1"},
		Sources:  []string{"zpoolconcepts(7), intent log", "wirerate calc slog"}}
	if r.Machine.DiskRate > 0 && r.Machine.DiskRate < incoming {
		s.Why += fmt.Sprintf(" The pool writes %s/s, less than arrives: writers wait for it in the end, whatever "+
			"the log does.", units.Bytes(r.Machine.DiskRate))
	}
	if n := r.Machine.SyncWrites; n > 0 {
		s.Why += fmt.Sprintf(" Measured here: %.0f synchronous writes of 4 KiB a second, one after the other, %s "+
			"each and %s/s; a log device gains what it does faster.",
			n, units.Duration(time.Duration(1e9/n)), units.Bytes(n*4096))
	}
	return s, true
}

// awake keeps processors out of the sleep states from which they wake late.
func (p *Plan) awake(r Request) (Step, bool) {
	if r.Role != "latency" {
		return Step{}, false
	}
	s := Step{Title: "Keep the processors awake",
		Why: "A processor in a deep sleep state takes tens to hundreds of microseconds to wake for a packet. The " +
			"cost is power and heat."}
	switch p.System {
	case catalog.Linux:
		s.Commands = []string{"cpupower idle-set -D 2", "cpupower frequency-set -g performance",
			"in a service: hold /dev/cpu_dma_latency open with the value 0"}
		s.Sources = []string{"Linux Documentation/admin-guide/pm/cpuidle.rst"}
	case catalog.FreeBSD:
		s.Commands = []string{"sysrc performance_cx_lowest=C1 economy_cx_lowest=C1", "sysctl hw.acpi.cpu.cx_lowest=C1",
			"sysrc powerd_enable=NO"}
		s.Sources = []string{"FreeBSD acpi(4), hw.acpi.cpu.cx_lowest"}
	default:
		s.Commands = []string{"rcctl disable apmd", "sysctl hw.perfpolicy=high"}
		s.Sources = []string{"OpenBSD sysctl(2), hw.perfpolicy"}
	}
	return s, true
}

// softnets looks whether OpenBSD's threads share the load, which no setting
// changes: the card's queues and the number of connections do.
func (p *Plan) softnets(r Request) (Step, bool) {
	if p.System != catalog.OpenBSD || !p.Release.AtLeast("7.8") || r.Machine.Cores < 2 || r.Role == "home" {
		return Step{}, false
	}
	s := Step{Title: "Look whether the processors share the packets",
		Why: "Up to 8 softnet threads, at most one for each processor, handle received packets, and as many TCP; " +
			"a connection stays on one of them. Only a card with several queues and several connections use them.",
		Commands: []string{"vmstat -iz # a line for each queue of the card", "top -HS # softnet0 to softnet7"},
		Sources:  []string{"openbsd/www 78.html, SMP improvements"}}
	if p.Release.AtLeast("7.9") {
		s.Why += " A card uses at most 8 queues."
		s.Sources = append(s.Sources, "OpenBSD 7.9 release notes, IF_MAX_VECTORS")
	}
	return s, true
}

// openFiles lets the server's own process open a file for each connection:
// the system's limit is a setting, the process's is not.
func (p *Plan) openFiles(r Request) (Step, bool) {
	// Linux starts programs with 1024 (include/uapi/linux/fs.h, INR_OPEN_CUR),
	// OpenBSD's daemons have the class's 128 or 1024 (login.conf); FreeBSD's
	// are unlimited.
	files := math.Ceil(2*r.Load.Connections/1024)*1024 + 1024
	if !slices.Contains([]string{"web", "dns", "latency"}, r.Role) || 2*r.Load.Connections <= 1024 {
		return Step{}, false
	}
	s := Step{Title: "Let the server open a file for each connection",
		Why: fmt.Sprintf("Each of %.0f connections is an open file, and one to a file or another server goes with "+
			"it; a program gets far fewer unless its service says so.", r.Load.Connections)}
	switch p.System {
	case catalog.Linux:
		s.Commands = []string{fmt.Sprintf("systemctl edit NAME # [Service] LimitNOFILE=%.0f", files),
			"systemctl restart NAME", "grep 'open files' /proc/$(pidof -s NAME)/limits"}
		s.Sources = []string{"systemd.exec(5), LimitNOFILE"}
	case catalog.OpenBSD:
		s.Commands = []string{fmt.Sprintf("in /etc/login.conf: NAME:openfiles=%.0f:tc=daemon:", files),
			"rcctl restart NAME"}
		s.Sources = []string{"OpenBSD login.conf(5), openfiles; rc.d(8)"}
	default:
		return Step{}, false
	}
	return s, true
}

// addresses warns of what switching IPv6 forwarding on does to a router that
// has its own address from another one.
func (p *Plan) addresses(Request) (Step, bool) {
	i := slices.IndexFunc(p.Changes, func(ch Change) bool {
		return ch.To == "1" && (ch.Setting == "net.ipv6.conf.all.forwarding" ||
			ch.Setting == "net.inet6.ip6.forwarding")
	})
	if i < 0 {
		return Step{}, false
	}
	s := Step{Title: "Before IPv6 forwarding is switched on: look where this host's own default route comes from",
		Why: "A router ignores the advertisements of other routers: an address or default route learnt from " +
			"one goes when it expires, and with it perhaps your connection.",
		Commands: []string{"ip -6 route show default # 'proto ra': keep it with sysctl -w " +
			"net.ipv6.conf.IFACE.accept_ra=2"}, Sources: []string{"Linux Documentation/networking/ip-sysctl.rst, " +
			"accept_ra"}}
	if strings.HasPrefix(p.Changes[i].Setting, "net.inet6") {
		s.Commands, s.Sources = []string{"ndp -r", "netstat -rn -f inet6 | grep default"},
			[]string{"inet6(4)", "RFC 4861, section 6.2.2"}
	}
	return s, true
}
