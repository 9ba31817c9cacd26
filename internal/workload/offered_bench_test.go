package workload

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"
)

// BenchmarkOffered compares the rates that are asked for with those that are
// sent and those that arrive, over loopback; each ratio should be within 1% of 1.
func BenchmarkOffered(b *testing.B) {
	addr := served(b)
	for _, rate := range []float64{100, 2000, 20_000} {
		b.Run(fmt.Sprintf("packets=%.0f", rate), func(b *testing.B) {
			l := &load{ctx: b.Context(), addr: addr, spec: Spec{Streams: 4}}
			r, stop, err := l.packetRun()
			if err != nil {
				b.Fatal(err)
			}
			defer stop()
			a, err := r.step(rate, 2*time.Second)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(a.achieved/rate, "sent/offered")
			b.ReportMetric(a.metrics[Packets]/rate, "arrived/offered")
			b.ReportMetric(0, "ns/op")
		})
	}
	for _, rate := range []float64{100, 2000} {
		b.Run(fmt.Sprintf("connections=%.0f", rate), func(b *testing.B) {
			l := &load{ctx: b.Context(), addr: addr, spec: Spec{Streams: 16}}
			o := l.openLoop(singles(addr))
			o.bound = time.Second
			a, err := o.step(rate, 2*time.Second)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(a.metrics[answered]/rate, "answered/offered")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// served starts the generator's server on loopback and returns its address.
func served(t testing.TB) string {
	t.Helper()
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := probe.Addr().String()
	probe.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- answerLoad(ctx, addr) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	l := &load{ctx: ctx, addr: addr}
	c, err := l.dialPatiently()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	return addr
}
