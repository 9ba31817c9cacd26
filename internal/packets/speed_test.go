package packets

import (
	"bytes"
	"io"
	"testing"
)

// BenchmarkRead reads captures of a bulk transfer, and tells packets per second:
// a million are the goal on two cores.
func BenchmarkRead(b *testing.B) {
	one := capture(b, false)
	const head, times = 24, 200
	parts := []io.Reader{bytes.NewReader(one[:head])}
	var all []byte
	for range times {
		all = append(all, one[head:]...)
	}
	var packets int64
	for b.Loop() {
		trace, err := Read(io.MultiReader(append(parts[:0:0], bytes.NewReader(one[:head]), bytes.NewReader(all))...))
		if err != nil {
			b.Fatal(err)
		}
		packets += trace.Packets
	}
	b.ReportMetric(float64(packets)/b.Elapsed().Seconds(), "packets/s")
}
