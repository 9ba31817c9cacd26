package diagnose

import (
	"cmp"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
)

// countedLosses finds what tools that have no reader of their own count as lost.
func countedLosses() Rule {
	return Rule{
		ID: "counted-losses", Title: "A tool counts packets that it lost",
		Needs: []string{"counters of other tools"}, Severity: Warning,
		Because: "The counter's name says that packets were lost. In most tools a queue was full because what empties it " +
			"was too slow, or its bursts are longer than the queue.",
		Confirm: "The counter grows while it is slow; the tool's documentation says what it counts.",
		Check: func(in Input) []Finding {
			if len(in.Facts.LossCounts) == 0 {
				return nil
			}
			c := slices.MaxFunc(in.Facts.LossCounts, func(a, b facts.LossCount) int { return cmp.Compare(a.Share(), b.Share()) })
			severity := gradedShare(c.Share())
			if severity == Critical {
				severity = Warning // what the counter means is known from its name alone
			}
			evidence := []facts.Source{c.Source}
			if c.Total.Line != c.Source.Line {
				evidence = append(evidence, c.Total)
			}
			found := with(severity, one(c.Name, evidence, "%d, beside %d of %s", c.Lost, c.Beside, c.Of))
			found[0].Share = c.Share()
			return do("give what empties this queue more processor time, queues or buffers, or let less arrive there", found)
		},
		Fires: linuxExample(facts.OtherCounters, "capture.kernel_packets | Total | "+
			"900000\ncapture.kernel_drops | Total | 120000\n"),
		Quiet: linuxExample(facts.OtherCounters, "capture.kernel_packets | Total | "+
			"900000\ncapture.kernel_drops | Total | 0\n"),
	}
}
