package diagnose

import (
	"math"

	"github.com/wirerate/wirerate/internal/netpath"
)

// lossResponse is the goodput that a congestion control reaches at the path's
// loss rate, in bit/s, where a published response function exists: Reno by
// Mathis et al. 1997 as RFC 9438 states it, W = 1.2/sqrt(p) segments, and
// CUBIC by RFC 9438, section 5.1, W = 1.054 (RTT/p)^0.75, at least Reno's.
// BBR's rate does not follow random loss below its thresholds.
func lossResponse(algorithm string, p netpath.Path) (bps float64, known bool) {
	rtt := p.RTT.Seconds()
	if p.Loss <= 0 || rtt <= 0 {
		return 0, false
	}
	segments := 1.2 / math.Sqrt(p.Loss)
	switch algorithm {
	case "reno", "newreno":
	case "cubic":
		segments = max(segments, 1.054*math.Pow(rtt/p.Loss, 0.75))
	default:
		return 0, false
	}
	return segments * float64(p.MSS()) * 8 / rtt, true
}
