package main

import (
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// BenchmarkBuiltinAgainstIperf3 measures the same lab path with both tools in
// turn; builtin/iperf3 is the ratio of their median goodputs and should be
// within 3% of 1.
func BenchmarkBuiltinAgainstIperf3(b *testing.B) {
	link, err := link.Parse("rate=500mbit,rtt=20ms")
	if err != nil {
		b.Fatal(err)
	}
	l, err := lab.Bring(b.Context(), lab.Pair(link))
	if err != nil {
		b.Skip("no lab here: ", err)
	}
	defer l.Close()
	pair := workload.Pair{Client: l.Client(), Server: l.Server(), Addr: l.PeerAddr()}
	goodput := map[string][]float64{}
	for range 4 {
		for _, tool := range []string{"iperf3", "builtin"} {
			run, err := workload.Measure(b.Context(), pair, workload.Spec{Tool: tool, Streams: 1, Duration: 2 * time.Second, Omit: time.Second})
			if err != nil {
				b.Fatal(err)
			}
			goodput[tool] = append(goodput[tool], run.GoodputBPS)
		}
	}
	b.ReportMetric(stats.Median(goodput["builtin"])/stats.Median(goodput["iperf3"]), "builtin/iperf3")
	b.ReportMetric(0, "ns/op")
}
