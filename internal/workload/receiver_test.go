package workload

import (
	"context"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// course is a stream of a link of 1 MB/s that is read every 2 ms; what comes
// between the hole's ends is held back and read at once at its end.
func course(until, hole, mended time.Duration) *arrivals {
	a := &arrivals{}
	held := 0
	for at := 2 * time.Millisecond; at <= until; at += 2 * time.Millisecond {
		if held += 2000; at > hole && at < mended {
			continue
		}
		a.add(at, 0, held, true)
		held = 0
	}
	return a
}

// TestRepairedIsNotCredited: what came before the first instant and was held
// back for a lost segment until after it does not count.
func TestRepairedIsNotCredited(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct{ hole, mended time.Duration }{
		"no hole":              {10 * time.Second, 10 * time.Second},
		"over the first":       {700 * ms, 1020 * ms},
		"ends with the first":  {600 * ms, 1000 * ms},
		"within":               {1300 * ms, 1600 * ms},
		"over the second":      {1900 * ms, 2040 * ms},
		"begins at the second": {1998 * ms, 2050 * ms},
	} {
		by := course(2200*ms, c.hole, c.mended).bytesBy(100 * ms)
		if got := by(2000*ms) - by(1000*ms); math.Abs(got-1e6) > 5000 {
			t.Errorf("%s: %.0f bytes of a link that carries 1000000", name, got)
		}
	}
}

// TestNeverAboveTheLink: wherever a hole lies, no interval carries more than the
// link.
func TestNeverAboveTheLink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hole := time.Duration(rapid.IntRange(100, 1800).Draw(t, "hole ms")) * time.Millisecond
		mended := hole + time.Duration(rapid.IntRange(60, 900).Draw(t, "long ms"))*time.Millisecond
		from := time.Duration(rapid.IntRange(50, 1500).Draw(t, "from ms")) * time.Millisecond
		by := course(3*time.Second, hole, mended).bytesBy(100 * time.Millisecond)
		if got := by(from+time.Second) - by(from); got > 1.01e6 {
			t.Fatalf("%.0f bytes of a link that carries 1000000", got)
		}
	})
}

// TestHolesOneAfterTheOther: on a path that loses all the time there is hardly a
// moment without a hole.
func TestHolesOneAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, held, mended := &arrivals{}, 0, time.Duration(0)
		for at := 2 * time.Millisecond; at < 4*time.Second; at += 2 * time.Millisecond {
			if held += 2000; at < mended {
				continue
			}
			a.add(at, 0, held, true)
			if held = 0; rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
				mended = at + time.Duration(rapid.IntRange(80, 170).Draw(t, "ms"))*time.Millisecond
			}
		}
		by := a.bytesBy(80 * time.Millisecond)
		from := time.Duration(rapid.IntRange(500, 2000).Draw(t, "from ms")) * time.Millisecond
		if got := by(from+time.Second) - by(from); got > 1.01e6 || got < 0.8e6 {
			t.Fatalf("%.0f bytes of a link that carries 1000000", got)
		}
	})
}

// TestBurstsOfSmallWindow: a stream that is held by its window comes once in a
// round trip, and all of it counts.
func TestBurstsOfSmallWindow(t *testing.T) {
	a := &arrivals{}
	for at := 40 * time.Millisecond; at < 3*time.Second; at += 40 * time.Millisecond {
		a.add(at, time.Millisecond, 8192, true)
	}
	by := a.bytesBy(40 * time.Millisecond)
	if got := by(2*time.Second) - by(time.Second); math.Abs(got-25*8192) > 1 {
		t.Errorf("%.0f bytes, of %d", got, 25*8192)
	}
}

// TestSteadyIsDetected: counting waits while the rate grows, and no longer.
func TestSteadyIsDetected(t *testing.T) {
	for name, c := range map[string]struct {
		grows bool
		most  float64 // growth
	}{"even": {false, mayGrow}, "growing for ever": {true, 1}} {
		r := &receiver{hello: streamHello{Omit: 0.2, RTT: 0.001}, began: time.Now(), failed: make(chan error), streams: []*arrivals{new(arrivals)}}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		go func() {
			for n := 1000; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
				// By the clock, since this machine may not run this for a while.
				at := time.Since(r.began).Seconds()
				want := 1e6 * at
				if c.grows {
					want = 1e3 * math.Exp(2*at)
				}
				n = int(want) - int(r.total())
				r.streams[0].add(time.Since(r.began), time.Millisecond, max(n, 0), true)
			}
		}()
		growth, err := r.steady(ctx)
		cancel()
		if err != nil || c.grows != (growth > mayGrow) {
			t.Errorf("%s: grew by %.2f, %v", name, growth, err)
		}
	}
}
