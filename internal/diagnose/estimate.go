package diagnose

import (
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
)

// Estimate is a path and a role that nobody declared, made of what was read, so that a remedy can have a value.
type Estimate struct {
	Path netpath.Path
	Role string
	// From says what they were made of; empty where the rate or the round trip is not known.
	From string
}

// EstimatePath fills in what was not declared: for the path the rate of the link to the default route, and the longest
// round trip that ping or a connection measured; for the role that of a router where the host forwards, else bulk.
func EstimatePath(f *facts.Facts, path netpath.Path, role string) Estimate {
	e, from := Estimate{Path: path, Role: role}, "for the path given"
	if path.Rate == 0 {
		out := f.Outlet()
		rtt, how := longestRTT(f)
		if out == nil || !out.Up || out.Speed == 0 || rtt <= 0 {
			return Estimate{}
		}
		e.Path = netpath.Path{Rate: out.Speed, RTT: rtt, MTU: max(out.MTU, 1500)}
		from = fmt.Sprintf("for %s (the link of %s), %s (%s)", out.Speed, out.Name, seconds(rtt.Seconds()), how)
	}
	if e.Role == "" {
		e.Role = "bulk"
		if _, on := reallyForwards(f, ""); on {
			e.Role = "router"
		}
	}
	e.From = from + ", role " + e.Role
	return e
}

// longestRTT is the longest of the mean round trips of ping; without it that of a connection without a queue.
func longestRTT(f *facts.Facts) (rtt time.Duration, how string) {
	longest := 0.0
	for _, p := range f.Pings {
		if p.Avg > longest && p.Avg < 5 {
			longest, how = p.Avg, "ping"
		}
	}
	for i := range f.Flows {
		if v := f.Flows[i].Values["minrtt"] / 1000; how != "ping" && v > longest && v < 5 && !loopback(&f.Flows[i]) {
			longest, how = v, "ss"
		}
	}
	return time.Duration(longest * float64(time.Second)), how
}
