package workload

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

func TestMain(m *testing.M) {
	if served, status := host.ServeIfAgent(); served {
		os.Exit(status)
	}
	if len(os.Args) > 1 && os.Args[1] == TrafficVerb {
		if err := Traffic(context.Background(), os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// A run waits for its time: more of them than there are processors go on side
	// by side, each in a namespace of its own.
	if err := flag.Set("test.parallel", strconv.Itoa(max(6, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// fixture is the form of iperf3 3.12's output, numbers invented.
const fixture = `{"start":{"version":"iperf 3.12"},"intervals":[
 {"sum":{"bytes":1000,"bits_per_second":8000,"omitted":true}},
 {"sum":{"bytes":2000,"bits_per_second":16000,"omitted":false},"sum_bidir_reverse":{"bits_per_second":4000}}],
 "end":{"streams":[{"sender":{"mean_rtt":20000}},{"sender":{"mean_rtt":40000}}],
 "sum_sent":{"bits_per_second":17000,"retransmits":3},"sum_received":{"bits_per_second":16000},
 "sum_sent_bidir_reverse":{"bits_per_second":5000,"retransmits":4},"sum_received_bidir_reverse":{"bits_per_second":4000}}}`

func TestParseIperf3(t *testing.T) {
	r, err := parseIperf3([]byte(fixture))
	if err != nil {
		t.Fatal(err)
	}
	if r.GoodputBPS != 20000 || r.Retransmits != 7 || len(r.IntervalsBPS) != 1 || r.IntervalsBPS[0] != 20000 || r.MeanRTT < 0.0299 || r.MeanRTT > 0.0301 {
		t.Errorf("%+v", r)
	}
	for name, bad := range map[string]string{
		"error":   `{"error":"unable to connect to server: Connection refused"}`,
		"garbage": "iperf3: error", "empty": "", "nothing ran": "{}",
		"negative": strings.Replace(fixture, `{"bits_per_second":16000}`, `{"bits_per_second":-1}`, 1),
		"cut":      fixture[:len(fixture)/2],
	} {
		if r, err := parseIperf3([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func FuzzParseIperf3(f *testing.F) {
	f.Add([]byte(fixture))
	f.Add([]byte(`{"error":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := parseIperf3(data); err == nil && !(r.GoodputBPS >= 0) {
			t.Fatalf("goodput %g", r.GoodputBPS)
		}
	})
}

func TestParseStat(t *testing.T) {
	before := parseStat("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 50 0 50 400 0 0 0 0 0 0\ncpu1 50 0 50 400 0 0 0 0\nintr 1\n")
	after := parseStat("cpu  150 0 150 900 0 0 100 0 0 0\ncpu0 100 0 100 400 0 0 100 0 0 0\ncpu1 50 0 50 500 0 0 0 0\n")
	cpu := before.since(after)
	if cpu == nil || cpu.Busy < 0.66 || cpu.Busy > 0.67 || cpu.Busiest != 1 || cpu.SoftIRQ < 0.33 || cpu.SoftIRQ > 0.34 {
		t.Errorf("%+v", cpu)
	}
	spun := before.since(parseStat("cpu  110 180 110 800 0 0 0 0 0 0\ncpu0 60 90 50 400 0 0 0 0 0 0\ncpu1 50 90 60 400 0 0 0 0\n"))
	if spun == nil || spun.Busy != 0.1 || spun.Busiest != 0.1 || spun.Nice != 0.9 || spun.Cores[0].Nice != 0.9 || spun.Cores[0].User != 0.1 {
		t.Errorf("spinners of lowered priority count as busy: %+v", spun)
	}
	if after.since(before) != nil || cpuSample(nil).since(after) != nil {
		t.Error("a difference over nothing")
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("cpu  100 0 100 800 0 0 0 0\n"))
	f.Add([]byte("cpu NaN 0 0 0 0 0 0 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c := (cpuSample{"cpu": {}}).since(parseStat(string(data))); c != nil && !(c.Busy >= 0 && c.Busy <= 1) {
			t.Fatalf("%+v", c)
		}
	})
}

func loopback(t testing.TB) Pair {
	t.Helper()
	agent, err := host.Spawn(t.Context(), "loop")
	if err != nil {
		t.Skip("no namespaces here: ", err)
	}
	t.Cleanup(func() { agent.Close() })
	if _, err := host.Run(t.Context(), agent, "ip", "link", "set", "lo", "up"); err != nil {
		t.Fatal(err)
	}
	return Pair{agent, agent, "127.0.0.1"}
}

// measured makes a run, again when it is lost as a trial's is: on a machine
// under load a process may not run in a second at all.
func measured(t *testing.T, pair Pair, s Spec) Run {
	t.Helper()
	var err error
	for range 6 {
		var r Run
		if r, err = Measure(t.Context(), pair, s); err == nil {
			return r
		}
		if !errors.Is(err, ErrTool) || errors.Is(err, ErrMissing) {
			break
		}
		t.Log(err)
	}
	if errors.Is(err, ErrDisturbed) {
		t.Skip(err)
	}
	t.Fatal(err)
	return Run{}
}

func TestMeasure(t *testing.T) {
	for _, s := range []Spec{
		{Tool: "builtin", Streams: 1, Duration: time.Second},
		{Tool: "builtin", Streams: 2, Direction: Both, Duration: time.Second, Omit: 100 * time.Millisecond},
		{Tool: "iperf3", Streams: 2, Direction: Down, Duration: time.Second, Omit: time.Second},
		{Tool: "iperf3", Streams: 1, Direction: Both, Duration: time.Second},
	} {
		t.Run(fmt.Sprint(s.Tool, s.Streams, s.Direction), func(t *testing.T) {
			pair := loopback(t)
			if _, err := pair.choose(t.Context(), bulkKind(t), s); err != nil {
				t.Skip(err)
			}
			r := measured(t, pair, s)
			if !(r.GoodputBPS > 0) || r.Client == nil || r.Raw == "" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestMeasureFailures(t *testing.T) {
	t.Parallel()
	pair := loopback(t)
	if _, err := Measure(t.Context(), pair, Spec{Streams: 0, Duration: time.Second}); err == nil {
		t.Error("no streams were measured")
	}
	gone := pair
	gone.Addr = "127.0.0.2x"
	if _, err := Measure(t.Context(), gone, Spec{Tool: "builtin", Streams: 1, Duration: time.Second}); !errors.Is(err, ErrTool) {
		t.Errorf("unreachable: %v", err)
	}
	if _, err := pair.choose(t.Context(), bulkKind(t), Spec{Tool: "iperf3"}); err == nil {
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()
		if _, err := Measure(ctx, pair, Spec{Tool: "iperf3", Streams: 1, Duration: 20 * time.Second}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled: %v", err)
		}
		// Only what this agent started is killed, until one is: others measure too.
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			for {
				select {
				case <-ended:
					return
				case <-time.After(700 * time.Millisecond):
					host.Run(context.Background(), pair.Client, "sh", "-c", "exec pkill -9 -P $PPID iperf3")
				}
			}
		}()
		if _, err := Measure(t.Context(), pair, Spec{Tool: "iperf3", Streams: 1, Duration: 20 * time.Second}); !errors.Is(err, ErrTool) {
			t.Errorf("killed: %v", err)
		} else {
			t.Log(err)
		}
	}
}

func bulkKind(t *testing.T) Kind {
	k, err := FindKind("bulk")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestWorkloads(t *testing.T) {
	n := 0
	for _, kind := range Kinds() {
		for i, tool := range kind.Tools {
			if kind.Alone {
				break // disk_test.go
			}
			if i > 0 && !slices.Contains([]string{"bulk", "rr", "http-small"}, kind.Name) {
				break // its other tools run there
			}
			n++
			port := defaultPort + 10*n
			t.Run(kind.Name+"/"+tool, func(t *testing.T) {
				// Transfers have this machine's TCP memory to themselves.
				if kind.Primary().Name != Goodput {
					t.Parallel()
				}
				pair := loopback(t)
				s, err := Spec{Workload: kind.Name, Tool: tool, Port: port, Duration: time.Second, Omit: 200 * time.Millisecond}.WithDefaults(0)
				if err != nil {
					t.Fatal(err)
				}
				if tool == "sockperf" {
					s.Streams = 1
				}
				if _, err := pair.choose(t.Context(), kind, s); err != nil {
					t.Skip(err)
				}
				r := measured(t, pair, s)
				t.Log(r.Metrics, r.Warnings)
				if v, ok := r.Value(kind.Primary().Name); !ok || !(v > 0) {
					t.Errorf("%s: %+v", kind.Primary().Name, r.Metrics)
				}
				for _, m := range kind.Metrics {
					if _, ok := r.Metrics[m.Name]; !ok && tool == kind.Tools[0] && m.Unit != "s" && m.Name != ClosedRate {
						t.Errorf("%s is not measured", m.Name)
					}
				}
				if r.ClientKernel == nil || len(r.Client.Cores) == 0 {
					t.Error("no telemetry")
				}
			})
		}
	}
}
