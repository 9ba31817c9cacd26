package lab

import (
	"strings"
	"testing"
)

// A switch with flow control: what comes by a fast link leaves by a slow one. The
// slow one's full queue holds the fast one back and drops nothing; without flow
// control it drops, and the fast one goes on.
func TestFullQueueHoldsBackTheLinksBeforeIt(t *testing.T) {
	for _, pause := range []bool{true, false} {
		in, out := newBench(t, "rate=1gbit,queue=200packets"), newBench(t, "rate=100mbit,queue=50packets")
		if pause {
			g := &gate{}
			in.pipe.flow.behind, out.pipe.flow.own = []*gate{g}, g
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

// Only links with a transmitter, into the host that the full queue is on, are
// held back; where there are none, that is said.
func TestPauseNeedsLinksBeforeIt(t *testing.T) {
	parse := func(spec string) Link {
		l, err := ParseLink(spec)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	slow := parse("rate=100mbit,rtt=1ms,down:full=pause")
	topology := Shared([]Link{parse("rate=1gbit"), slow}, parse("rate=1gbit,rtt=1ms"))
	if err := topology.Validate(); err != nil {
		t.Fatal(err)
	}
	gates := topology.gates()
	if g := gates[way{1, true}]; len(gates) != 1 || g == nil {
		t.Fatalf("gates %v", gates)
	}
	var held []way
	for i := range topology.Edges {
		for _, back := range []bool{false, true} {
			if w := (way{i, back}); len(topology.flow(w, gates).behind) > 0 {
				held = append(held, w)
			}
		}
	}
	// The other client's way to the router, and the server's.
	if len(held) != 2 || held[0] != (way{0, false}) || held[1] != (way{2, true}) {
		t.Errorf("held back: %v", held)
	}
	for _, bad := range []Topology{
		Pair(slow),
		Shared([]Link{{}, slow}, parse("rtt=1ms")),
		Shared([]Link{{}, parse("rate=100mbit,full=pause")}, parse("rate=1gbit")), // the client has no link before it
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), "full=pause holds back") {
			t.Errorf("taken: %v", err)
		}
	}
	if _, err := ParseLink("full=pause"); err == nil {
		t.Error("a queue without a rate was taken")
	}
	if got := parse(slow.String()); got != slow {
		t.Errorf("printed as %s", slow)
	}
}
