package plan

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// Machine is what a plan must know about the host that it is made for.
type Machine struct {
	Host    string
	System  catalog.System
	Release catalog.Version
	Memory  units.Bytes // 0: unknown
	Page    units.Bytes // 0: unknown
	Cores   int         // 0: unknown
	NICRate units.Rate  // 0: unknown
	Driver  string
	// Running are the values of the host's settings by name. Without a host
	// it is nil, and the catalog's defaults stand in for it.
	Running map[string]string
	// Namespace marks a network namespace, whose plan must not touch what
	// governs the whole machine.
	Namespace bool
	// NoDefaultRoute marks a host on which no default route was seen.
	NoDefaultRoute bool
	// Interfaces are the physical ones; none when only Driver is known.
	Interfaces []Interface
	// Aggregates are the bonds and laggs of the host.
	Aggregates []Aggregate
	// Modules are the kernel modules that are loaded.
	Modules []string
	// DiskRate is the sustained write rate of the disks together in byte/s,
	// DiskDepth the operations that keep one of them busy, Disks their number;
	// 0 when not known.
	DiskRate  float64
	DiskDepth float64
	Disks     int
	// SyncWrites is how many blocks of 4 KiB a second the disks take
	// synchronously, one after the other; 0 when not known.
	SyncWrites float64
	// Denied are settings that the host has and does not let us write, with
	// the reason.
	Denied map[string]string
	// Unfit are names that the host gave and that no file or command can hold.
	Unfit []facts.Unfit
	// Assumed says what was assumed about a machine that is only described.
	Assumed []string
}

// Interface is a physical network interface.
type Interface struct {
	Name    name.Interface
	Driver  string
	Rate    units.Rate // 0: unknown
	Queues  int        // receive queues, 0: unknown
	RingMax int        // 0: unknown
	// Cores are the processors that its interrupts may go to by its NUMA
	// node, and IRQs its interrupts, in the order of the queues.
	Cores []int
	IRQs  []IRQ
	// Running are the values of its settings by the catalog's names.
	Running map[string]string
}

// IRQ is one interrupt of an interface: its number, in digits, and the
// processors that may take it.
type IRQ struct {
	Number, Affinity string
	Queue            int // -1 for one that is of no queue
}

// Load is how the host is used: what formulas for tables and queues need.
type Load struct {
	Connections float64 `json:"connections,omitempty"` // open at once
	ConnRate    float64 `json:"conn_rate,omitempty"`   // new per second
	PacketRate  float64 `json:"packet_rate,omitempty"` // packets per second
	States      float64 `json:"states,omitempty"`      // firewall states at once
	Hosts       float64 `json:"hosts,omitempty"`       // neighbours
}

// roleLoads is the load that is assumed of each role unless told.
func roleLoads() map[string]Load {
	return map[string]Load{
		"bulk":    {Connections: 8, ConnRate: 1, Hosts: 100},
		"web":     {Connections: 10000, ConnRate: 2000, Hosts: 100},
		"file":    {Connections: 200, ConnRate: 10, Hosts: 250}, // for clients nearby
		"router":  {Connections: 100, ConnRate: 10, PacketRate: 1e6, States: 200000, Hosts: 1000},
		"dns":     {Connections: 1000, ConnRate: 500, PacketRate: 100000, Hosts: 100},
		"latency": {Connections: 1000, ConnRate: 100, Hosts: 100},
		"home":    {Connections: 200, ConnRate: 20, States: 20000, PacketRate: 50000, Hosts: 50},
	}
}

// with adds an interface's inputs.
func (i Interface) with(in catalog.Inputs) catalog.Inputs {
	out := maps.Clone(in)
	for name, v := range map[string]float64{"queues": float64(i.Queues), "ring_max": float64(i.RingMax),
		"nic_rate": float64(i.Rate)} {
		if v > 0 {
			out[name] = v
		}
	}
	if i.Driver != "" {
		out["driver"] = i.Driver
	}
	return out
}

// closedState is how long a firewall keeps the state of a connection that has
// ended, in s: pf's tcp.closed, which follows once both FINs are acknowledged
// (pf.c, pf_tcp_track_full), and Linux's TIME_WAIT
// (nf_conntrack_tcp_timeout_time_wait).
var closedState = map[catalog.System]float64{catalog.OpenBSD: 90, catalog.FreeBSD: 90, catalog.Linux: 120}

// filters tells whether a FreeBSD host has pf: its module, or its settings
// where the kernel has it built in.
func (m Machine) filters() bool {
	if slices.Contains(m.Modules, "pf") {
		return true
	}
	for name := range m.Running {
		if strings.HasPrefix(name, "net.pf.") {
			return true
		}
	}
	return false
}

// states are the firewall states of a host that serves connections, where its
// firewall keeps some: OpenBSD's pf is on unless it was switched off, the
// others only where they are seen to be loaded.
func (r Request) states() float64 {
	m := r.Machine
	_, tracks := m.Running["net.netfilter.nf_conntrack_max"]
	filters := m.System == catalog.OpenBSD || m.System == catalog.Linux && tracks ||
		m.System == catalog.FreeBSD && m.filters()
	if r.Load.States > 0 || !filters {
		return r.Load.States
	}
	return r.Load.Connections + r.Load.ConnRate*closedState[m.System]
}

// inputs are what the catalog's formulas compute with.
func (r Request) inputs() catalog.Inputs {
	in := catalog.Inputs{
		"rate": float64(r.Path.Rate), "rtt": r.Path.RTT.Seconds(), "loss": r.Path.Loss,
		"mtu": float64(r.Path.MTU), "mss": float64(r.Path.MSS()), "bdp": float64(r.Path.BDP()),
		"role": r.Role,
	}
	if r.Machine.Release != "" {
		in["version"] = string(r.Machine.Release)
	}
	if r.Machine.Driver != "" {
		in["driver"] = r.Machine.Driver
	}
	for name, v := range map[string]float64{
		"memory": float64(r.Machine.Memory), "page": float64(r.Machine.Page), "cores": float64(r.Machine.Cores),
		"nic_rate": float64(r.Machine.NICRate), "connections": r.Load.Connections, "conn_rate": r.Load.ConnRate,
		"packet_rate": r.Load.PacketRate, "states": r.Load.States, "hosts": r.Load.Hosts,
		"disk_rate":  r.Machine.DiskRate,
		"interfaces": float64(len(r.Machine.Interfaces)), "disk_depth": r.Machine.DiskDepth,
		"disks": float64(r.Machine.Disks),
		"share": r.share(),
	} {
		if v > 0 {
			in[name] = v
		}
	}
	return in
}

// packetRate is the rate of full packets that fill the path.
func packetRate(p netpath.Path) float64 {
	return math.Floor(float64(p.Rate) / 8 / float64(p.MTU+netpath.EthernetOverhead))
}
