package main

import (
	"errors"
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

// BenchmarkBuiltinAgainstWrk measures a lab path with wrk and nginx and with the
// built-in client and server in turn, each by a closed loop of as many clients:
// on the first path these wait for the round trip, on the second for its rate.
// builtin/wrk should be within 10% of 1.
func BenchmarkBuiltinAgainstWrk(b *testing.B) {
	for _, path := range []string{"rate=1gbit,rtt=20ms", "rate=10mbit,rtt=20ms"} {
		b.Run(path, func(b *testing.B) {
			link, err := link.Parse(path)
			if err != nil {
				b.Fatal(err)
			}
			l, err := lab.Bring(b.Context(), lab.Pair(link))
			if err != nil {
				b.Skip("no lab here: ", err)
			}
			defer l.Close()
			pair := workload.Pair{Client: l.Client(), Server: l.Server(), Addr: l.PeerAddr()}
			rates := map[string][]float64{}
			for range 4 {
				for tool, metric := range map[string]string{"wrk": workload.Requests, "builtin": workload.ClosedRate} {
					spec := workload.Spec{Workload: "http-small", Tool: tool, Streams: 64, Direction: workload.Down, Duration: 6 * time.Second}
					run, err := workload.Measure(b.Context(), pair, spec)
					if errors.Is(err, workload.ErrMissing) {
						b.Skip(err)
					}
					if err != nil {
						b.Fatal(err)
					}
					rates[tool] = append(rates[tool], run.Metrics[metric])
				}
			}
			b.ReportMetric(stats.Median(rates["builtin"])/stats.Median(rates["wrk"]), "builtin/wrk")
			b.ReportMetric(0, "ns/op")
		})
	}
}
