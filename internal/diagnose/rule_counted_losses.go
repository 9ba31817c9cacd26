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
		Because: "By its name, the counter counts lost packets. The usual cause is a full queue: its consumer is " +
			"too slow, or bursts are longer than the queue.",
		Confirm: "The counter grows while it is slow; the tool's documentation says what it counts.",
		Check: func(in Input) []Finding {
			if len(in.Facts.LossCounts) == 0 {
				return nil
			}
			c := slices.MaxFunc(in.Facts.LossCounts, func(a, b facts.LossCount) int {
				return cmp.Or(cmp.Compare(a.Share(), b.Share()), cmp.Compare(a.Lost, b.Lost))
			})
			name := strings.TrimSpace(c.Scope + " " + c.Name)
			if c.Damaged() {
				found := one(name, []facts.Source{c.Source}, "%d frames arrived corrupted", c.Lost)
				if c.Of != "" {
					found = with(gradedShare(c.Share()), one(name, []facts.Source{c.Source, c.Total}, "%d frames arrived corrupted, compared with %d %s (%s)", c.Lost,
						c.Beside, c.Of, percent(c.Share())))
				}
				found[0].Because = "Every corrupted frame is a lost packet: cable, optic, connector or the port at the other end, " +
					"or a duplex mismatch."
				return do("replace the cable or optic of this port, then try another port; check that both ends use the same duplex", found)
			}
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
			found := with(severity, one(name, evidence, "%d lost, compared with %d %s (%s)", c.Lost, c.Beside, c.Of,
				percent(c.Share())))
			found[0].Share = c.Share()
			if c.Name == "lookups lost" {
				found[0].Because = "The first packet of each new flow is sent to ovs-vswitchd (upcall). The " +
					"upcall queue was full: there are too many short-lived flows, or flows are evicted too early."
			}
			if c.Name == "%DRPRX" {
				found[0].Because = "The virtual machine does not take its packets out of its receive ring in time: the ring " +
					"is short, or the machine gets too little CPU time."
				found[0].Confirm = "The column stays above 0 under load, and falls with a longer ring."
				return do("in the virtual machine, lengthen the ring (vmxnet3: ethtool -G NAME rx 4096); on the host, check "+
					"%RDY of the virtual machine in esxtop (c)", found)
			}
			if strings.Contains(c.Name, "requestlist.") {
				found[0].Because = "Unbound dropped these queries because its request list was full. The list " +
					"fills up when servers do not answer."
				return do("raise num-queries-per-thread and set outgoing-range to twice its value (unbound.conf: "+
					"num-queries-per-thread: 4096, outgoing-range: 8192); unbound-control dump_requestlist shows "+
					"which servers do not answer", found)
			}
			return do(queueRemedy, found)
		},
		Fires: linuxExample(facts.OtherCounters, "capture.kernel_packets | Total | "+
			"900000\ncapture.kernel_drops | Total | 120000\n"),
		Quiet: linuxExample(facts.OtherCounters, "capture.kernel_packets | Total | "+
			"900000\ncapture.kernel_drops | Total | 0\n"),
	}
}
