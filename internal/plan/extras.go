package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/shell"
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
			if !ok || known || module.StateIn(p.Release) != catalog.Present ||
				slices.Contains(m.Modules, strings.TrimSuffix(name, "_load")) {
				continue
			}
			needed = append(needed, Change{Setting: name, From: m.Running[name], To: loadedWord(p.System),
				Kind: module.Kind, Belongs: module.Belongs[0], Does: module.Does,
				Because: ch.Setting + " = " + ch.To + " needs it.", Evidence: catalog.Documented, Risk: module.Risk,
				Undo: "restore", Sources: module.Sources})
		}
	}
	p.Changes = append(append([]Change{}, needed...), p.Changes...)
}

// modulesOf names the modules that a change needs. Linux loads what a queueing
// discipline needs by itself.
func (p *Plan) modulesOf(rec *catalog.Record, ch Change, m Machine) []string {
	// FreeBSD 13 lists algorithms with commas, 14 in a table, Linux with spaces.
	available := strings.FieldsFunc(m.Running[availableAlgorithms[ch.Setting]],
		func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if ch.Setting == "net.core.default_qdisc" || slices.Contains(available, ch.To) {
		return nil
	}
	byValue := false
	for _, v := range rec.Values {
		byValue = byValue || v.Needs != ""
		if v.Value == ch.To && v.Needs != "" && !builtIn(p.System, p.Release, ch.To) {
			return []string{v.Needs}
		}
	}
	if byValue || p.System == catalog.OpenBSD {
		return nil
	}
	if _, has := m.Running[ch.Setting]; has && p.System == catalog.Linux {
		return nil // loaded, or part of the kernel
	}
	if p.System == catalog.Linux {
		// A sysctl.d line for a module that is not yet loaded fails at boot.
		return slices.DeleteFunc(slices.Clone(rec.Needs), func(n string) bool { return n != "nf_conntrack" })
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
			p.followFlows(m, nic)
			p.transmitQueues(m, nic)
		}
		p.affinity(nic)
	}
}

// queueFile is the kernel's file about a queue of an interface; direction is rx
// or tx.
func queueFile(nic Interface, direction string, queue int, file string) string {
	return fmt.Sprintf("/sys/class/net/%s/queues/%s-%d/%s", nic.Name, direction, queue, file)
}

// steer spreads one hardware queue over the processors in software.
func (p *Plan) steer(m Machine, nic Interface) {
	if nic.Queues != 1 || m.Cores < 2 {
		return
	}
	name := queueFile(nic, "rx", 0, "rps_cpus")
	mask := cpuMask(m.Cores)
	if from, has := m.Running[name]; (has || m.Running == nil) && !sameMask(from, mask) {
		p.Changes = append(p.Changes, Change{Setting: name, From: from, To: mask, Default: "0", Kind: catalog.Runtime,
			Belongs: "sysfs",
			Does:    "The processors that may handle packets of this receive queue (receive packet steering).",
			Because: fmt.Sprintf("The interface has one receive queue and the machine %d processors: the "+
				"interrupt's processor hands packets on to the others.", m.Cores),
			Formula: "2 ^ cores - 1", Working: fmt.Sprintf("2 ^ %d - 1", m.Cores), Evidence: catalog.Documented,
			Undo:    "restore",
			Risk:    "One more hop between processors for each packet; of no use where one processor keeps up.",
			Sources: []string{"Linux Documentation/networking/scaling.rst, RPS"}})
	}
}

// followFlows gives each receive queue its part of the flow table: without it
// net.core.rps_sock_flow_entries does nothing.
func (p *Plan) followFlows(m Machine, nic Interface) {
	i := slices.IndexFunc(p.Changes, func(ch Change) bool { return ch.Setting == "net.core.rps_sock_flow_entries" })
	if i < 0 || nic.Queues < 1 {
		return
	}
	entries, ok := number(p.Changes[i].To)
	if !ok {
		return
	}
	part := strconv.Itoa(int(entries) / nic.Queues)
	for q := range nic.Queues {
		name := queueFile(nic, "rx", q, "rps_flow_cnt")
		if from, has := m.Running[name]; (has || m.Running == nil) && from != part {
			p.Changes = append(p.Changes, Change{Setting: name, From: from, To: part, Default: "0",
				Kind: catalog.Runtime, Belongs: "sysfs",
				Does: "Flows of this receive queue whose processor is remembered (receive flow steering).",
				Because: "net.core.rps_sock_flow_entries is shared among the queues; without this part it does " +
					"nothing.",
				Formula: "rps_sock_flow_entries / queues", Working: fmt.Sprintf("%.0f / %d", entries, nic.Queues),
				Evidence: catalog.Documented, Undo: "restore",
				Sources: []string{"Linux Documentation/networking/scaling.rst, RFS"}})
		}
	}
}

