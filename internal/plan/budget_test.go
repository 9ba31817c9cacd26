package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// entryMemory is what one unit of a setting's value may take, in bytes; of a
// socket's limit the sum over all connections is the budget's.
var entryMemory = map[string]float64{
	"net.netfilter.nf_conntrack_max": 320, "net.netfilter.nf_conntrack_buckets": 8, "net.core.netdev_max_backlog": 2304,
	"net.ipv4.tcp_max_tw_buckets": 256, "net.ipv6.route.max_size": 512, "net.core.rmem_default": 1, "net.ipv4.ipfrag_high_thresh": 1,
	"net.core.rps_sock_flow_entries": 4, "vm.min_free_kbytes": 1024, "net.ipv4.neigh.default.gc_thresh3": 512,
	"kern.ipc.nmbclusters": 2304, "net.inet.tcp.tcbhashsize": 40, "net.inet.tcp.syncache.hashsize": 30 * 200, "net.inet.tcp.maxtcptw": 100,
	"net.pf.states_hashsize": 128, "net.pf.source_nodes_hashsize": 64, "pf:set/limit/states": 1024, "pf:set/limit/src-nodes": 256,
	"net.inet.udp.recvspace": 2.25, "vfs.zfs.dirty_data_max": 1, "kern.maxclusters": 2048, "net.inet.tcp.syncachelimit": 300,
}

// TestMemory plans every role on machines from 64 MiB to 1 TiB and for paths
// from 1 kbit/s to 400 Gbit/s: no table takes more than a quarter of the
// memory, and all of them and the sockets no more than all but a tenth.
func TestMemory(t *testing.T) {
	c := loaded(t)
	for _, memory := range []units.Bytes{64 * units.MiB, 256 * units.MiB, 2 * units.GiB, 64 * units.GiB, 1024 * units.GiB} {
		for _, path := range []netpath.Path{{Rate: 1000, RTT: 5 * time.Second, MTU: 576}, {Rate: 40 * units.Gbit, RTT: 100 * time.Millisecond, MTU: 1500, Loss: 0.01}, {Rate: 400 * units.Gbit, RTT: 5 * time.Second, MTU: 9000}} {
			for system, release := range map[catalog.System]catalog.Version{catalog.Linux: "4.18", catalog.FreeBSD: "12.4", catalog.OpenBSD: "7.8"} {
				for _, role := range catalog.Roles() {
					for _, load := range []Load{{}, {Connections: 1e6, ConnRate: 1e5, PacketRate: 1e8, States: 1e8, Hosts: 1e5}} {
						m := server(system, release)
						m.Memory = memory
						p, err := Make(c, Request{Path: path, Role: role, Machine: m, Load: load})
						if err != nil {
							t.Fatal(err)
						}
						fits(t, p, fmt.Sprintf("%s %s %s %s %s load %v", system, release, role, memory, path, load), float64(memory))
					}
				}
			}
		}
	}
}

func fits(t *testing.T, p Plan, what string, memory float64) {
	t.Helper()
	sum := 0.0
	for _, ch := range p.Changes {
		base, _, _ := strings.Cut(ch.Setting, "@")
		each := entryMemory[base]
		v, ok := number(ch.To)
		if each == 0 || !ok {
			continue
		}
		from, _ := number(standard(ch.From, ch.Default))
		if took := v * each; took > memory/4*1.01 && took > from*each {
			t.Errorf("%s: %s = %s takes %.0f MiB", what, ch.Setting, ch.To, took/(1<<20))
		}
		if base != p.Memory.Bound {
			sum += v * each
		}
	}
	if p.System == catalog.OpenBSD || p.Memory.WorstCase > memory/2*1.01 && len(p.Warnings) > 0 {
		return // limits of the system itself, or limits that run already, and said
	}
	if sum+p.Memory.WorstCase > memory*0.9 {
		t.Errorf("%s: sockets %.0f and tables %.0f of %.0f MiB", what, p.Memory.WorstCase/(1<<20), sum/(1<<20), memory/(1<<20))
	}
}

