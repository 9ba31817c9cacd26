package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// pfCongestion finds new connections that pf refused since the host could not keep up with its packets.
func pfCongestion() Rule {
	return Rule{
		ID: "pf-congestion", Title: "pf dropped new connections because of congestion", Systems: onBSD(),
		Needs: []string{"packet filter"}, Severity: Warning,
		Because: "While a network input queue overflows, pf passes only packets with a state and drops all others: new " +
			"connections time out and are retried.",
		Confirm: "The counter grows during packet bursts; at the same time one core has no idle time, or livelocks grow " +
			"(systat mbufs).",
		Check: func(in Input) []Finding {
			refused, made := in.Facts.Counters["pf.congestion"], total(in.Facts, "pf.inserts")
			if refused.Value == 0 {
				return nil
			}
			beside := ""
			if made > 0 {
				beside = fmt.Sprintf(", %d states were created", made)
			}
			return lost(refused, made, do("reduce the cost per packet (fewer rules, quick rules first), use a faster CPU, or "+
				"cards with more queues", one("pf", []facts.Source{refused.Source}, "%d packets without a state were dropped because of "+
				"congestion%s", refused.Value, beside)))
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
