package workload

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/kerneltext"
)

// Warning is something about one run that weakens what is concluded from it.
type Warning struct {
	Code  string  `json:"code"`
	Text  string  `json:"text"`
	Value float64 `json:"value"`
}

// Codes of warnings about a run.
const (
	CodeCPUBound  = "cpu-bound"
	CodeMemory    = "tcp-memory"
	CodeDrops     = "drops"
	CodeReceiver  = "receiver-limited"
	CodeSendLimit = "send-buffer-limited"
	CodeEmulator  = "emulator-behind"
	CodeSteal     = "steal"
	CodeNotSteady = "not-steady"
	CodeLateStart = "late-start"
	CodeSlowIdle  = "slow-idle"
	CodeAboveLink = "above-link"
	CodeBuiltin   = "built-in"
	CodeLossBound = "loss-bound"
	CodeTable     = "table-taken"
)

// Kernel is what a host's kernel says about a run.
type Kernel struct {
	// Counters are the changes of counters of /proc/net/snmp, netstat,
	// softnet_stat, dev and stat/nf_conntrack; those that did not change are left
	// out.
	Counters map[string]int64 `json:"counters,omitempty"`
	Memory   *TCPMemory       `json:"tcp_memory,omitempty"`
	Tracked  *Tracked         `json:"tracked,omitempty"`
	Flows    []Flow           `json:"flows,omitempty"`
}

// Tracked is the table of tracked connections when a run began.
type Tracked struct {
	Used int64 `json:"used"`
	Max  int64 `json:"max"` // net.netfilter.nf_conntrack_max
}

// TCPMemory is the memory of all TCP sockets of a machine against its limits
// (net.ipv4.tcp_mem, tcp(7)), in pages.
type TCPMemory struct {
	Most     int64 `json:"most_pages"` // seen during the run
	Own      int64 `json:"own_pages"`  // of that, by this run's own sockets
	Low      int64 `json:"low_pages"`
	Pressure int64 `json:"pressure_pages"`
	High     int64 `json:"high_pages"`
}

// counted are the counters worth keeping, by their names in /proc/net/snmp and
// /proc/net/netstat.
const counted = " RetransSegs OutSegs InErrs OutRsts TCPTimeouts TCPLostRetransmit TCPFastRetrans " +
	"TCPSlowStartRetrans TCPMemoryPressures TCPMemoryPressuresChrono TCPRcvCollapsed PruneCalled RcvPruned TCPRcvQDrop " +
	"TCPZeroWindowDrop TCPBacklogDrop ListenOverflows ListenDrops TCPReqQFullDrop TCPReqQFullDoCookies TCPOFOQueue " +
	"TCPDSACKRecv TCPSpuriousRTOs TCPAbortOnMemory TCPWantZeroWindowAdv TCPToZeroWindowAdv RcvbufErrors SndbufErrors " +
	"InErrors NoPorts ReasmFails InDiscards OutDiscards ForwDatagrams OutNoRoutes "

// snapshot is one reading of a host's counters.
type snapshot struct {
	cpu      cpuSample
	counters map[string]int64
	pages    int64 // of TCP memory; -1 unknown
	tracked  *Tracked
	own      int64 // ticks that its programs used; -1 unknown
	link     int64 // ticks that this program used
}

