package lab

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// Only links with a transmitter, into the host that the full queue is on, are
// held back; where there are none, that is said.
func TestPauseNeedsLinksBeforeIt(t *testing.T) {
	parse := func(spec string) link.Link {
		l, err := link.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	slow := parse("rate=100mbit,rtt=1ms,down:full=pause")
	topology := Shared([]link.Link{parse("rate=1gbit"), slow}, parse("rate=1gbit,rtt=1ms"))
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
			if w := (way{i, back}); len(topology.flow(w, gates).Behind) > 0 {
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
		Shared([]link.Link{{}, slow}, parse("rtt=1ms")),
		Shared([]link.Link{{}, parse("rate=100mbit,full=pause")}, parse("rate=1gbit")), // the client has no link before it
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), "full=pause holds back") {
			t.Errorf("taken: %v", err)
		}
	}
	if _, err := link.Parse("full=pause"); err == nil {
		t.Error("a queue without a rate was taken")
	}
	if got := parse(slow.String()); got != slow {
		t.Errorf("printed as %s", slow)
	}
}
