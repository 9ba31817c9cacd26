package workload

import (
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
