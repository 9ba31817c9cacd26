package workload

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestBoundedByRoundTrip(t *testing.T) {
	http, err := FindKind("http-small")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		median float64 // s
		want   string
	}{{0.0401, LimitRoundTrip}, {0.049, LimitRoundTrip}, {0.120, LimitPath}, {0, LimitPath}} {
		r := Run{Metrics: map[string]float64{LatencyP50: c.median},
			ClientKernel: &Kernel{Flows: []Flow{{MinRTT: 0.040, Busy: 1, Sent: 1e6}}}}
		r.bounded(http, Spec{Streams: 250, Duration: time.Second})
		if r.Limit == nil || r.Limit.Code != c.want {
			t.Errorf("median %g s: %v, want %s", c.median, r.Limit, c.want)
		}
	}
}

// TestBoundedByTable: a full table of tracked connections is named, on either
// host or between them; a transfer, which needs one place, is not bounded by it.
func TestBoundedByTable(t *testing.T) {
	full := &Kernel{Counters: map[string]int64{"conntrack.drop": 9, "conntrack.early_drop": 1}}
	for _, c := range []struct {
		workload, want string
		run            Run
	}{
		{"crr", LimitTable, Run{Limit: &Limit{LimitServer, "late"}, ServerKernel: full}},
		{"http-small", LimitTable, Run{ClientKernel: full}},
		{"crr", LimitPorts, Run{Limit: &Limit{LimitPorts, "none"}, ClientKernel: full}},
		{"bulk", LimitPath, Run{Limit: &Limit{LimitPath, "its rate"}, ServerKernel: full}},
	} {
		kind, err := FindKind(c.workload)
		if err != nil {
			t.Fatal(err)
		}
		if c.run.bounded(kind, Spec{}); c.run.Limit == nil || c.run.Limit.Code != c.want {
			t.Errorf("%s: %v, want %s", c.workload, c.run.Limit, c.want)
		}
	}

	table := func(drops string) answering {
		return answering{"/proc/stat": "cpu 0 0 0 1000 0 0 0 0\ncpu0 0 0 0 1000 0 0 0 0\n",
			"/proc/net/stat/nf_conntrack": "entries drop\n00000200 " + drops + "\n00000200 00000000\n"}
	}
	w := WatchRouter(t.Context(), table("00000000"))
	w.conn = table("0000000a")
	r := Run{Limit: &Limit{LimitServer, "late"}}
	if w.Finish(t.Context(), &r); r.Limit.Code != LimitTable || r.Metrics[RouterDrops] != 10 {
		t.Errorf("a router: %v %v", r.Limit, r.Metrics)
	}
}

// TestBoundedByProcessor: where client and server are namespaces of one machine, its
// processors are nobody's own, and what each used is said where it is known.
func TestBoundedByProcessor(t *testing.T) {
	crr, err := FindKind("crr")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		client, server CPU
		code, text     string
	}{
		{CPU{Busiest: 0.5}, CPU{Busiest: 0.97}, LimitServerCPU, "the server's processor: a core was 97% busy"},
		{CPU{Busiest: 0.98}, CPU{Busiest: 0.97}, LimitClientCPU, "the client's processor"},
		{CPU{Busiest: 0.98, Shared: true}, CPU{Busiest: 0.97, Shared: true}, LimitProcessor, "share: a core was 98% busy"},
		{CPU{Busiest: 0.98, Shared: true, Own: 0.31}, CPU{Busiest: 0.97, Shared: true, Own: 0.42}, LimitProcessor,
			"98% busy; of all cores' time used the client's programs 31%, the server's programs 42%"},
		{CPU{Busiest: 1, Busy: 1, Shared: true, Own: 0.2, Link: 0.25}, CPU{Busiest: 1, Busy: 1, Shared: true, Own: 0.1, Link: 0.25}, LimitProcessor,
			"the server's programs 10%, the emulated link 25%"},
		{CPU{Busiest: 1, Busy: 1, Shared: true, Own: 0.2, Link: 0.1}, CPU{Busiest: 1, Busy: 1, Shared: true, Own: 0.1, Link: 0.1}, LimitPath, "the path"},
	} {
		r := Run{Client: &c.client, Server: &c.server, ClientKernel: &Kernel{Flows: []Flow{{MinRTT: 0.040, Busy: 1, Sent: 1e6}}}}
		if r.bounded(crr, Spec{}); r.Limit == nil || r.Limit.Code != c.code || !strings.HasSuffix(r.Limit.Text, c.text) && !strings.HasPrefix(r.Limit.Text, c.text) {
			t.Errorf("%+v: %v, want %s, %q", c, r.Limit, c.code, c.text)
		}
	}
	one := cpuOf(CPU{Busiest: 1, Shared: true, Own: 0.2})
	r := Run{Client: one, Server: one, Router: one, Limit: &Limit{LimitPath, "the path"}}
	if r.routerBusy(one); r.Limit.Code != LimitProcessor || !strings.HasSuffix(r.Limit.Text, "the router's programs 20%; the path") {
		t.Errorf("a lab's router: %v", r.Limit)
	}
	own := cpuOf(CPU{Busiest: 1})
	r = Run{Limit: &Limit{LimitPath, "the path"}}
	if r.routerBusy(own); r.Limit.Code != LimitRouter {
		t.Errorf("a router of its own: %v", r.Limit)
	}
}

