package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// fullPipes finds pipes of dummynet and queues of pf that drop what is above their rate, or lose on purpose.
func fullPipes(f *facts.Facts) (out []Finding) {
	for _, c := range f.Shapers {
		out = append(out, shaped(strings.TrimSpace("dummynet "+c.ID), c)...)
	}
	for i := range f.NICs {
		n := &f.NICs[i]
		for _, c := range n.Classes {
			if c.Kind == "pf" {
				out = append(out, shaped(n.Name+" queue "+c.ID, c)...)
			}
		}
	}
	if len(out) == 0 {
		return testAtShaper(f)
	}
	return out
}

// shaped judges one pipe or queue.
func shaped(subject string, c facts.Class) []Finding {
	const longDelay = 20 // ms that somebody adds to a round trip for a test
	if c.Loss > 0 || c.DelayMS >= longDelay {
		return configuredLoss(subject, c)
	}
	if waiting := waitsInPipe(subject, c); waiting != nil {
		return waiting
	}
	if c.Dropped.Value == 0 && !atCeiling(c) {
		return nil
	}
	found := lost(c.Dropped, c.Sent.Value, one(subject, []facts.Source{c.Dropped.Source}, "%d packets dropped, %s of those offered%s",
		c.Dropped.Value, percent(lossShare(c.Dropped, c.Sent.Value)), boundsOf(c)))
	if atCeiling(c) {
		found = with(Warning, one(subject, []facts.Source{c.MeasuredLine}, "it sends %s, and its ceiling is %s", c.Measured, c.Ceil))
		if c.Dropped.Value > 0 {
			found[0].Summary += fmt.Sprintf("; %d packets dropped", c.Dropped.Value)
		}
	}
	found = do("raise its rate to about 95% of the link rate; if the rate is intended, use a scheduler that keeps the queue short "+
		"(FQ_CODEL, or flows in pf) instead of a longer queue", found)
	if shortQueued(c) && found[0].Severity != trifling {
		found = decisive(with(Info, found))
		found[0].Because = "This scheduler drops on purpose to keep its rate and delay: the pipe is the bottleneck."
		found[0].Fix = []Fix{{Action: "raise its rate to about 95% of the link rate; if it is there already, the link is the " +
			"limit and the drops are how it is shared"}}
	}
	return found
}

// shortQueued reports whether a scheduler keeps the queue short: of dummynet's, and FQ-CoDel of OpenBSD's pf.
func shortQueued(c facts.Class) bool {
	return slices.Contains([]string{"FQ_CODEL", "FQ_PIE", "CODEL", "PIE"}, c.Options) || pfFlows.MatchString(c.Options)
}

var pfFlows = regexp.MustCompile(`\bflows \d`)

// boundsOf says how fast a pipe or queue may be, and how long.
func boundsOf(c facts.Class) (said string) {
	if rate := c.Ceiling(); rate > 0 {
		said = fmt.Sprintf("; its rate is %s", rate)
	}
	if c.Limit > 0 {
		said += fmt.Sprintf(", its queue holds %d packets", c.Limit)
	}
	return said
}

// atCeiling reports whether a class sent as fast as it may when its rate was measured.
func atCeiling(c facts.Class) bool {
	const full = 0.95
	return c.Ceil > 0 && float64(c.Measured) >= full*float64(c.Ceil)
}

// testAtShaper finds a test that ran at the rate of a shaper of this host, less the headers: 0.94 to 0.97 of it.
func testAtShaper(f *facts.Facts) []Finding {
	const least, most = 0.9, 1
	tests := testedRates(f)
	for _, s := range f.SpeedTests {
		for _, rate := range []units.Rate{s.Down, s.Up} {
			tests = append(tests, testedRate{peer: "speed test", rate: float64(rate), evidence: []facts.Source{s.Source}})
		}
	}
	for _, t := range tests {
		for _, limit := range shapers(f) {
			share := t.rate / float64(limit.rate)
			if share < least || share > most || t.outrun(f) {
				continue
			}
			found := decisive(with(Info, one(limit.name, append(t.evidence, limit.source), "a test ran at %s, %.0f%% of its rate of %s",
				units.Rate(t.rate), 100*share, limit.rate)))
			found[0].Because = "Nothing passes a shaper faster than its rate, headers included."
			found[0].Confirm = "The test's packets are counted in it; a test is faster while the shaper is off."
			return do("if the link carries more, raise the shaper's rate to about 95% of the link rate", found)
		}
	}
	return nil
}

type shaperRate struct {
	name   string
	rate   units.Rate
	source facts.Source
}

// shapers are what bounds the traffic that passes this host's pipes and queues.
func shapers(f *facts.Facts) (out []shaperRate) {
	for _, c := range f.Shapers {
		if c.Rate > 0 {
			out = append(out, shaperRate{"dummynet " + c.ID, c.Rate, c.Named})
		}
	}
	for i := range f.NICs {
		n := &f.NICs[i]
		for _, c := range n.Classes {
			if c.Kind == "pf" && c.Ceil > 0 {
				out = append(out, shaperRate{n.Name + " queue " + c.ID, c.Ceil, c.Named})
			}
		}
	}
	return out
}

// waitsInPipe finds a FIFO of which what waits now takes long to leave.
func waitsInPipe(subject string, c facts.Class) []Finding {
	const long = 0.05 // seconds
	if c.Rate <= 0 || c.Options != "" && c.Options != "FIFO" || 8*float64(c.Backlog) < long*float64(c.Rate) {
		return nil
	}
	found := do("use a scheduler that keeps the queue short (FQ_CODEL), or limit the queue to 20 ms",
		one(subject, []facts.Source{c.Sent.Source}, "its FIFO holds %s, a delay of %s at %s", units.Bytes(c.Backlog),
			seconds(8*float64(c.Backlog)/float64(c.Rate)), c.Rate))
	found[0].Because = "Every packet through the pipe waits behind what is already queued."
	found[0].Confirm = "ping through the pipe takes that much longer while it is full."
	return found
}

// configuredLoss is a pipe that imitates a bad line.
func configuredLoss(subject string, c facts.Class) []Finding {
	var what []string
	severity := Info
	if c.Loss > 0 {
		what = append(what, fmt.Sprintf("drops %s of the packets", percent(c.Loss)))
		severity = gradedShare(c.Loss)
	}
	if c.DelayMS > 0 {
		what = append(what, fmt.Sprintf("delays each by %g ms", c.DelayMS))
	}
	found := with(severity, do("delete the pipe, or configure it without plr and delay", one(subject,
		[]facts.Source{c.Sent.Source}, "it %s on purpose", strings.Join(what, " and "))))
	found[0].Because = "The pipe emulates a bad link; a leftover test setup looks like a broken path."
	found[0].Confirm = "ipfw list shows the rule that sends packets into this pipe."
	return found
}