func TestBudgets(t *testing.T) {
	c := loaded(t)
	path := netpath.Path{Rate: 10 * units.Gbit, RTT: 50 * time.Millisecond, MTU: 1500}
	for _, tc := range []struct {
		system catalog.System
		role   string
		bound  string
		worst  float64
	}{
		{catalog.Linux, "web", "net.ipv4.tcp_mem", float64(64*units.GiB) * 3 / 32},
		{catalog.Linux, "bulk", "", 8 * (250019840 + 125042688)},
		{catalog.FreeBSD, "bulk", "", 8 * 2 * 125000000 * 2304.0 / 1448},
		{catalog.FreeBSD, "web", "kern.ipc.nmbclusters", 7456540*2304 + float64(64*units.GiB)/8},
		{catalog.OpenBSD, "web", "kern.maxclusters", 524288 * 2048},
	} {
		m := server(tc.system, "")
		m.Release = map[catalog.System]catalog.Version{catalog.Linux: "6.12", catalog.FreeBSD: "14.2", catalog.OpenBSD: "7.8"}[tc.system]
		p, err := Make(c, Request{Path: path, Role: tc.role, Machine: m})
		if err != nil {
			t.Fatal(err)
		}
		if p.Memory.Bound != tc.bound || p.Memory.WorstCase < tc.worst*0.999 || p.Memory.WorstCase > tc.worst*1.001 {
			t.Errorf("%s %s: %+v, want %.0f bounded by %q", tc.system, tc.role, p.Memory, tc.worst, tc.bound)
		}
	}
}

// TestStates: the memory of the firewall's table follows from its limit.
func TestStates(t *testing.T) {
	for _, c := range []struct {
		system catalog.System
		role   string
		states float64
		memory float64
	}{
		{catalog.Linux, "router", 400000, 400000*320 + 524288*8},
		{catalog.FreeBSD, "router", 400000, 400000*1024 + 262144*128},
		{catalog.OpenBSD, "router", 334000, 334000 * 1024},
		{catalog.OpenBSD, "web", 317000, 317000 * 1024},
		{catalog.Linux, "web", 0, 0},
		{catalog.FreeBSD, "bulk", 0, 0},
	} {
		m := server(c.system, map[catalog.System]catalog.Version{catalog.Linux: "6.12", catalog.FreeBSD: "14.2", catalog.OpenBSD: "7.8"}[c.system])
		p := planned(t, Request{Path: netpath.Path{Rate: units.Gbit, RTT: 20 * time.Millisecond, MTU: 1500}, Role: c.role, Machine: m})
		if p.Memory.States != c.states || p.Memory.StateMemory != c.memory {
			t.Errorf("%s %s: %+v, want %.0f states and %.0f bytes", c.system, c.role, p.Memory, c.states, c.memory)
		}
	}
}

// TestTooManyStates: a table that the memory does not hold is said.
func TestTooManyStates(t *testing.T) {
	for system, release := range map[catalog.System]catalog.Version{catalog.Linux: "6.12", catalog.FreeBSD: "14.2", catalog.OpenBSD: "7.8"} {
		for _, c := range []struct {
			memory units.Bytes
			said   bool
		}{{256 * units.MiB, true}, {64 * units.GiB, false}} {
			m := server(system, release)
			m.Memory = c.memory
			p := planned(t, Request{Path: netpath.Path{Rate: units.Gbit, RTT: 20 * time.Millisecond, MTU: 1500}, Role: "router", Machine: m, Load: Load{States: 2e6}})
			if said := strings.Contains(strings.Join(p.Warnings, "\n"), "of the 2000000 states expected"); said != c.said {
				t.Errorf("%s with %s: %q", system, c.memory, p.Warnings)
			}
		}
	}
}
