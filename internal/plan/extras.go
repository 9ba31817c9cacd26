package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

// Step is something to do that is no setting.
type Step struct {
	Title    string   `json:"title"`
	Why      string   `json:"why"`
	Commands []string `json:"commands"`
	Sources  []string `json:"sources"`
}

// modules loads, before the settings that need them, the modules of their
// values (an algorithm) or of the settings themselves (pf's).
func (p *Plan) modules(c *catalog.Catalog, m Machine) {
	if m.Namespace {
		return
	}
	var needed []Change
	for _, ch := range p.Changes {
		rec, ok := c.Lookup(p.System, ch.Setting)
		if !ok {
			continue
		}
		for _, name := range p.modulesOf(rec, ch, m) {
			module, ok := c.Lookup(p.System, name)
			known := slices.ContainsFunc(append(needed, p.Changes...), func(c Change) bool { return c.Setting == name })
			if !ok || known || module.StateIn(p.Release) != catalog.Present || slices.Contains(m.Modules, strings.TrimSuffix(name, "_load")) {
				continue
			}
			needed = append(needed, Change{Setting: name, From: m.Running[name], To: loadedWord(p.System), Kind: module.Kind, Belongs: module.Belongs[0], Does: module.Does,
				Because: ch.Setting + " = " + ch.To + " needs it.", Evidence: catalog.Documented, Risk: module.Risk, Undo: "restore", Sources: module.Sources})
		}
	}
	p.Changes = append(needed, p.Changes...)
}

// modulesOf names the modules that a change needs. Linux loads what a queueing
// discipline needs by itself.
func (p *Plan) modulesOf(rec *catalog.Record, ch Change, m Machine) []string {
	if ch.Setting == "net.core.default_qdisc" || strings.Contains(" "+m.Running[availableAlgorithms[ch.Setting]]+" ", " "+ch.To+" ") {
		return nil
	}
	byValue := false
	for _, v := range rec.Values {
		byValue = byValue || v.Needs != ""
		if v.Value == ch.To && v.Needs != "" && !builtIn(p.System, p.Release, ch.To) {
			return []string{v.Needs}
		}
	}
	if byValue || p.System != catalog.FreeBSD {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rec.Needs), func(n string) bool { return !strings.HasSuffix(n, "_load") })
}

var availableAlgorithms = map[string]string{
	"net.ipv4.tcp_congestion_control": "net.ipv4.tcp_available_congestion_control",
	"net.inet.tcp.cc.algorithm":       "net.inet.tcp.cc.available",
}

// builtIn tells which algorithm the kernel of a release has without a module
// (FreeBSD's cc(4): newreno before 14.0, cubic since).
func builtIn(s catalog.System, v catalog.Version, algorithm string) bool {
	if s != catalog.FreeBSD {
		return algorithm == "cubic" || algorithm == "reno"
	}
	return algorithm == map[bool]string{true: "cubic", false: "newreno"}[v.AtLeast("14.0")]
}

func loadedWord(s catalog.System) string {
	if s == catalog.FreeBSD {
		return "YES"
	}
	return "loaded"
}

// spread shares an interface's work among the processors. The catalog's
// formulas give one value to a setting; these need one for each queue.
func (p *Plan) spread(r Request) {
	m := r.Machine
	if m.Namespace || m.Cores < 2 || !slices.Contains([]string{"bulk", "web", "file", "router", "dns"}, r.Role) {
		return
	}
	for _, nic := range m.Interfaces {
		if p.System == catalog.Linux {
			p.steer(m, nic)
		}
		p.affinity(m, nic)
	}
}

// steer spreads one hardware queue over the processors in software.
func (p *Plan) steer(m Machine, nic Interface) {
	if nic.Queues != 1 || m.Cores < 2 {
		return
	}
	name := "/sys/class/net/" + nic.Name + "/queues/rx-0/rps_cpus"
	mask := cpuMask(m.Cores)
	if from, has := m.Running[name]; m.Running != nil && has && !sameMask(from, mask) {
		p.Changes = append(p.Changes, Change{Setting: name, From: from, To: mask, Default: "0", Kind: catalog.Runtime, Belongs: "sysfs",
			Does:    "The processors that may handle packets of this receive queue (receive packet steering).",
			Because: fmt.Sprintf("The interface has one receive queue and the machine %d processors: the interrupt's processor hands packets on to the others.", m.Cores),
			Formula: "2 ^ cores - 1", Working: fmt.Sprintf("2 ^ %d - 1", m.Cores), Evidence: catalog.Documented, Undo: "restore",
			Risk:    "One more hop between processors for each packet; of no use where one processor keeps up.",
			Sources: []string{"Linux Documentation/networking/scaling.rst, RPS"}})
	}
}

// cpuMask is the mask of the first processors, as /sys writes it: groups of 32
// bits in hexadecimal.
func cpuMask(cores int) string {
	var groups []string
	for cores > 0 {
		n := min(cores, 32)
		groups = append(groups, strconv.FormatUint(1<<n-1, 16))
		cores -= n
	}
	slices.Reverse(groups)
	return strings.Join(groups, ",")
}

func sameMask(a, b string) bool {
	trim := func(s string) string { return strings.TrimLeft(strings.ReplaceAll(s, ",", ""), "0") }
	return trim(a) == trim(b)
}

