package report

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/plan"
)

// TestPlanMemory: a router's memory is that of its states, a server's that of
// its sockets and, behind a firewall, of both.
func TestPlanMemory(t *testing.T) {
	sockets := plan.Budget{Connections: 100, PerSocket: 1 << 20, WorstCase: 100 << 20, Memory: 1 << 30}
	both := sockets
	both.States, both.StateMemory = 400000, 128<<20
	for _, c := range []struct {
		role          string
		memory        plan.Budget
		states, conns bool
	}{
		{"router", both, true, false}, {"home", both, true, false}, {"web", both, true, true}, {"web", sockets, false, true}, {"router", sockets, false, false},
	} {
		var b strings.Builder
		PlanText(Screen{Writer: &b}, plan.Plan{System: "linux", Release: "6.12", Role: c.role, Memory: c.memory}, false)
		got := b.String()
		if strings.Contains(got, "400,000 firewall states") != c.states ||
			strings.Contains(got, "100 connections of up to 1 MiB") != c.conns {
			t.Errorf("%s: %s", c.role, got)
		}
	}
}
