package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// shaperLimit finds a dummynet pipe that refused its rate.
func shaperLimit() Rule {
	return Rule{
		ID: "shaper-limit", Title: "A dummynet pipe or queue rejected its configuration", Severity: Warning,
		Systems: onFreeBSD(), Needs: []string{"messages"},
		Because: "In many releases ipfw(8) stores a pipe's rate as a signed 32-bit number of bit/s: more than 2147 Mbit/s is " +
			"rejected, and the pipe keeps its previous rate.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, tooLarge)
			if n == 0 {
				return busyFlowset(in.Facts)
			}
			return do("use at most 2147Mbit/s per pipe, several pipes, ALTQ, or a release whose ipfw(8) supports more",
				one("dummynet", lines, "ipfw rejected the bandwidth of a pipe (%s): it keeps the old one", counted(n, "line")))
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
	found := one("dummynet", lines, "a queue in use rejected the new AQM (CoDel, PIE or RED): it keeps the old one "+
		"(%s)", counted(n, "line"))
	found[0].Because = "dummynet changes a queue's AQM only while the queue is not in use."
	found[0].Confirm = "dnctl queue show (ipfw queue show) shows droptail."
	return do("delete and recreate the queue: dnctl queue N delete, then reload the configuration; a reboot does "+
		"the same", found)
}

var flowsetBusy = regexp.MustCompile(`config_aqm Unable to configure flowset`)

var tooLarge = regexp.MustCompile(`bandwidth too large`)
