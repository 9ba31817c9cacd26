package packets

import (
	"errors"
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// Path is what the TCP connection with the most data saw of its path. The loss
// is none where the connection filled the path: it made those losses itself.
func (a *Analysis) Path() (netpath.Path, error) {
	for _, l := range a.Flows {
		if l.Protocol != "tcp" || l.RTT == nil || l.RTT.Min <= 0 || l.MSS < 256 || max(l.Capacity, l.Goodput) <= 0 {
			continue
		}
		const headers = 52.0 // IPv4, TCP with timestamps
		mss := float64(l.MSS)
		said := fmt.Sprintf("of %s > %s in %s", l.From, l.To, a.Capture)
		p := netpath.Path{Rate: units.Rate(max(l.Capacity, l.Goodput) * (mss + headers) / mss),
			RTT: time.Duration(l.RTT.Min * float64(time.Millisecond)), MTU: min(l.mtu(), 65535),
			Measured: map[string]string{"rate": "the rate of deliveries " + said, "rtt": "the least round trip " + said,
				"loss": "segments sent again " + said, "mtu": "the segment size " + said}}
		if l.Limit != flow.Path && l.Limit != flow.Policer && l.Segments > 0 {
			p.Loss = float64(max(0, l.Again-l.Spurious)) / float64(l.Segments)
		}
		return p, nil
	}
	return netpath.Path{}, errors.New("no TCP connection in it shows rate and round trip")
}

// mtu is what the ends offered for their segments, with the headers of IPv4.
func (l *Life) mtu() int {
	if from, to := l.Opened.From, l.Opened.To; from != nil && to != nil && min(from.MSS, to.MSS) > 0 {
		return min(from.MSS, to.MSS) + 40
	}
	return int(l.MSS) + 52
}
