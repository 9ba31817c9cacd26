package emulator

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// traced is a packet that leaves by a trace.
type traced struct {
	came  int64 // ns
	bytes int   // of IP
	left  int64 // ns; -1: it found the queue full
}

// mahimahi is a link of mahimahi's in a clock of whole ms: packets of a size, in
// order, with a queue of so many packets and bytes.
func mahimahi(trace []int64, packets, bytes int, all []traced) {
	opportunity := func(k int) int64 { // when the k-th is, of all repetitions
		n := len(trace)
		return int64(k/n)*trace[n-1] + trace[k%n]
	}
	var queue []*traced
	var sending *traced
	k, waiting, rest := 0, 0, 0
	until := func(ms int64) {
		for ; opportunity(k) <= ms; k++ {
			for room := 1504; room > 0 && (sending != nil || len(queue) > 0); {
				if sending == nil {
					sending, queue = queue[0], queue[1:]
					rest = sending.bytes + 4
					waiting -= rest
				}
				n := min(room, rest)
				room -= n
				if rest -= n; rest == 0 {
					sending.left = opportunity(k) * 1e6
					sending = nil
				}
			}
		}
	}
	for i := range all {
		p := &all[i]
		until(p.came / 1e6)
		if len(queue)+1 > packets || waiting+p.bytes+4 > bytes {
			p.left = -1
			continue
		}
		waiting += p.bytes + 4
		queue = append(queue, p)
	}
	until(all[len(all)-1].came/1e6 + 1e5)
}

// Every packet leaves when it does in mahimahi, or is dropped as it is there.
func TestTraceIsMahimahis(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var trace link.Trace
		at := int64(0)
		for range rapid.IntRange(1, 12).Draw(rt, "opportunities") {
			at += rapid.SampledFrom([]int64{0, 0, 1, 2, 7, 40}).Draw(rt, "ms")
			trace.At = append(trace.At, at)
		}
		if at == 0 {
			trace.At = append(trace.At, 5)
		}
		packets := rapid.SampledFrom([]int{1, 3, 10, 1 << 20}).Draw(rt, "packets")
		bytes := 1 << 40
		queue := fmt.Sprintf("%dpackets", packets)
		if rapid.Bool().Draw(rt, "in bytes") {
			packets, bytes = 1<<30, rapid.SampledFrom([]int{502, 504}).Draw(rt, "each")*packets
			queue = fmt.Sprintf("%dB", bytes)
		}
		b := newBench(t, "trace=given-below,queue="+queue)
		b.pipe = newPipe(b.link, b.link.Up, b.mem, newTraceClock(trace), 1)
		var all []traced
		numbers := map[int64]int{}
		now := rapid.SampledFrom([]int64{0, 3e6, 1e9 + 1}).Draw(rt, "start")
		for i := range rapid.IntRange(1, 80).Draw(rt, "n") {
			p := traced{came: now, bytes: rapid.SampledFrom([]int{46, 100, 500, 748, 1496, 1500, 4000}).Draw(rt, "size")}
			all = append(all, p)
			b.drain(now)
			b.now = now
			_, off := b.mem.space()
			numbers[off] = i
			b.arrive(udp(p.bytes))
			now += rapid.SampledFrom([]int64{0, 1, 300_000, 1e6, 5e6, 200e6}).Draw(rt, "pause")
		}
		b.drain(forever)
		got := slices.Clone(all)
		for i := range got {
			got[i].left = -1
		}
		for _, r := range b.taken {
			got[numbers[r.off]].left = r.at
		}
		mahimahi(trace.At, packets, bytes, all)
		if !slices.Equal(got, all) {
			rt.Fatalf("trace %v, queue=%s:\n got %v\nwant %v", trace.At, queue, got, all)
		}
	})
}

// Without a queue given, a trace has that of its mean rate.
func TestTraceHasAQueueOfOneBDP(t *testing.T) {
	l, err := link.Parse("trace=given-below,rtt=100ms")
	if err != nil {
		t.Fatal(err)
	}
	// 20 opportunities in 10 ms: 24.064 Mbit/s, of which 100 ms are 300800 bytes.
	trace := link.Trace{At: append(make([]int64, 19), 10)}
	if got := newPipe(l, l.Up, nil, newTraceClock(trace), 1).limitBytes; got != 300_800 {
		t.Errorf("%d bytes, want 300800", got)
	}
}

func TestPipeFollowsATrace(t *testing.T) {
	trace, err := link.ParseTrace(strings.NewReader("1\n")) // 1504 bytes each ms
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, "trace=given-below,delay=5ms,queue=1000packets")
	b.pipe.trace = newTraceClock(trace)
	for range 4 {
		b.arrive(tcp(10))
	}
	b.drain(forever)
	if got := b.taken[len(b.taken)-1].at; b.segments() != 40 || got != int64(45*time.Millisecond) {
		t.Errorf("%d segments, the last at %s, want 40 and 45ms", b.segments(), time.Duration(got))
	}
}

func FuzzTrace(f *testing.F) {
	f.Add("1\n", int64(0), 1500)
	f.Add("0\n0\n7\n", int64(1e9), 40)
	f.Fuzz(func(t *testing.T, text string, start int64, size int) {
		trace, err := link.ParseTrace(strings.NewReader(text))
		if err != nil || start < 0 || start > 1e12 || size < 20 || size > 65535 || len(trace.At) > 1000 {
			return
		}
		c := newTraceClock(trace)
		next := c.idle(start)
		first := c.send(size)
		if next <= start || first < next || c.send(size) < first {
			t.Errorf("a packet left before it was ready")
		}
	})
}

// Jitter has the mean and the spread that were asked for, and never makes the
// delay negative.
func TestJitterShapes(t *testing.T) {
	for shape, want := range map[string]struct{ mean, deviation float64 }{
		"2ms":        {10, 2 / math.Sqrt(3)},
		"2ms:normal": {10, 2},
		"2ms:pareto": {12, 2 / math.Sqrt(3)}, // shape 3: mean 1.5 xm, variance 0.75 xm^2, xm 4/3 ms
	} {
		b := newBench(t, "delay=10ms,jitter="+shape+":overtake")
		u := tcp(1)
		const n = 20000
		for range n {
			b.now = 0
			b.arrive(u)
		}
		b.drain(forever)
		var sum, squares float64
		for _, r := range b.taken {
			ms := float64(r.at) / 1e6
			sum += ms
			squares += ms * ms
		}
		mean := sum / n
		deviation := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-want.mean) > 0.1 || math.Abs(deviation-want.deviation) > 0.15*want.deviation {
			t.Errorf("jitter=%s: mean %.3f ms, deviation %.3f; want %.3f and %.3f", shape, mean, deviation, want.mean, want.deviation)
		}
	}
}
