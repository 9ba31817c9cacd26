package plan

import (
	"slices"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// Outgoing connections of OpenBSD take portfirst to portlast: a plan widens
// that range, and only where it is too small, never the one of high ports.
func TestOpenBSDPorts(t *testing.T) {
	for connections, want := range map[float64]bool{20_000: false, 60_000: true} {
		p, err := Make(loaded(t), Request{Path: longFat(), Role: "web", Machine: server(catalog.OpenBSD, "7.8"), Load: Load{Connections: connections}})
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, ch := range p.Changes {
			got = got || ch.Setting == "net.inet.ip.portlast" && ch.To == "65535"
		}
		if got != want {
			t.Errorf("%g connections: portlast planned: %t", connections, got)
		}
		if slices.ContainsFunc(p.Changes, func(ch Change) bool {
			return ch.Setting == "net.inet.ip.porthifirst" || ch.Setting == "net.inet.ip.porthilast"
		}) {
			t.Errorf("%g connections: the range of high ports, which no ordinary connection uses, is planned", connections)
		}
	}
}
