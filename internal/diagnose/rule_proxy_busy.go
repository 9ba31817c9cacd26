package diagnose

import "github.com/wirerate/wirerate/internal/facts"

// proxyBusy finds a HAProxy whose threads have no time left.
func proxyBusy() Rule {
	return Rule{
		ID: "proxy-busy", Title: "A proxy's threads are saturated", Systems: onLinux(), Needs: []string{"server statistics"},
		Severity: Warning,
		Because: "Idle_pct in show info is the share of the last second that a thread was idle: near 0, every connection " +
			"waits for the one before it.",
		Confirm: "top -H shows a haproxy thread near 100% of a core.",
		Check: func(in Input) []Finding {
			const least = 10
			c, known := in.Facts.Counters[facts.ProgramCounter+"Idle_pct"]
			if !known || c.Value >= least {
				return nil
			}
			return do("set nbthread to the number of cores (the default since release 2.5), reduce the cost of TLS (keep-alive, "+
				"session resumption, ECDSA certificates), or add a proxy", one("HAProxy", []facts.Source{c.Source},
				"only %d%% of its time is idle", c.Value))
		},
		Fires: linuxExample(facts.ProgramStats, "Idle_pct: 0\n"),
		Quiet: linuxExample(facts.ProgramStats, "Idle_pct: 98\n"),
	}
}
