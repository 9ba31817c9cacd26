package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/units"
)

// Budget is the memory that the plan lets sockets take at worst.
type Budget struct {
	Connections float64 `json:"connections"`
	PerSocket   float64 `json:"per_socket_bytes"`
	WorstCase   float64 `json:"worst_case_bytes"`
	Memory      float64 `json:"memory_bytes"` // 0: not known
	// Bound names the setting that keeps the sum below what all sockets could
	// take one by one; empty without one.
	Bound string `json:"bound,omitempty"`
	// States are what the firewall may hold by its limit, and StateMemory what
	// that takes at most with the table that finds them; 0 without a limit that
	// is known.
	States      float64 `json:"states,omitempty"`
	StateMemory float64 `json:"state_memory_bytes,omitempty"`
}

// stateTables are the limit of the firewall's states, the memory of one in
// bytes, the buckets of its table and the memory of one: struct nf_conn and its
// extensions in slabs of 320 bytes and a list head (Linux
// net/netfilter/nf_conntrack_core.c), pf's state with two keys in 1 KiB and a
// hash row in each of two tables (FreeBSD sys/netpfil/pf/pf.c; OpenBSD has
// trees).
var stateTables = map[catalog.System]struct {
	limit  string
	each   float64
	hash   string
	bucket float64
}{
	catalog.Linux:   {"net.netfilter.nf_conntrack_max", 320, "net.netfilter.nf_conntrack_buckets", 8},
	catalog.FreeBSD: {"pf:set/limit/states", 1024, "net.pf.states_hashsize", 128},
	catalog.OpenBSD: {"pf:set/limit/states", 1024, "", 0},
}

// states adds what the firewall's states may take.
func (b *Budget) states(p *Plan, r Request) {
	table := stateTables[p.System]
	limit, ok := number(p.value(table.limit, r))
	if !ok || r.Load.States <= 0 {
		return
	}
	if limit < r.Load.States {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the firewall keeps at most %.0f of the %.0f states expected, "+
			"as the memory has room for no more: connections beyond are refused; add memory, or shorten the "+
			"timeouts of what needs no state", limit, r.Load.States))
	}
	b.States, b.StateMemory = limit, limit*table.each
	if buckets, ok := number(p.value(table.hash, r)); ok && table.hash != "" {
		b.StateMemory += buckets * table.bucket
	}
}

// socketLimits names the settings that bound one TCP socket's memory.
var socketLimits = map[catalog.System][]string{
	catalog.Linux:   {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"},
	catalog.FreeBSD: {"net.inet.tcp.recvbuf_max", "net.inet.tcp.sendbuf_max"},
}

// programLimits bound what a program may ask for by itself, and follow the
// same budget.
var programLimits = map[catalog.System][]string{
	catalog.Linux:   {"net.core.rmem_max", "net.core.wmem_max"},
	catalog.FreeBSD: {"kern.ipc.maxsockbuf"},
}

const (
	// socketShare is the part of the memory that sockets may take together.
	socketShare = 0.5
	// openbsdBuffer is SB_MAX, where OpenBSD's socket buffers end
	// (sys/sys/socketvar.h), and openbsdCluster an mbuf cluster's size.
	openbsdBuffer, openbsdCluster = 2 << 20, 2048
)

// overhead is what a byte of a socket buffer really takes: Linux counts its
// packets' whole memory, FreeBSD the payload, which lies in clusters of 2048
// bytes with an mbuf of 256 each (sys/sys/param.h, MCLBYTES and MSIZE).
func (r Request) overhead() float64 {
	if r.Machine.System != catalog.FreeBSD {
		return 1
	}
	return 2304 / math.Min(float64(r.Path.MSS()), 2048)
}

// share is what one direction of a connection may hold, 0 when the memory is
// not known. Linux bounds the memory of all TCP sockets by tcp_mem and shrinks
// buffers before that, so that one of them may take a sixteenth of the memory;
// elsewhere an exhausted pool of mbufs stops every connection, and the sum of
// all buffers is what counts.
func (r Request) share() float64 {
	if r.Machine.System == catalog.Linux {
		return math.Floor(float64(r.Machine.Memory) / 16)
	}
	if r.Load.Connections <= 0 {
		return 0
	}
	return math.Floor(float64(r.Machine.Memory) * socketShare / r.Load.Connections / 2 / r.overhead())
}

// budget computes the worst case and caps the largest buffers so that it stays
// within socketShare of the memory.
func (p *Plan) budget(r Request) {
	b := Budget{Connections: r.Load.Connections, Memory: float64(r.Machine.Memory)}
	b.states(p, r)
	if p.System == catalog.OpenBSD {
		p.openbsdBudget(b, r)
		return
	}
	limits := socketLimits[p.System]
	if b.Memory > 0 {
		for _, name := range limits {
			p.capAt(name, r.share(), r)
		}
		for _, name := range programLimits[p.System] {
			p.capAt(name, math.Ceil(r.share()*r.overhead()), r)
		}
	} else {
		p.Warnings = append(p.Warnings, "the memory is not known: what must fit into it is not decided; give --memory")
	}
	for _, name := range limits {
		if v, ok := number(standard(p.value(name, r), "")); ok {
			b.PerSocket += v * r.overhead()
		}
	}
	b.WorstCase = b.PerSocket * b.Connections
	p.warnWindow(r)
	if most := p.tcpMemory(r); most > 0 && most < b.WorstCase {
		b.WorstCase, b.Bound = most, "net.ipv4.tcp_mem"
	}
	if b.Memory > 0 && b.WorstCase > b.Memory*socketShare {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%.0f connections at their largest buffers would take %s of %s "+
			"memory already with the limits that run now%s",
			b.Connections, units.Bytes(b.WorstCase), units.Bytes(b.Memory),
			map[bool]string{true: ": the pool of clusters ends before, and then all connections wait for each other"}[p.System == catalog.FreeBSD]))
	}
	if most := p.clusterMemory(r); most > 0 && most < b.WorstCase {
		b.WorstCase, b.Bound = most, "kern.ipc.nmbclusters"
	}
	p.Memory = b
}