// affinity gives each queue's interrupt a processor of its own, and leaves the
// first one to the rest of the system where there are enough.
func (p *Plan) affinity(m Machine, nic Interface) {
	cores := slices.Clone(nic.Cores)
	queues := 0
	for _, irq := range nic.IRQs {
		queues = max(queues, irq.Queue+1)
	}
	if queues < 2 || len(cores) < 2 {
		return
	}
	left := ""
	if len(cores) > queues {
		left = fmt.Sprintf(" Processor %d is left to the rest of the system.", cores[0])
		cores = cores[1:]
	}
	var commands []string
	for _, irq := range nic.IRQs {
		core := strconv.Itoa(cores[max(irq.Queue, 0)%len(cores)])
		switch {
		case irq.Queue < 0:
		case p.System == catalog.FreeBSD:
			commands = append(commands, "cpuset -l "+core+" -x "+strings.TrimPrefix(irq.Number, "irq"))
		case irq.Affinity != "" && irq.Affinity != core:
			p.Changes = append(p.Changes, Change{Setting: "/proc/irq/" + irq.Number + "/smp_affinity_list", From: irq.Affinity, To: core, Kind: catalog.Runtime, Belongs: "sysfs",
				Does:    "The processors that may take this interrupt.",
				Because: fmt.Sprintf("Queue %d of %s gets a processor of its own, so that a connection stays in one cache.%s", irq.Queue, nic.Name, left),
				Formula: "processors[queue mod count]", Working: fmt.Sprintf("processors[%d mod %d]", irq.Queue, len(cores)), Evidence: catalog.Documented, Undo: "restore",
				Risk:    "irqbalance, where it runs, moves it again.",
				Sources: []string{"Linux Documentation/core-api/irq/irq-affinity.rst"}})
		}
	}
	if len(commands) > 0 {
		p.Steps = append(p.Steps, Step{Title: "Bind the interrupts of " + nic.Name,
			Why:      "Each queue's interrupt gets a processor of its own." + left + " iflib drivers do this by themselves; look first with cpuset -g -x IRQ.",
			Commands: commands, Sources: []string{"FreeBSD cpuset(1)", "FreeBSD iflib(4)"}})
	}
}

// procedures are the steps that the role and the path ask for.
func (p *Plan) procedures(r Request) {
	if r.Path.MTU > 1500 {
		p.Steps = append(p.Steps, jumbo(r))
	}
	lossy := r.Path.Loss >= 1e-4
	if p.System == catalog.FreeBSD && lossy && (r.Role == "bulk" || r.Role == "web") {
		p.Steps = append(p.Steps, rack(p.Release))
	}
	if n := len(r.Machine.Interfaces); n > 1 && slices.Contains([]string{"file", "bulk", "web"}, r.Role) {
		p.Steps = append(p.Steps, aggregate(p.System, r))
	}
}

func jumbo(r Request) Step {
	ping := map[catalog.System]string{catalog.Linux: "ping -M do -s %d PEER", catalog.FreeBSD: "ping -D -s %d PEER", catalog.OpenBSD: "ping -D -s %d PEER"}[r.Machine.System]
	return Step{Title: fmt.Sprintf("Show that the whole path carries %d bytes", r.Path.MTU),
		Why:      fmt.Sprintf("One device that does not drops every large packet. %d bytes of echo, 8 of ICMP and 20 of IP make %d.", r.Path.MTU-28, r.Path.MTU),
		Commands: []string{fmt.Sprintf(ping, r.Path.MTU-28)}, Sources: []string{"RFC 1191", "RFC 4821"}}
}

func rack(v catalog.Version) Step {
	s := Step{Title: "Use the RACK stack", Sources: []string{"FreeBSD tcp_rack(4)", "the FreeBSD tuning guide (2021)"},
		Why:      "It finds lost segments by time instead of duplicate acknowledgements, which helps on a path that loses some.",
		Commands: []string{"sysrc -f /boot/loader.conf tcp_rack_load=YES", "kldload tcp_rack", "sysctl net.inet.tcp.functions_available", "sysctl net.inet.tcp.functions_default=rack"}}
	if !v.AtLeast("14.0") {
		s.Why += " GENERIC kernels of this release lack its timers, so that a kernel must be built."
		s.Commands = append([]string{
			"printf 'include GENERIC\\nident RACK\\nmakeoptions WITH_EXTRA_TCP_STACKS=1\\noptions TCPHPTS\\n' > /usr/src/sys/amd64/conf/RACK",
			"cd /usr/src && make buildkernel KERNCONF=RACK && make installkernel KERNCONF=RACK && nextboot -k kernel",
			"shutdown -r now"}, s.Commands...)
	} else {
		s.Why += " Where the module does not load, the kernel lacks options TCPHPTS and must be built with it."
	}
	return s
}

// aggregate names the hash that spreads flows over the links of an aggregate.
func aggregate(s catalog.System, r Request) Step {
	hash, command := "layer3+4", "ip link set bond0 type bond mode 802.3ad xmit_hash_policy layer3+4"
	switch s {
	case catalog.FreeBSD:
		hash, command = "l2,l3,l4", "ifconfig lagg0 laggproto lacp lagghash l2,l3,l4"
	case catalog.OpenBSD:
		hash, command = "addresses and ports", "ifconfig aggr0 trunkport em0 trunkport em1"
	}
	why := fmt.Sprintf("A flow stays on one link, so that an aggregate helps %.0f connections together and a single one not at all; %s spreads those between two hosts too.", r.Load.Connections, hash)
	return Step{Title: fmt.Sprintf("If the %d interfaces lead to one switch, aggregate them", len(r.Machine.Interfaces)), Why: why, Commands: []string{command},
		Sources: []string{map[catalog.System]string{catalog.Linux: "Linux Documentation/networking/bonding.rst", catalog.FreeBSD: "FreeBSD lagg(4)", catalog.OpenBSD: "OpenBSD aggr(4)"}[s]}}
}
