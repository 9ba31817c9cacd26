package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// shaperLimit finds a dummynet pipe that refused its rate.
func shaperLimit() Rule {
	return Rule{
		ID: "shaper-limit", Title: "A dummynet pipe refused the rate that it was given", Severity: Warning,
		Systems: onFreeBSD(), Needs: []string{"messages"},
		Because: "ipfw(8) of many releases stores the rate of a pipe as a signed 32-bit number of bit/s: more " +
			"than 2147 Mbit/s is refused, and the pipe keeps its former rate.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, tooLarge)
			if n == 0 {
				return nil
			}
			return do("use at most 2147Mbit/s for a pipe, several pipes, ALTQ, or a release whose ipfw(8) takes more",
				one("dummynet", lines, "ipfw refused the bandwidth of a pipe in %s: it stays as it was", counted(n, "line")))
		},
		Fires: freebsdExample("dmesg", "ipfw: bandwidth too large\n"),
		Quiet: freebsdExample("dmesg", "ipfw2 (+ipv6) initialized, divert loadable, nat loadable\n"),
	}
}

var tooLarge = regexp.MustCompile(`bandwidth too large`)
