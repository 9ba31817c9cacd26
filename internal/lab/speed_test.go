//go:build linux

package lab

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkStream is what one TCP connection carries over a link, with the
// sender, the receiver and the emulator on this machine.
func BenchmarkStream(b *testing.B) {
	for _, spec := range []string{"rtt=20ms", "rtt=0s", "rate=10gbit,rtt=20ms,loss=1e-5", "rate=10gbit,rtt=20ms", "rate=5gbit,rtt=20ms", "rate=1gbit,rtt=20ms"} {
		b.Run(spec, func(b *testing.B) {
			l := up(b, spec)
			var goodput float64
			for b.Loop() {
				res, err := l.transfer(b.Context(), transfer{duration: 2 * time.Second, omit: time.Second, congestion: "bbr"})
				if err != nil {
					b.Fatal(err)
				}
				goodput += res.goodput
			}
			up, _ := l.Stats()
			b.ReportMetric(goodput/float64(b.N)/1e9, "Gbit/s")
			b.ReportMetric(float64(up.WorstLate.Microseconds()), "worst-late-us")
			b.ReportMetric(float64(up.Late)/float64(max(up.Writes, 1)), "late/unit")
		})
	}
}

// BenchmarkCut is the cost of one segment that is cut out of a unit.
func BenchmarkCut(b *testing.B) {
	for _, n := range []int{1, 10, 44} {
		b.Run(fmt.Sprintf("segments=%d", n), func(b *testing.B) {
			u := tcp(44)
			s := shapeOf(u)
			head := make([]byte, vnetLen+maxHeaders)
			for b.Loop() {
				cut(head, u, s, 44-n, n, true)
			}
		})
	}
}

// BenchmarkBringUp is a lab up and down.
func BenchmarkBringUp(b *testing.B) {
	needLab(b)
	for b.Loop() {
		l, err := Up(b.Context(), Link{})
		if err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}
