package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// pfSourceLimits finds connections that pf's limits refused.
func pfSourceLimits() Rule {
	return Rule{
		ID: "pf-limits-hit", Title: "Source limits in pf.conf refused connections", Systems: onBSD(),
		Needs: []string{"packet filter|messages"}, Severity: Warning,
		Because: "max-src-states, max-src-nodes and similar limits in pf.conf reject everything above them, from attackers as " +
			"well as from many clients behind one NAT address.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "pf.src-limit", "pf.state-limit", "pf.limit.max_src_states",
				"pf.limit.max_src_nodes", "pf.limit.max_states_per_rule", "pf.limit.max-src-states", "pf.limit.max-src-nodes")
			if len(found) == 0 {
				return tableTooLarge(in.Facts)
			}
			return withFix(Fix{Setting: "pf:set/limit/src-nodes"}, one("pf", sources(found), "rule limits refused %d connections "+
				"or packets since the counters were cleared", found[0].Value))
		},
		Fires: pfExample(950, 88),
		Quiet: pfExample(950, 0),
	}
}

// tableTooLarge finds a table of addresses for which pf has no room (pfctl's parse.y).
func tableTooLarge(f *facts.Facts) []Finding {
	lines, n := matching(f, tableRefused)
	if n == 0 {
		return nil
	}
	found := one("pf table "+firstGroup(tableRefused, lines[0].Text), lines, "it was not loaded: its addresses "+
		"exceed the table-entries limit (%s)", counted(n, "line"))
	found[0].Because = "If a table cannot be loaded, pfctl loads none of the rules: the previous ruleset stays " +
		"active, or none if there was none."
	found[0].Confirm = "pfctl -sm shows the limit of table-entries, pfctl -t NAME -T show | wc -l what a table " +
		"holds; during a reload, the old entries count as well."
	found[0].Fix = []Fix{{Setting: "pf:set/limit/table-entries"}}
	return found
}

var tableRefused = regexp.MustCompile(`cannot (?:define|create) table ([\w.<>-]{1,64}): Cannot allocate memory`)
