package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/plan"
)

// What bounds the memory, how a default is computed, what is to be done by
// hand and what could not be decided is all in the text.
func TestPlanTextIsWhole(t *testing.T) {
	p := plan.Plan{System: catalog.OpenBSD, Role: "web", Path: "rate=1gbit,rtt=10ms",
		Changes: []plan.Change{{Setting: "kern.maxclusters", To: "524288", DefaultNote: "the platform's NMBCLUSTERS", Evidence: catalog.Follows}},
		Kept:    []plan.Kept{{Setting: "net.isr.maxthreads", Because: "not decided: queues not known", Missing: []string{"queues"}}},
		Memory:  plan.Budget{Connections: 10, PerSocket: 4 << 20, WorstCase: 1 << 20, Memory: 1 << 30, Bound: "kern.maxclusters"},
		Steps:   []plan.Step{{Title: "Look at the queue", Why: "It fills.", Commands: []string{"systat queues"}}},
	}
	var short, why bytes.Buffer
	PlanText(Screen{Writer: &short}, p, false)
	PlanText(Screen{Writer: &why}, p, true)
	for _, want := range []string{"kern.maxclusters", "bounds the sum", "to do  Look at the queue", "It fills.", "systat queues", "queues (--queues)"} {
		if !strings.Contains(short.String(), want) {
			t.Errorf("%q is not in\n%s", want, short.String())
		}
	}
	for _, want := range []string{"the platform's NMBCLUSTERS", "not measured, it follows from what the source says", "systat queues"} {
		if !strings.Contains(why.String(), want) {
			t.Errorf("%q is not in\n%s", want, why.String())
		}
	}
}