func readSnapshot(ctx context.Context, c host.Conn) snapshot {
	s := snapshot{counters: map[string]int64{}, pages: -1, own: -1}
	ops := []host.Op{host.Read("/proc/stat"), host.Read("/proc/net/snmp"), host.Read("/proc/net/netstat"),
		host.Read("/proc/net/softnet_stat"), host.Read("/proc/net/dev"), host.Read("/proc/net/sockstat"),
		host.Read("/proc/net/stat/nf_conntrack"), host.Read("/proc/sys/net/netfilter/nf_conntrack_count"),
		host.Read("/proc/sys/net/netfilter/nf_conntrack_max")}
	plain := len(ops)
	if a, here := c.(*host.Agent); here && a.Apart() {
		ops = append(ops, host.Script(ownProcesses))
	}
	answers, err := c.Do(ctx, ops...)
	if err != nil || len(answers) != len(ops) {
		return s
	}
	if len(answers) > plain {
		s.own = ownTicks(answers[plain].Text())
		if self, err := host.ReadFile(ctx, host.NewLocal(), "/proc/self/stat"); err == nil {
			s.link = ownTicks(string(self))
		}
	}
	if answers[0].Failure == host.None {
		s.cpu = parseStat(answers[0].Text())
	}
	s.count(answers[1].Text(), answers[2].Text(), answers[3].Text(), answers[4].Text())
	s.pages = tcpPages(answers[5].Text())
	names, sums, _ := kerneltext.StatColumns(answers[6].Text()) // which hosts without a packet filter do not have
	for i, name := range names {
		if name == "drop" || name == "early_drop" {
			s.counters["conntrack."+name] = int64(sums[i])
		}
	}
	var t Tracked
	if n, err := fmt.Sscan(answers[7].Text()+" "+answers[8].Text(), &t.Used, &t.Max); n == 2 && err == nil && t.Max > 0 {
		s.tracked = &t
	}
	return s
}

// count keeps the counters of /proc/net/snmp, netstat, softnet_stat and dev. What cannot be read is left out.
func (s *snapshot) count(snmp, netstat, softnet, devices string) {
	for _, tables := range []string{snmp, netstat} {
		_ = kerneltext.Tables(tables, func(v kerneltext.Value) {
			n, err := strconv.ParseInt(v.Text, 10, 64)
			if err == nil && strings.Contains(counted, " "+v.Name+" ") {
				s.counters[v.Table+"."+v.Name] = n
			}
		})
	}
	cores, _ := kerneltext.SoftnetStat(softnet)
	for _, c := range cores {
		s.counters["softnet.dropped"] += int64(c.Dropped)
		s.counters["softnet.squeezed"] += int64(c.Squeezed)
	}
	_ = kerneltext.Devices(devices, func(_ int, name string, numbers []string) {
		for column, what := range map[int]string{3: "rx_dropped", 11: "tx_dropped"} {
			if v, err := strconv.ParseInt(numbers[column], 10, 64); err == nil {
				s.counters["dev."+name+"."+what] = v
			}
		}
	})
}

// tcpPages returns the pages of TCP memory of /proc/net/sockstat, -1 when it does not tell.
func tcpPages(sockstat string) int64 {
	pages := int64(-1)
	_ = kerneltext.Sockstat(sockstat, func(v kerneltext.Value) {
		if n, err := strconv.ParseInt(v.Text, 10, 64); v.Table == "TCP" && v.Name == "mem" && err == nil {
			pages = n
		}
	})
	return pages
}

// watch observes both hosts while a workload runs.
type watch struct {
	pair   Pair
	spec   Spec
	before [2]snapshot
	memory [2]*TCPMemory
	cancel context.CancelFunc
	wg     sync.WaitGroup
	flows  [2][]Flow
	own    [2]int64 // bytes of socket memory
}

const (
	memoryWait  = 30 * time.Second // how long a run waits for others' memory
	memoryPause = 500 * time.Millisecond
	pageSize    = 4096
)

func (p Pair) hosts() [2]host.Conn { return [2]host.Conn{p.Client, p.Server} }

// startWatch waits until the machine's TCP memory is free, takes the first
// reading and begins to sample.
func startWatch(ctx context.Context, p Pair, s Spec) (*watch, error) {
	w := &watch{pair: p, spec: s}
	for i, c := range p.hosts() {
		w.memory[i] = readLimits(ctx, c)
	}
	until := time.Now().Add(memoryWait)
	for {
		busy := false
		for i, c := range p.hosts() {
			w.before[i] = readSnapshot(ctx, c)
			if m := w.memory[i]; m != nil {
				m.Most = w.before[i].pages
				busy = busy || m.Most >= m.Low
			}
		}
		if !busy || time.Now().After(until) {
			break
		}
		if err := pause(ctx, memoryPause); err != nil {
			return nil, err
		}
	}
	inner, cancel := context.WithCancel(ctx)
	w.cancel = cancel
	for i, c := range p.hosts() {
		w.wg.Go(func() { w.sample(inner, i, c) })
	}
	return w, nil
}

