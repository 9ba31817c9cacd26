package emulator

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// comer is a unit of so many segments at a time.
type comer struct {
	at       int64
	segments int
}

// due is when a run is to be delivered.
type due struct {
	at       int64
	unit     int
	first, n uint16
	flags    uint8
}

// replay sends arrivals through a pipe that is late: it reads what came since the
// last time in one go, a batch at a time, and only then looks what is due. It
// returns what was delivered, in order of its time.
func replay(t *rapid.T, b *bench, in []comer, late func() int64) []due {
	var out []due
	units, numbers := 0, map[int64]int{}
	take := func(known int64) {
		for {
			r, ok := b.pipe.take(b.now, known)
			if !ok {
				return
			}
			if r.at > b.now {
				t.Fatalf("delivered at %d what is due at %d", b.now, r.at)
			}
			out = append(out, due{r.at, numbers[r.off], r.first, r.n, r.flags})
			b.mem.drop(r.off)
		}
	}
	send := func(a comer) {
		now := b.now
		b.now = a.at
		_, off := b.mem.space()
		numbers[off] = units
		units++
		b.arrive(tcp(a.segments))
		b.now = now
	}
	for len(in) > 0 {
		next := in[0].at
		if at, ok := b.pipe.wake(); ok {
			next = min(next, at)
		}
		b.now = max(b.now, next) + late()
		known := b.now
		for n := 0; len(in) > 0 && in[0].at <= b.now; n++ {
			if n == 8 {
				known = in[0].at
				break
			}
			send(in[0])
			in = in[1:]
		}
		take(known)
	}
	for {
		at, ok := b.pipe.wake()
		if !ok {
			break
		}
		b.now = max(b.now, at) + late()
		take(b.now)
	}
	slices.SortStableFunc(out, func(x, y due) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.unit, y.unit), cmp.Compare(x.first, y.first))
	})
	return out
}

// An emulator that reads late, but knows when things came, drops, marks and delays
// exactly what one does that is always on time.
func TestReadingLateChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(rt, name) }
		spec := "delay=" + pick("delay", "0s", "1ms", "50ms") +
			pick("rate", "", ",rate=1mbit,queue=10packets", ",rate=100mbit,queue=20000B", ",rate=100mbit,queue=100packets,ecn=5packets", ",rate=1gbit,queue=1000packets,aqm=codel:1ms:10ms") +
			pick("loss", "", ",loss=0.1", ",loss=every:3") + pick("jitter", "", ",jitter=2ms", ",jitter=1ms:overtake") +
			pick("other", "", ",duplicate=0.1,reorder=0.05,mark=0.1")
		var in []comer
		at := int64(1)
		for range rapid.IntRange(1, 150).Draw(rt, "units") {
			in = append(in, comer{at, rapid.IntRange(1, 44).Draw(rt, "segments")})
			at += rapid.Int64Range(0, rapid.SampledFrom([]int64{0, 1e5, 3e6}).Draw(rt, "scale")).Draw(rt, "gap")
		}
		onTime, late := newBench(t, spec), newBench(t, spec)
		want := replay(rt, onTime, in, func() int64 { return 0 })
		got := replay(rt, late, in, func() int64 { return rapid.SampledFrom([]int64{0, 1000, 1e6, 2e7}).Draw(rt, "late") })
		if !slices.Equal(got, want) {
			rt.Fatalf("%s: %d deliveries, on time %d", spec, len(got), len(want))
		}
		if a, b := late.pipe.stats, onTime.pipe.stats; a != b {
			rt.Fatalf("%s: %+v, on time %+v", spec, a, b)
		}
	})
}
