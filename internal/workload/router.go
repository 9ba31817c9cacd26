package workload

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/host"
)

// Metrics of a host that forwards a run's traffic. Drops are packets that its
// kernel or its interfaces threw away.
const (
	RouterCPU     = "router_cpu"
	RouterSoftIRQ = "router_softirq_cpu"
	RouterDrops   = "router_drops"
)

// RouterMetrics are the metrics of a run through a router; smaller is better.
func RouterMetrics() []string { return []string{RouterCPU, RouterSoftIRQ, RouterDrops} }

// Router is a first reading of a host that forwards a run's traffic.
type Router struct {
	conn   host.Conn
	before snapshot
}

// WatchRouter takes the first reading of a router before a run.
func WatchRouter(ctx context.Context, c host.Conn) Router {
	return Router{c, readRouter(ctx, c)}
}

// Finish takes the second reading and adds to the run what the router did. What
// the router does not tell is left out.
func (w Router) Finish(ctx context.Context, r *Run) {
	after := readRouter(ctx, w.conn)
	_, here := w.conn.(*host.Agent)
	r.Router = w.before.cpuUntil(after, here && r.Client != nil && r.Client.Shared)
	if r.Metrics == nil {
		r.Metrics = map[string]float64{}
	}
	if c := r.Router; c != nil {
		r.Metrics[RouterCPU], r.Metrics[RouterSoftIRQ] = c.Busy, c.SoftIRQ
		if c.Busiest >= busyCore {
			r.routerBusy(c)
		}
	}
	if len(w.before.counters) == 0 || len(after.counters) == 0 {
		return
	}
	k := &Kernel{Counters: map[string]int64{}, Tracked: w.before.tracked}
	drops := int64(0)
	for name, v := range after.counters {
		d := v - w.before.counters[name]
		if d == 0 {
			continue
		}
		k.Counters[name] = d
		if strings.HasSuffix(name, "dropped") || strings.HasSuffix(name, "drops") || name == "conntrack.drop" {
			drops += max(0, d)
		}
	}
	r.RouterKernel, r.Metrics[RouterDrops] = k, float64(drops)
	behind := r.Limit == nil || r.Limit.Code == LimitPath || r.Limit.Code == LimitServer
	if full := tableLimit("router", k); full != nil && behind {
		r.Limit = full
	} else if r.Limit != nil && r.Limit.Code == LimitPath && drops > 0 {
		r.Limit = &Limit{LimitRouter, fmt.Sprintf("the router: it dropped %d packets", drops)}
	}
	k.Tracked.leftOver(r, "router")
	if drops > 0 {
		r.warn(CodeDrops, float64(drops), "the router dropped %d packets", drops)
	}
}

// Explain adds to a run's failure that the router's table of tracked connections
// was full, where it was.
func (w Router) Explain(ctx context.Context, err error) error {
	var r Run
	if w.Finish(ctx, &r); r.Limit == nil || r.Limit.Code != LimitTable {
		return err
	}
	return fmt.Errorf("%w; %s", err, r.Limit.Text)
}

// routerBusy says that the router's processors may be what bounds the run.
func (r *Run) routerBusy(c *CPU) {
	bound := r.Limit != nil && (r.Limit.Code == LimitPath || r.Limit.Code == LimitServer)
	if c.Shared { // of which the client's and the server's say it, too
		if !r.busyItself() {
			return
		}
		if bound || r.Limit != nil && r.Limit.Code == LimitProcessor {
			after := ""
			if bound {
				after = "; " + r.Limit.Text
			}
			r.Limit = r.processorLimit(after)
		}
		return
	}
	if bound {
		r.Limit = &Limit{LimitRouter, fmt.Sprintf("the router's processor: a core was %.0f%% busy; %s",
			100*c.Busiest, r.Limit.Text)}
	}
	r.warn(CodeCPUBound, c.Busiest, "a core of the router was %.0f%% busy: it may be the limit, not the path",
		100*c.Busiest)
}

// readRouter reads the counters of /proc, or those of a BSD by sysctl(8).
func readRouter(ctx context.Context, c host.Conn) snapshot {
	s := readSnapshot(ctx, c)
	if s.cpu != nil {
		return s
	}
	const drops = "net.inet.ip.intr_queue_drops" // FreeBSD, inet(4)
	const queue = "net.inet.ip.ifq.drops"        // OpenBSD, sysctl(2)
	answers, err := c.Do(ctx, host.Command("sysctl", "-n", "kern.cp_time"), host.Command("sysctl", "-n", "kern.cp_times"),
		host.Command("sysctl", "-n", drops), host.Command("sysctl", "-n", queue))
	if err != nil || len(answers) != 4 || answers[0].Failure != host.None {
		return s
	}
	s.cpu = parseStat(ticksOfBSD(answers[0].Text(), answers[1].Text()))
	for i, name := range []string{drops, queue} {
		if v, err := strconv.ParseInt(strings.TrimSpace(answers[2+i].Text()), 10, 64); err == nil &&
			answers[2+i].Failure == host.None {
			s.counters[name] = v
		}
	}
	return s
}

// ticksOfBSD writes kern.cp_time and FreeBSD's kern.cp_times as the lines of
// /proc/stat. FreeBSD counts user, nice, system, interrupt and idle
// (sys/resource.h), in kern.cp_times once for each core; OpenBSD has spinning,
// which counts as system here, before interrupt (sys/sched.h).
func ticksOfBSD(all, cores string) string {
	numbers := func(text string) (out []int64) {
		for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
			v, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return nil
			}
			out = append(out, v)
		}
		return out
	}
	var b strings.Builder
	line := func(name string, user, nice, system, interrupt, idle int64) {
		fmt.Fprintf(&b, "%s %d %d %d %d 0 %d 0 0\n", name, user, nice, system, idle, interrupt)
	}
	switch n := numbers(all); len(n) {
	case 5:
		line("cpu", n[0], n[1], n[2], n[3], n[4])
		for i, each := 0, numbers(cores); i+5 <= len(each); i += 5 {
			line("cpu"+strconv.Itoa(i/5), each[i], each[i+1], each[i+2], each[i+3], each[i+4])
		}
	case 6:
		line("cpu", n[0], n[1], n[2]+n[3], n[4], n[5])
	}
	return b.String()
}
