package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
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
	if c.Dropped.Value == 0 {
		return nil
	}
	limit := ""
	if rate := c.Ceiling(); rate > 0 {
		limit = fmt.Sprintf("; it passes %s", rate)
	}
	if c.Limit > 0 {
		limit += fmt.Sprintf(", its queue holds %d packets", c.Limit)
	}
	found := lost(c.Dropped, c.Sent.Value, do("raise its rate to just below that of the line; where the rate is meant, "+
		"give it a scheduler that keeps the queue short (FQ_CODEL, pf's flows) instead of a longer queue",
		one(subject, []facts.Source{c.Dropped.Source}, "%d packets dropped, %s of those that came%s", c.Dropped.Value,
			percent(lossShare(c.Dropped, c.Sent.Value)), limit)))
	if slices.Contains([]string{"FQ_CODEL", "FQ_PIE", "CODEL", "PIE"}, c.Options) && found[0].Severity != trifling {
		found = decisive(with(Info, found))
		found[0].Because = "This scheduler drops on purpose to hold its rate and its delay: the pipe is the bottleneck."
		found[0].Fix = []Fix{{Action: "raise its rate to just below that of the line; where that is what it passes " +
			"already, the line is the limit, and this is how it is shared"}}
	}
	return found
}

// configuredLoss is a pipe that imitates a bad line.
func configuredLoss(subject string, c facts.Class) []Finding {
	var what []string
	severity := Info
	if c.Loss > 0 {
		what = append(what, fmt.Sprintf("loses %s of the packets", percent(c.Loss)))
		severity = gradedShare(c.Loss)
	}
	if c.DelayMS > 0 {
		what = append(what, fmt.Sprintf("delays each by %g ms", c.DelayMS))
	}
	found := with(severity, do("delete the pipe, or configure it without plr and delay", one(subject,
		[]facts.Source{c.Sent.Source}, "it %s on purpose", strings.Join(what, " and "))))
	found[0].Because = "Dummynet was told to imitate a bad line; a test that somebody left behind " +
		"looks like a broken path."
	found[0].Confirm = "ipfw list shows the rule that sends the packets into it."
	return found
}
