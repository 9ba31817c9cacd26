package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// pfCongestion finds new connections that pf refused since the host could not keep up with its packets.
func pfCongestion() Rule {
	return Rule{
		ID: "pf-congestion", Title: "The packet filter refused new connections under congestion", Systems: onBSD(),
		Needs: []string{"packet filter"}, Severity: Warning,
		Because: "While an input queue of the network overflows, pf passes packets of known states and drops all others: " +
			"new connections time out and are tried again.",
		Confirm: "The counter grows in bursts of packets; at the same time one core has no idle time, or livelocks grow " +
			"(systat mbufs).",
		Check: func(in Input) []Finding {
			refused, made := in.Facts.Counters["pf.congestion"], total(in.Facts, "pf.inserts")
			if refused.Value == 0 {
				return nil
			}
			beside := ""
			if made > 0 {
				beside = fmt.Sprintf(", beside %d states made", made)
			}
			return lost(refused, made, do("make each packet cheaper (fewer rules, quick ones first), give the host a faster "+
				"core, or cards with more "+
				"queues", one("pf", []facts.Source{refused.Source}, "%d packets without a state were dropped "+
				"under congestion%s", refused.Value, beside)))
		},
		Fires: openbsdExample("pfctl -si", congestionExample(52831120)),
		Quiet: openbsdExample("pfctl -si", congestionExample(0)),
	}
}

func congestionExample(refused int) string {
	return fmt.Sprintf("Status: Enabled for 9 days 01:02:03           Debug: err\n\nState Table                          "+
		"Total             Rate\n  current entries                    41877               \n  searches                   "+
		"120391882771        22787.0/s\n  inserts                       2118264412          400.9/s\nCounters\n"+
		"  congestion %20d           10.0/s\n", refused)
}
