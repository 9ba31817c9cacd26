package workload

import (
	"context"
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/stats"
)

// BenchmarkTelemetry compares runs of one TCP stream over the loopback with and
// without what is observed beside them, in pairs of random order: overhead_% is
// the goodput that observing costs, with the half width of its 95% interval.
// The goal is under 2% at 10 Gbit/s.
func BenchmarkTelemetry(b *testing.B) {
	const pairs = 8
	pair := loopback(b)
	spec, err := Spec{Workload: "bulk", Tool: "builtin", Duration: time.Second, Omit: 300 * time.Millisecond}.WithDefaults(0)
	if err != nil {
		b.Fatal(err)
	}
	spec.Port = 5251
	for b.Loop() {
		var values [2][]float64
		for _, block := range stats.Schedule(2, pairs/2, uint64(time.Now().UnixNano())) {
			for _, watched := range block {
				bps, err := observed(b.Context(), pair, spec, watched == 1)
				if err != nil {
					b.Fatal(err)
				}
				values[watched] = append(values[watched], bps)
			}
		}
		logs, err := stats.LogRatios(values[0], values[1])
		if err != nil {
			b.Fatal(err)
		}
		i, err := stats.PairedRatio(logs, 0.95)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*(1-i.Ratio), "overhead_%")
		b.ReportMetric(50*math.Abs(i.High-i.Low), "plus-minus_%")
		b.ReportMetric(stats.Median(values[0])/1e9, "Gbit/s")
	}
}

// observed makes one run, with telemetry or without, and returns its goodput.
func observed(ctx context.Context, p Pair, s Spec, watched bool) (float64, error) {
	var w *watch
	if watched {
		var err error
		if w, err = startWatch(ctx, p, s); err != nil {
			return 0, err
		}
	}
	run, err := runBuiltin(ctx, p, s)
	if w != nil {
		w.finish(ctx)
	}
	return run.GoodputBPS, err
}

// BenchmarkTelemetryCPU is the processor time that observing two hosts takes,
// of one core, over a run of 2 s without traffic: no overhead can be larger,
// also where the machine is too restless for a comparison of runs.
func BenchmarkTelemetryCPU(b *testing.B) {
	spec, err := Spec{Workload: "bulk", Tool: "builtin", Duration: 2 * time.Second}.WithDefaults(0)
	if err != nil {
		b.Fatal(err)
	}
	spec.Port, spec.Omit = 5251, 0
	local := host.NewLocal()
	used := func() (total time.Duration) {
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var u syscall.Rusage
			if err := syscall.Getrusage(who, &u); err != nil {
				b.Fatal(err)
			}
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
		return total
	}
	for b.Loop() {
		start, before := time.Now(), used()
		w, err := startWatch(b.Context(), Pair{local, local, "127.0.0.1"}, spec)
		if err != nil {
			b.Fatal(err)
		}
		time.Sleep(spec.Duration)
		w.finish(b.Context())
		b.ReportMetric(100*float64(used()-before)/float64(time.Since(start)), "%_of_a_core")
	}
}