// readLimits reads net.ipv4.tcp_mem, which a namespace does not show: it is
// then this machine's.
func readLimits(ctx context.Context, c host.Conn) *TCPMemory {
	const file = "/proc/sys/net/ipv4/tcp_mem"
	data, err := host.ReadFile(ctx, c, file)
	if _, here := c.(*host.Agent); err != nil && here {
		data, err = host.ReadFile(ctx, host.NewLocal(), file)
	}
	if err != nil {
		return nil
	}
	var m TCPMemory
	if n, err := fmt.Sscan(string(data), &m.Low, &m.Pressure, &m.High); n != 3 || err != nil {
		return nil
	}
	return &m
}

// sample looks at TCP memory twice a second and at the flows once, late in the
// run.
func (w *watch) sample(ctx context.Context, i int, c host.Conn) {
	look := time.Now().Add(w.spec.Omit + w.spec.Duration*8/10)
	_, remote := c.(*host.SSH)
	for {
		if pause(ctx, memoryPause) != nil {
			return
		}
		if m := w.memory[i]; m != nil && !remote {
			if data, err := host.ReadFile(ctx, c, "/proc/net/sockstat"); err == nil {
				m.Most = max(m.Most, tcpPages(string(data)))
			}
		}
		if !look.IsZero() && time.Now().After(look) {
			look = time.Time{}
			if a, err := one(ctx, c, host.Command("ss", "-tinHOm").Within(5*time.Second)); err == nil && a.Failure == host.None {
				w.flows[i], w.own[i] = parseFlows(a.Text(), w.spec.Port)
			}
		}
	}
}

// tableFull is how often the table of tracked connections had no room: a packet
// was dropped, or a connection that was still open forgotten.
func (k *Kernel) tableFull() int64 {
	if k == nil {
		return 0
	}
	return k.Counters["conntrack.drop"] + k.Counters["conntrack.early_drop"]
}

// leftOver says when half of the table was taken before the run began.
func (t *Tracked) leftOver(r *Run, of string) {
	if t == nil || t.Used < t.Max/2 {
		return
	}
	r.warn(CodeTable, float64(t.Used)/float64(t.Max), "the %s's table of tracked connections held %d of at most %d when "+
		"the run began, of earlier runs or of others: the run had the rest", of, t.Used, t.Max)
}

// telemetry is what was observed.
type telemetry struct {
	cpu    [2]*CPU
	kernel [2]*Kernel
}

func (w *watch) finish(ctx context.Context) telemetry {
	w.cancel()
	w.wg.Wait()
	var t telemetry
	if ctx.Err() != nil {
		return t
	}
	shared := sameMachine(w.pair)
	for i, c := range w.pair.hosts() {
		after := readSnapshot(ctx, c)
		t.cpu[i] = w.before[i].cpuUntil(after, shared)
		k := &Kernel{Counters: map[string]int64{}, Memory: w.memory[i], Tracked: w.before[i].tracked, Flows: w.flows[i]}
		for name, v := range after.counters {
			if d := v - w.before[i].counters[name]; d != 0 {
				k.Counters[name] = d
			}
		}
		if k.Memory != nil {
			k.Memory.Most, k.Memory.Own = max(k.Memory.Most, after.pages), w.own[i]/pageSize
		}
		t.kernel[i] = k
	}
	// Two namespaces of one machine share its memory: what one end holds is
	// not another user's.
	if a, b := w.memory[0], w.memory[1]; a != nil && b != nil && shared {
		own, most := a.Own+b.Own, max(a.Most, b.Most)
		a.Own, b.Own, a.Most, b.Most = own, own, most, most
	}
	return t
}

func sameMachine(p Pair) bool {
	for _, c := range p.hosts() {
		if _, remote := c.(*host.SSH); remote {
			return false
		}
	}
	return true
}

