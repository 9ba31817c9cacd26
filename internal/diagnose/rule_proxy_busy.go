package diagnose

import "github.com/wirerate/wirerate/internal/facts"

// proxyBusy finds a HAProxy whose threads have no time left.
func proxyBusy() Rule {
	return Rule{
		ID: "proxy-busy", Title: "A proxy's threads have no time left", Systems: onLinux(), Needs: []string{"server statistics"},
		Severity: Warning,
		Because: "Idle_pct of show info is the share of the last second that a thread spent waiting: with none left, every " +
			"connection waits for the one before it.",
		Confirm: "top -H shows a thread of haproxy near 100% of a core.",
		Check: func(in Input) []Finding {
			const least = 10
			c, known := in.Facts.Counters[facts.ProgramCounter+"Idle_pct"]
			if !known || c.Value >= least {
				return nil
			}
			return do("set nbthread to the number of cores (release 2.5 does so by itself), spend less on TLS (keep-alive, "+
				"session resumption, ECDSA certificates), or add a proxy", one("HAProxy", []facts.Source{c.Source},
				"%d%% of its time is idle", c.Value))
		},
		Fires: linuxExample(facts.ProgramStats, "Idle_pct: 0\n"),
		Quiet: linuxExample(facts.ProgramStats, "Idle_pct: 98\n"),
	}
}
