package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
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
	if c.Dropped.Value == 0 {
		return nil
	}
	limit := ""
	if rate := c.Ceiling(); rate > 0 {
		limit = fmt.Sprintf("; its rate is %s", rate)
	}
	if c.Limit > 0 {
		limit += fmt.Sprintf(", its queue holds %d packets", c.Limit)
	}
	found := lost(c.Dropped, c.Sent.Value, do("raise its rate to about 95% of the link rate; if the rate is intended, use "+
		"a scheduler that keeps the queue short (FQ_CODEL, or flows in pf) instead of a longer queue",
		one(subject, []facts.Source{c.Dropped.Source}, "%d packets dropped, %s of those offered%s", c.Dropped.Value,
			percent(lossShare(c.Dropped, c.Sent.Value)), limit)))
	if slices.Contains([]string{"FQ_CODEL", "FQ_PIE", "CODEL", "PIE"}, c.Options) && found[0].Severity != trifling {
		found = decisive(with(Info, found))
		found[0].Because = "This scheduler drops on purpose to keep its rate and delay: the pipe is the bottleneck."
		found[0].Fix = []Fix{{Action: "raise its rate to about 95% of the link rate; if it is there already, the link is the " +
			"limit and the drops are how it is shared"}}
	}
	return found
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