func cpuOf(c CPU) *CPU { return &c }

// TestOwnTicks: times of programs and of what they waited for, whatever their
// names hold.
func TestOwnTicks(t *testing.T) {
	const rest = " S 1 1 1 0 -1 4194560 1 2 3 4 10 5 200 1000 20 0 1 0 5 6 7\n"
	for text, want := range map[string]int64{
		"1 (wirerate)" + rest: 1215, "1 (a b) c)" + rest + "27 (cat)" + rest: 2430, "1 (a\nb)" + rest: 1215,
		"": -1, "nothing of it\n": -1, "1 (x) S 1\n": -1, "1 (x)" + strings.Replace(rest, "200", "x", 1): -1,
	} {
		if got := ownTicks(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	stat := func(text string, own int64) snapshot { return snapshot{cpu: parseStat(text), own: own} }
	before, after := stat("cpu 0 0 0 1000 0 0 0 0\n", 5), stat("cpu 100 0 0 1100 0 0 0 0\n", 55)
	if c := before.cpuUntil(after, true); !c.Shared || c.Own != 0.25 {
		t.Errorf("%+v", c)
	}
	if c := before.cpuUntil(stat("cpu 100 0 0 1100 0 0 0 0\n", -1), false); c.Shared || c.Own != 0 {
		t.Errorf("%+v", c)
	}
}

// TestTableTaken: what earlier runs left in the table of tracked connections is
// said, with the limit and by itself.
func TestTableTaken(t *testing.T) {
	w := WatchRouter(t.Context(), answering{"/proc/stat": "cpu 0 0 0 1000 0 0 0 0\n",
		"/proc/net/stat/nf_conntrack":                "entries drop\n00000200 00000000\n",
		"/proc/sys/net/netfilter/nf_conntrack_count": "400\n",
		"/proc/sys/net/netfilter/nf_conntrack_max":   "512\n"})
	w.conn = answering{"/proc/stat": "cpu 0 0 0 1000 0 0 0 0\n", "/proc/net/stat/nf_conntrack": "entries drop\n00000200 0000000a\n"}
	r := Run{Limit: &Limit{LimitServer, "late"}}
	w.Finish(t.Context(), &r)
	if r.Limit.Code != LimitTable || !strings.Contains(r.Limit.Text, "; 400 of its 512 places were taken when the run began") {
		t.Errorf("%v", r.Limit)
	}
	if len(r.Warnings) == 0 || r.Warnings[0].Code != CodeTable || !strings.Contains(r.Warnings[0].Text, "held 400 of at most 512 when the run began") {
		t.Errorf("%v", r.Warnings)
	}
	err := w.Explain(t.Context(), errors.New("nothing was measured"))
	if !strings.HasPrefix(err.Error(), "nothing was measured; the router's table of tracked connections: it was full 10 times") {
		t.Errorf("%v", err)
	}
	w.conn = answering{}
	if err := w.Explain(t.Context(), context.Canceled); err != context.Canceled {
		t.Errorf("a router that tells nothing: %v", err)
	}
	r = Run{}
	if (&Tracked{200, 512}).leftOver(&r, "server"); len(r.Warnings) > 0 {
		t.Errorf("less than half of it is nothing to warn of: %v", r.Warnings)
	}
}
