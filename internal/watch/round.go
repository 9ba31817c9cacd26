package watch

import (
	"math"
	"time"
)

// Round keeps so many significant digits of what was measured: more are chance,
// and most of what a recording would hold.
func (s *State) Round(digits int) {
	r := func(values ...*float64) {
		for _, v := range values {
			*v = significant(*v, digits)
		}
	}
	t := &s.Traffic
	r(&t.Sent, &t.Received, &t.RTT, &t.MinRTT, &t.P50, &t.P99, &t.Loss, &t.Retransmits)
	for i := range s.Interfaces {
		n := &s.Interfaces[i]
		r(&n.Sent, &n.Received, &n.SentPackets, &n.ReceivedPackets)
		for name, v := range n.Drops {
			n.Drops[name] = significant(v, digits)
		}
	}
	for i := range s.Processors {
		p := &s.Processors[i]
		r(&p.Busy, &p.Interrupt, &p.Stolen)
	}
	for i := range s.Flows {
		f := &s.Flows[i]
		r(&f.Age, &f.Sent, &f.Received, &f.RTT, &f.MinRTT, &f.Retransmits, &f.Busy, &f.PeerLimited, &f.SendLimited)
		f.Since = f.Since.Truncate(time.Millisecond)
	}
}

// significant is a number with so many digits that count.
func significant(v float64, digits int) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	places := digits - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	if places < 0 {
		scale := math.Pow10(-places)
		return math.Round(v/scale) * scale
	}
	scale := math.Pow10(min(places, 300))
	return math.Round(v*scale) / scale
}
