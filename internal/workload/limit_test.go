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
