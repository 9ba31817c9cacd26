package diagnose

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// mbufNearLimit finds cluster pools that are nearly used up.
func mbufNearLimit() Rule {
	return Rule{
		ID: "mbuf-near-limit", Title: "Mbuf clusters are near their limit", Systems: onBSD(), Needs: []string{"mbufs"},
		Severity: Warning,
		Because:  "At the limit, requests are denied and packets are dropped.",
		Confirm:  "netstat -m at peak load shows use at the limit, or denied requests.",
		Check: func(in Input) (out []Finding) {
			for _, p := range in.Facts.Memories {
				if p.Limit > 0 && !strings.HasPrefix(p.Name, "zone ") && float64(p.Used) > 0.8*float64(p.Limit) {
					out = append(out, withFix(Fix{Setting: poolLimit(in.Facts.System, p.Name)}, one(p.Name,
						[]facts.Source{cmp.Or(p.InUse, p.Source)}, "%d of %d in use (%.0f%%)", p.Used, p.Limit,
						100*float64(p.Used)/float64(p.Limit)))...)
				}
			}
			return out
		},
		Fires: freebsdExample("netstat -m", "10/5/15 mbufs in use (current/cache/total)\n950/50/1000/1000 mbuf "+
			"clusters in use (current/cache/total/max)\n"),
		Quiet: openbsdExample("netstat -m", "10/50 mbuf 2048 byte clusters in use (current/peak)\n100/300/524288 "+
			"Kbytes allocated to network (current/peak/max)\n"),
	}
}
