package weblog

import (
	"testing"

	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// TestLogBinsHoldTimes: where times are whole milliseconds, no step is drawn that
// cannot hold one, and every request is in a step.
func TestLogBinsHoldTimes(t *testing.T) {
	var h latency.Hist
	for ms := range uint64(2000) {
		h.Add(ms * 1000)
	}
	var sum uint64
	last := 0.0
	for _, b := range logBins(&h, 1000) {
		if b.Count == 0 {
			t.Errorf("nothing between %g and %g s", b.From, *b.To)
		}
		if b.From != last {
			t.Errorf("a step begins at %g s, the one before ends at %g s", b.From, last)
		}
		last = *b.To
		sum += b.Count
	}
	if sum != 2000 {
		t.Errorf("%d requests in all steps, want 2000", sum)
	}
}

// TestLogBinsBegin: a log without quick requests has an empty bin for what is
// quicker, so that no drawing spreads the first requests from 0 on.
func TestLogBinsBegin(t *testing.T) {
	for _, c := range []struct {
		value uint64
		from  float64
	}{{900_000, 0.8}, {1_000_000, 1}, {0, 0}, {1000, 0.001}} {
		var h latency.Hist
		h.Add(c.value)
		bins := logBins(&h, 1000)
		last := bins[len(bins)-1]
		if last.From != c.from || last.Count != 1 || bins[0].From != 0 || len(bins) > 2 || len(bins) == 2 && (bins[0].Count != 0 || *bins[0].To != c.from) {
			t.Errorf("%d us: %+v, want one request from %g s", c.value, bins, c.from)
		}
	}
}