// tcpMemory is what Linux lets all TCP sockets take together, the last number
// of tcp_mem in pages: of the plan, of the host, else the 9.4 percent that the
// kernel computes (net/ipv4/tcp.c, tcp_init_mem). 0 elsewhere.
func (p *Plan) tcpMemory(r Request) float64 {
	if p.System != catalog.Linux {
		return 0
	}
	if pages, ok := number(standard(p.value("net.ipv4.tcp_mem", r), "")); ok {
		return pages * math.Max(float64(r.Machine.Page), 4096)
	}
	return float64(r.Machine.Memory) * 3 / 32
}

// clusterMemory is what FreeBSD's pools let all sockets take together: clusters
// of 2 KiB with their mbufs, by default an eighth of the memory, and as much in
// clusters of a page (sys/kern/kern_mbuf.c, tunable_mbinit). 0 elsewhere.
func (p *Plan) clusterMemory(r Request) float64 {
	if p.System != catalog.FreeBSD {
		return 0
	}
	memory := float64(r.Machine.Memory)
	clusters, ok := number(p.value("kern.ipc.nmbclusters", r))
	if !ok {
		clusters = memory / 16384
	}
	return clusters*2304 + memory/8
}

// openbsdBudget is what OpenBSD's own limits allow: no setting moves the
// largest buffer.
func (p *Plan) openbsdBudget(b Budget, r Request) {
	b.PerSocket = 2 * openbsdBuffer
	b.WorstCase = b.PerSocket * b.Connections
	if clusters, ok := number(p.value("kern.maxclusters", r)); ok && clusters*openbsdCluster < b.WorstCase {
		b.WorstCase, b.Bound = clusters*openbsdCluster, "kern.maxclusters"
	}
	p.Memory = b
	if bdp := float64(r.Path.BDP()); bdp > openbsdBuffer && p.Role != "router" &&
		p.Role != "home" { // which hold no connections of their own
		rate := units.Rate(openbsdBuffer * 8 / r.Path.RTT.Seconds())
		p.Warnings = append(p.Warnings, fmt.Sprintf("OpenBSD's socket buffers end at 2 MiB, less than the %.0f "+
			"bytes that fill the path, and no setting raises that: one connection carries at most %s of %s; use "+
			"%.0f in parallel", bdp, rate, r.Path.Rate, math.Ceil(bdp/openbsdBuffer)))
	}
	if b.Memory > 0 && b.WorstCase > b.Memory*socketShare {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%.0f connections at their largest buffers would take %s of %s "+
			"memory; the kernel stops growing buffers when 80%% of its mbuf memory is taken",
			b.Connections, units.Bytes(b.WorstCase), units.Bytes(b.Memory)))
	}
}

// warnWindow says when the memory allows no window that fills the path.
func (p *Plan) warnWindow(r Request) {
	for _, name := range socketLimits[p.System] {
		v, ok := number(standard(p.value(name, r), ""))
		bdp := float64(r.Path.BDP())
		if ok && v < bdp {
			rate := units.Rate(v * 8 / r.Path.RTT.Seconds())
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s of %.0f bytes is less than the %.0f bytes that fill the "+
				"path: one connection carries at most %s of %s", name, v, bdp, rate, r.Path.Rate))
		}
	}
}

// value is a setting's value under the plan: proposed, running or the
// release's default.
func (p *Plan) value(name string, r Request) string {
	for _, ch := range p.Changes {
		if ch.Setting == name {
			return ch.To
		}
	}
	if v, ok := r.Machine.Running[name]; ok {
		return normal(v)
	}
	for _, k := range p.Kept {
		if k.Setting == name {
			return k.Value
		}
	}
	return ""
}

// capAt lowers a proposed maximum to the ceiling, never below what runs.
func (p *Plan) capAt(name string, ceiling float64, r Request) {
	i := slices.IndexFunc(p.Changes, func(ch Change) bool { return ch.Setting == name })
	if i < 0 {
		return
	}
	ch := &p.Changes[i]
	words := strings.Fields(ch.To)
	last := len(words) - 1
	if v, ok := number(words[last]); !ok || v <= ceiling {
		return
	}
	running, _ := number(standard(ch.From, ch.Default))
	wanted := words[last]
	words[last] = strconv.FormatFloat(math.Max(ceiling, running), 'f', 0, 64)
	ch.To = strings.Join(words, " ")
	ch.Capped = fmt.Sprintf("%s wanted; %.0f connections may take half of the memory together", wanted,
		r.Load.Connections)
	if p.System == catalog.Linux {
		ch.Capped = wanted + " wanted; one buffer may take a sixteenth of the memory"
	}
	if ch.To == normal(ch.From) || ch.From == "" && ch.To == ch.Default {
		p.keep(name, ch.To, "the memory allows no more: "+ch.Capped)
		p.Changes = slices.Delete(p.Changes, i, i+1)
	}
}
