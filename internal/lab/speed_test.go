//go:build linux

package lab

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkStream is what TCP connections carry over a link, with the senders,
// the receivers and the emulator on this machine. A unit's processor time counts
// the whole machine's work for it, or the emulator's thread alone; it depends
// less than the rate does on what else runs here.
func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		spec    string
		streams int
	}{
		{"rtt=20ms", 1}, {"rtt=20ms", 4}, {"rtt=0s", 1}, {"rate=10gbit,rtt=20ms,loss=1e-5", 1},
		{"rate=10gbit,rtt=20ms", 1}, {"rate=10gbit,rtt=20ms", 4}, {"rate=5gbit,rtt=20ms", 1}, {"rate=1gbit,rtt=20ms", 1},
	} {
		b.Run(fmt.Sprintf("%s/streams=%d", c.spec, c.streams), func(b *testing.B) {
			l := up(b, c.spec)
			var goodput float64
			before := processTime()
			for b.Loop() {
				res, err := l.transfer(b.Context(), transfer{streams: c.streams, duration: 2 * time.Second, omit: time.Second, congestion: "bbr"})
				if err != nil {
					b.Fatal(err)
				}
				goodput += res.goodput
			}
			all := processTime() - before
			up, _ := l.Stats()
			units := float64(max(up.Units, 1))
			b.ReportMetric(goodput/float64(b.N)/1e9, "Gbit/s")
			b.ReportMetric(float64(up.Segments)/units, "segments/unit")
			b.ReportMetric(up.CPU.Seconds()/units*1e6, "emulator-us/unit")
			b.ReportMetric(all.Seconds()/units*1e6, "all-us/unit")
			b.ReportMetric(float64(up.WorstLate.Microseconds()), "worst-late-us")
			b.ReportMetric(float64(up.Late)/units, "late/unit")
		})
	}
}

// processTime returns the processor time of this process.
func processTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
