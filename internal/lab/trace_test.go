package lab

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestTraceDeliversAtItsOpportunities(t *testing.T) {
	trace, err := ParseTrace(strings.NewReader("# 3 opportunities in 10 ms\n2\n2\n\n10\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := newTraceClock(trace)
	for i, step := range []struct {
		ready time.Duration
		bytes int
		want  time.Duration
	}{
		{0, 1500, 2 * time.Millisecond}, // with the 4 bytes more a whole opportunity
		{0, 700, 2 * time.Millisecond},
		{0, 700, 2 * time.Millisecond},                           // two in the second one, which has 96 bytes left
		{0, 1500, 10 * time.Millisecond},                         // begins there, ends in the third
		{13 * time.Millisecond, 1500, 20 * time.Millisecond},     // what is not used at 12 ms is lost
		{time.Second, 1500, 1002 * time.Millisecond},             // after a long time idle
		{1003 * time.Millisecond, 3004, 1012 * time.Millisecond}, // two opportunities, 1010 and 1012
	} {
		if got := time.Duration(c.send(int64(step.ready), step.bytes)); got != step.want {
			t.Errorf("packet %d (%d bytes, ready at %s) left at %s, want %s", i, step.bytes, step.ready, got, step.want)
		}
	}
}

func TestTraceRejects(t *testing.T) {
	for _, text := range []string{"", "0\n", "5\n3\n", "x\n", "-1\n", "1.5\n", "99999999999999\n"} {
		if _, err := ParseTrace(strings.NewReader(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestPipeFollowsATrace(t *testing.T) {
	trace, err := ParseTrace(strings.NewReader("1\n")) // 1504 bytes each ms
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
		trace, err := ParseTrace(strings.NewReader(text))
		if err != nil || start < 0 || start > 1e12 || size < 20 || size > 65535 || len(trace.At) > 1000 {
			return
		}
		c := newTraceClock(trace)
		first := c.send(start, size)
		if first < start || c.send(first, size) < first {
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
