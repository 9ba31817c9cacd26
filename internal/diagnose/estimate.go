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
		e.Path, from = roughPath(f)
		if from == "" {
			return Estimate{}
		}
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

// roughPath is the path of what the text tells, and of what was measured; what it was made of is empty where the rate
// or the round trip is not known.
func roughPath(f *facts.Facts) (path netpath.Path, from string) {
	path.MTU = 1500
	rtt, how := longestRTT(f)
	if f.Told.RTT > 0 {
		rtt, how = f.Told.RTT, "given in the text"
	}
	linkOf := "given in the text"
	path.Rate, path.RTT = f.Told.Rate, rtt
	if out := f.Outlet(); path.Rate == 0 && out != nil && out.Up {
		path.Rate, path.MTU, linkOf = out.Speed, max(out.MTU, 1500), "the link of "+out.Name
	}
	if path.Rate == 0 || rtt <= 0 {
		return netpath.Path{}, ""
	}
	return path, fmt.Sprintf("for %s (%s), %s (%s)", path.Rate, linkOf, seconds(rtt.Seconds()), how)
}

// ToldPath is the path that the words of a post tell: its rate, and its round trip by the words or as it was measured.
// It is zero, and how empty, where they do not tell the rate, or nothing the round trip.
func ToldPath(f *facts.Facts) (path netpath.Path, how string) {
	if f.Told.Rate == 0 {
		return netpath.Path{}, ""
	}
	path, from := roughPath(f)
	if from == "" || path.Check() != nil {
		return netpath.Path{}, ""
	}
	where := fmt.Sprintf("rate: line %d", f.Told.RateSource.Line)
	switch {
	case f.Told.RateSource.Line == 0:
		where = "rate: the text"
	case f.Told.RTT > 0 && f.Told.RTTSource.Line != f.Told.RateSource.Line:
		where += fmt.Sprintf(", RTT: line %d", f.Told.RTTSource.Line)
	case f.Told.RTT > 0:
		where = fmt.Sprintf("line %d", f.Told.RateSource.Line)
	}
	if f.Told.RTT == 0 {
		where += ", RTT: measured"
	}
	return path, "given in the text (" + where + ")"
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