func (t telemetry) attach(r *Run) {
	r.Client, r.Server = t.cpu[0], t.cpu[1]
	r.ClientKernel, r.ServerKernel = t.kernel[0], t.kernel[1]
	for i, side := range []string{"client", "server"} {
		if c := t.cpu[i]; c != nil && c.Busiest >= busyCore && (i == 0 || !c.Shared) {
			of := "the " + side
			if c.Shared {
				of = "this machine, on which client and server share the processors,"
				if !r.busyItself() {
					of = "this machine, by programs that are no part of the measurement,"
				}
			}
			r.warn(CodeCPUBound, c.Busiest, "a core of %s was %.0f%% busy: the processor may be the limit, not the path",
				of, 100*c.Busiest)
		}
		if part := t.cpu[i].steal(); part > stealLimit {
			r.warn(CodeSteal, part, "the machine under the %s took %.0f%% of its processors' time for others", side, 100*part)
		}
		k := t.kernel[i]
		if k == nil {
			continue
		}
		if n := k.Counters["softnet.dropped"] + k.Counters["TcpExt.TCPBacklogDrop"] +
			k.Counters["TcpExt.TCPRcvQDrop"]; n > 0 {
			r.warn(CodeDrops, float64(n), "the %s's kernel dropped %d packets for want of room in its queues", side, n)
		}
		k.Tracked.leftOver(r, side)
		if f, ok := busiest(k.Flows); ok {
			r.limits(side, f)
		}
		if m := k.Memory; m.pressed() {
			r.warn(CodeMemory, float64(m.Most),
				"this run's own sockets took TCP memory on the %s to its limit (%d of %d pages): net.ipv4.tcp_mem binds here", side,
				m.Most, m.Pressure)
		}
	}
}

// stealLimit is the share of stolen processor time from which it is said.
const stealLimit = 0.05

// limits says by what a flow was held back for most of its time.
func (r *Run) limits(side string, f Flow) {
	if !(f.Busy > 0) {
		return
	}
	if part := f.RwndLimited / f.Busy; part > 0.5 {
		r.warn(CodeReceiver, part, "the %s's sender was held back by the receive window for %.0f%% of its time", side,
			100*part)
	}
	if part := f.SndbufLimited / f.Busy; part > 0.5 {
		r.warn(CodeSendLimit, part, "the %s's sender was held back by its send buffer for %.0f%% of its time", side, 100*part)
	}
}

func (r *Run) warn(code string, value float64, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{code, fmt.Sprintf(format, args...), value})
}

// pressed tells whether TCP memory reached the point from which the kernel
// takes back receive windows: it enters that state above the second value of
// tcp_mem and leaves it below the first.
func (m *TCPMemory) pressed() bool { return m != nil && m.Pressure > 0 && m.Most >= m.Pressure }

// disturbance says why a run says nothing about its arm: other users of the
// machine had its TCP memory, so that the kernel gave no receive windows.
func (r Run) disturbance() string {
	for i, k := range []*Kernel{r.ClientKernel, r.ServerKernel} {
		if k == nil || k.Memory == nil {
			continue
		}
		m, side := k.Memory, []string{"client", "server"}[i]
		entered := m.pressed() || k.Counters["TcpExt.TCPMemoryPressures"] > 0 ||
			k.Counters["TcpExt.TCPMemoryPressuresChrono"] > 0
		// Between the two limits the pressure may be left over from before
		// the run; a receive window that binds is then its sign.
		if !entered && m.Most >= m.Low {
			f, ok := busiest(append(append([]Flow{}, k.Flows...), r.otherFlows(i)...))
			entered = ok && f.Busy > 0 && f.RwndLimited > f.Busy/2
		}
		if entered && m.Most-m.Own >= m.Low/2 {
			return fmt.Sprintf("the TCP memory of the %s's machine was under pressure from other sockets (%d pages, of them "+
				"%d by this run; pressure from %d, net.ipv4.tcp_mem), so that the kernel closed receive windows",
				side, m.Most, m.Own, m.Pressure)
		}
	}
	return ""
}

func (r Run) otherFlows(i int) []Flow {
	k := []*Kernel{r.ServerKernel, r.ClientKernel}[i]
	if k == nil {
		return nil
	}
	return k.Flows
}
