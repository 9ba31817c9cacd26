package emulator

import (
	"testing"
)

// A switch with flow control: what comes by a fast link leaves by a slow one. The
// slow one's full queue holds the fast one back and drops nothing; without flow
// control it drops, and the fast one goes on.
func TestFullQueueHoldsBackTheLinksBeforeIt(t *testing.T) {
	for _, pause := range []bool{true, false} {
		in, out := newBench(t, "rate=1gbit,queue=200packets"), newBench(t, "rate=100mbit,queue=50packets")
		if pause {
			g := &Gate{}
			in.pipe.flow.Behind, out.pipe.flow.Own = []*Gate{g}, g
		}
		const span, step = int64(1e9), int64(10_000)
		var passed int64
		for now := int64(0); now < span; now += step {
			in.now, out.now = now, now
			for in.pipe.queuedSegs < 100 {
				in.arrive(tcp(10))
			}
			for {
				r, ok := in.pipe.take(now, now)
				if !ok {
					break
				}
				passed += int64(r.n)
				in.mem.drop(r.off)
				out.arrive(tcp(int(r.n)))
			}
			for {
				r, ok := out.pipe.take(now, now)
				if !ok {
					break
				}
				out.mem.drop(r.off)
			}
			if at, ok := in.pipe.wake(); in.pipe.flow.waits() && (!ok || at <= now) {
				t.Fatalf("at %d ns the fast link waits for %d, %v: it would spin", now, at, ok)
			}
		}
		s := out.pipe.stats
		fast, slow := int64(1e9)/8/1538, int64(100e6)/8/1538
		switch {
		case pause && (s.DropQueue != 0 || s.Pauses < 10 || passed < slow || passed > slow+200):
			t.Errorf("with flow control: %d passed, want %d; %s", passed, slow, s)
		case pause && s.MaxQueue > (50+40)*1538:
			t.Errorf("with flow control: %d bytes waited", s.MaxQueue)
		case !pause && (s.DropQueue < fast-slow-200 || s.Pauses != 0 || passed < fast-20):
			t.Errorf("without: %d passed, want %d; %s", passed, fast, s)
		}
	}
}
