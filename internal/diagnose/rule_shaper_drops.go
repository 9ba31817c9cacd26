package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// shaperDrops finds pipes of dummynet and queues of pf that drop what is above their rate, or lose on purpose.
func shaperDrops() Rule {
	return Rule{
		ID: "shaper-drops", Title: "A shaper on this host drops packets", Systems: onBSD(), Severity: Warning,
		Needs: []string{"freebsd:shapers|packet filter queues", "openbsd:packet filter queues|queue table"},
		Because: "This host was told to pass no more than this rate: what is above it waits in the shaper's queue, and is " +
			"dropped when that is full, whatever the line could carry.",
		Confirm: "The counter grows while it is slow; without the shaper the rate is higher.",
		Check: func(in Input) (out []Finding) {
			for _, c := range in.Facts.Shapers {
				out = append(out, shaped(strings.TrimSpace("dummynet "+c.ID), c)...)
			}
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				for _, c := range n.Classes {
					if c.Kind == "pf" {
						out = append(out, shaped(n.Name+" queue "+c.ID, c)...)
					}
				}
			}
			return out
		},
		Fires: freebsdExample("ipfw pipe show", dummynetExample(231)),
		Quiet: freebsdExample("ipfw pipe show", dummynetExample(0)),
	}
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
	found := lost(c.Dropped, c.Sent.Value, do("raise its rate to just below that of the line; where the rate is meant, give it "+
		"a scheduler that keeps the queue short (FQ_CODEL, pf's flows) instead of a longer queue",
		one(subject, []facts.Source{c.Dropped.Source}, "%d packets dropped, %s of those that came%s", c.Dropped.Value,
			percent(lossShare(c.Dropped, c.Sent.Value)), limit)))
	if slices.Contains([]string{"FQ_CODEL", "FQ_PIE", "CODEL", "PIE"}, c.Options) && found[0].Severity != trifling {
		found = with(Info, found)
		found[0].Because = "This scheduler drops on purpose to hold its rate and its delay: the pipe is the bottleneck."
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
	found[0].Because = "Dummynet was told to imitate a bad line; a test that somebody left behind looks like a broken path."
	found[0].Confirm = "ipfw list shows the rule that sends the packets into it."
	return found
}

func dummynetExample(dropped int) string {
	return fmt.Sprintf("00001:  20.000 Mbit/s    0 ms burst 0\nq131073  50 sl. 0 flows (1 buckets) sched 65537 weight 0 lmax 0 pri 0 "+
		"droptail\n sched 65537 type FIFO flags 0x0 0 buckets 1 active\nBKT Prot ___Source IP/port____ ____Dest. IP/port____ "+
		"Tot_pkt/bytes Pkt/Byte Drp\n  0 ip           0.0.0.0/0             0.0.0.0/0     14880 22319937 46 69000 %d\n", dropped)
}
