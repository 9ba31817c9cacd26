package diagnose

import (
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// What did not answer has the same name at each hop (tracert and WinMTR write a sentence), and is no circle.
func TestCircleOfSilentHops(t *testing.T) {
	hops := func(loss float64, names ...string) (trace facts.Trace) {
		for i, name := range names {
			h := facts.Hop{Number: i + 1, Name: name}
			if i%2 == 1 {
				h.Loss = loss
			}
			trace.Hops = append(trace.Hops, h)
		}
		return trace
	}
	const silent = "Request timed out."
	if found := circle(hops(1, "a", silent, "b", silent, "c", silent, "d")); found != nil {
		t.Errorf("a circle was found of hops that did not answer: %s", found[0].Summary)
	}
	if circle(hops(0.5, "a", "b", "c", "b", "d", "b")) == nil {
		t.Error("a circle was not found")
	}
}
