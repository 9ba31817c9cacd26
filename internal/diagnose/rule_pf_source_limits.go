package diagnose

// pfSourceLimits finds connections that pf's limits refused.
func pfSourceLimits() Rule {
	return Rule{
		ID: "pf-limits-hit", Title: "Source limits in pf.conf refused connections", Systems: onBSD(),
		Needs: []string{"packet filter"}, Severity: Warning,
		Settings: []string{"pf:set/limit/src-nodes"},
		Because: "max-src-states, max-src-nodes and similar limits in pf.conf reject everything above them, from attackers as " +
			"well as from many clients behind one NAT address.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "pf.src-limit", "pf.state-limit", "pf.limit.max_src_states",
				"pf.limit.max_src_nodes", "pf.limit.max_states_per_rule", "pf.limit.max-src-states", "pf.limit.max-src-nodes")
			if len(found) == 0 {
				return nil
			}
			return one("pf", sources(found), "rule limits refused %d connections or packets since the "+
				"counters were cleared", found[0].Value)
		},
		Fires: pfExample(950, 88),
		Quiet: pfExample(950, 0),
	}
}
