package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// shaperLimit finds a dummynet pipe that refused its rate.
func shaperLimit() Rule {
	return Rule{
		ID: "shaper-limit", Title: "A dummynet pipe or queue refused what it was given", Severity: Warning,
		Systems: onFreeBSD(), Needs: []string{"messages"},
		Because: "ipfw(8) of many releases stores the rate of a pipe as a signed 32-bit number of bit/s: more " +
			"than 2147 Mbit/s is refused, and the pipe keeps its former rate.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, tooLarge)
			if n == 0 {
				return busyFlowset(in.Facts)
			}
			return do("use at most 2147Mbit/s for a pipe, several pipes, ALTQ, or a release whose ipfw(8) takes more",
				one("dummynet", lines, "ipfw refused the bandwidth of a pipe in %s: it stays as it was", counted(n, "line")))
		},
		Fires: freebsdExample("dmesg", "ipfw: bandwidth too large\n"),
		Quiet: freebsdExample("dmesg", "ipfw2 (+ipv6) initialized, divert loadable, nat loadable\n"),
	}
}

// busyFlowset finds queues that kept their former way to drop (config_aqm of FreeBSD's sys/netpfil/ipfw/ip_dummynet.c).
func busyFlowset(f *facts.Facts) []Finding {
	lines, n := matching(f, flowsetBusy)
	if n == 0 {
		return nil
	}
	found := one("dummynet", lines, "a queue in use refused the CoDel, PIE or RED that it was given: it stays as it was (%s)", counted(n, "line"))
	found[0].Because = "dummynet changes how a queue drops only while nothing uses it."
	found[0].Confirm = "dnctl queue show (ipfw queue show) says droptail."
	return do("delete the queue and create it anew: dnctl queue N delete, then load the configuration again; a restart of the host does the "+
		"same", found)
}

var flowsetBusy = regexp.MustCompile(`config_aqm Unable to configure flowset`)

var tooLarge = regexp.MustCompile(`bandwidth too large`)
