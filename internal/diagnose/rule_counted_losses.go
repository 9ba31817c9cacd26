package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

const queueRemedy = "give the consumer of this queue more CPU time, queues or buffers, or reduce the load on it"

// countedLosses finds what tools that have no reader of their own count as lost.
func countedLosses() Rule {
	return Rule{
		ID: "counted-losses", Title: "A tool's counter shows lost packets",
		Needs: []string{"counters of other tools|switch errors|cilium metrics|handshakes"}, Severity: Warning,
		Because: "The counter's name says that packets were lost. Usually a queue was full because its consumer " +
			"was too slow, or bursts were longer than the queue.",
		Confirm: "The counter grows while it is slow; the tool's documentation says what it counts.",
		Check: func(in Input) []Finding {
			if len(in.Facts.LossCounts) == 0 {
				return nil
			}
			c := slices.MaxFunc(in.Facts.LossCounts, func(a, b facts.LossCount) int {
				return cmp.Or(cmp.Compare(a.Share(), b.Share()), cmp.Compare(a.Lost, b.Lost))
			})
			name := strings.TrimSpace(c.Scope + " " + c.Name)
			if c.Of == "" && c.Beside > 0 {
				return do(queueRemedy, with(gradedCount(facts.Counter{Value: c.Lost}),
					one(name, []facts.Source{c.Source}, "it grew from %d to %d", c.Beside, c.Lost)))
			}
			if c.Of == "" {
				return do(queueRemedy, with(gradedCount(facts.Counter{Value: c.Lost}),
					one(name, []facts.Source{c.Source}, "%d", c.Lost)))
			}
			severity := gradedShare(c.Share())
			if severity == Critical {
				severity = Warning // what the counter means is known from its name alone
			}
			evidence := []facts.Source{c.Source}
			if c.Total.Line != c.Source.Line {
				evidence = append(evidence, c.Total)
			}
			found := with(severity, one(name, evidence, "%d, against %d %s (%s)", c.Lost, c.Beside, c.Of,
				percent(c.Share())))
			found[0].Share = c.Share()
			if c.Name == "lookups lost" {
				found[0].Because = "The first packet of an unknown flow goes up to ovs-vswitchd: these packets " +
					"found that upcall queue full, because there are too many or too short flows, or flows are " +
					"evicted too early."
			}
			if strings.Contains(c.Name, "requestlist.") {
				found[0].Because = "Unbound had no room for these queries: they were dropped. Queries wait long " +
					"where servers do not answer."
				return do("raise num-queries-per-thread, and set outgoing-range to twice that (unbound.conf: "+
					"num-queries-per-thread: 4096, outgoing-range: 8192); check with unbound-control "+
					"dump_requestlist which servers do not answer", found)
			}
			return do(queueRemedy, found)
		},
		Fires: linuxExample(facts.OtherCounters, "capture.kernel_packets | Total | "+
			"900000\ncapture.kernel_drops | Total | 120000\n"),
		Quiet: linuxExample(facts.OtherCounters, "capture.kernel_packets | Total | "+
			"900000\ncapture.kernel_drops | Total | 0\n"),
	}
}