// transmitQueues gives each transmit queue the processors that send through
// it, where the driver left that open (XPS).
func (p *Plan) transmitQueues(m Machine, nic Interface) {
	cores := nic.Cores
	if nic.Queues < 2 || len(cores) < 2 {
		return
	}
	for q := range nic.Queues {
		name := queueFile(nic, "tx", q, "xps_cpus")
		from, has := m.Running[name]
		if !has || !sameMask(from, "0") {
			continue
		}
		var mine []int
		for i := q; i < len(cores); i += nic.Queues {
			mine = append(mine, cores[i])
		}
		mask := coreMask(mine)
		if len(mine) == 0 {
			continue
		}
		p.Changes = append(p.Changes, Change{Setting: name, From: from, To: mask, Default: "0", Kind: catalog.Runtime,
			Belongs: "sysfs",
			Does:    "The processors that send through this transmit queue (transmit packet steering).",
			Because: "Every processor sends through a queue of its own or shares it with few, so that they do not " +
				"wait for each other's lock, and completions stay in one cache.",
			Formula: "processors with index mod queues = queue", Working: fmt.Sprintf("processors %v", mine),
			Evidence: catalog.Documented, Undo: "restore",
			Sources: []string{"Linux Documentation/networking/scaling.rst, XPS"}})
	}
}

// coreMask is the mask of some processors, as /sys writes it.
func coreMask(cores []int) string {
	most := 0
	for _, c := range cores {
		most = max(most, c)
	}
	groups := make([]uint64, most/32+1)
	for _, c := range cores {
		groups[c/32] |= 1 << (c % 32)
	}
	words := []string{strconv.FormatUint(groups[len(groups)-1], 16)}
	for i := len(groups) - 2; i >= 0; i-- {
		words = append(words, fmt.Sprintf("%08x", groups[i]))
	}
	return strings.Join(words, ",")
}

// cpuMask is the mask of the first processors.
func cpuMask(cores int) string {
	all := make([]int, cores)
	for i := range all {
		all[i] = i
	}
	return coreMask(all)
}

func sameMask(a, b string) bool {
	trim := func(s string) string { return strings.TrimLeft(strings.ReplaceAll(s, ",", ""), "0") }
	return trim(a) == trim(b)
}

// affinity gives each queue's interrupt a processor of its own, and leaves the
// first one to the rest of the system where there are enough.
func (p *Plan) affinity(nic Interface) {
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
			commands = append(commands, shell.Join("cpuset", "-l", core, "-x", irq.Number))
		case irq.Affinity != "" && irq.Affinity != core:
			p.Changes = append(p.Changes, Change{Setting: "/proc/irq/" + irq.Number + "/smp_affinity_list",
				From: irq.Affinity, To: core, Kind: catalog.Runtime, Belongs: "sysfs",
				Does: "The processors that may take this interrupt.",
				Because: fmt.Sprintf("Queue %d of %s gets a processor of its own, so that a connection stays in one "+
					"cache.%s", irq.Queue, nic.Name, left),
				Formula: "processors[queue mod count]",
				Working: fmt.Sprintf("processors[%d mod %d]", irq.Queue, len(cores)), Evidence: catalog.Documented,
				Undo:    "restore",
				Risk:    "irqbalance, where it runs, moves it again.",
				Sources: []string{"Linux Documentation/core-api/irq/irq-affinity.rst"}})
		}
	}
	if len(commands) > 0 {
		p.Steps = append(p.Steps, Step{Title: "Bind the interrupts of " + string(nic.Name),
			Why: "Each queue's interrupt gets a processor of its own." + left +
				" iflib drivers do this by themselves; look first with cpuset -g -x IRQ.",
			Commands: commands, Sources: []string{"FreeBSD cpuset(1)", "FreeBSD iflib(4)"}})
	}
}
