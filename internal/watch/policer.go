package watch

import (
	"math"
	"time"
)

// The signs of a policer, from what can be seen without packets (Flach et al., An
// Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016): its losses come
// without a queue, and are many times what would let as much through if they were
// of chance.
const (
	policeSamples = 3   // needed to tell a policer by an even rate
	shedLeast     = 50  // segments, lost in one interval: fewer may be chance
	shedShare     = 0.2 // of what is sent, lost in one interval; BBR takes as much for a policer's (tcp_bbr.c)
	shedTrips     = 3   // round trips of what gets through, lost in one interval: a window that grew into a queue loses less
	samePolicer   = 0.2 // by how much the rate that a policer lets through varies: its bucket fills and empties
)

// policed tells the losses of a policer from those of a queue and of chance.
func (c *change) policed() bool { return !c.standing() && (c.shed() >= 0 || c.even()) }

// shed is the first interval of the window that lost what only a policer takes,
// by the index of its last sample; -1 is none. That of the first sample is the
// connection's life until then. A bucket that empties while the window still grows
// leaves far more under way than the rate carries, and takes most of it. A window
// that grows into a queue loses what fits into a round trip or two; how much that
// is, the intervals afterwards show too.
func (c *change) shed() int {
	found, most := -1, 0.0 // most segments a second that got through
	for i := len(c.all) - 1; i >= 0; i-- {
		b := &c.all[i]
		a := &moment{at: b.at - b.Busy}
		if i > 0 {
			a = &c.all[i-1]
		}
		took := (b.at - a.at).Seconds()
		if took <= 0 {
			continue
		}
		sent, lost := float64(b.Segments-a.Segments), float64(b.Retransmits-a.Retransmits)+float64(b.Lost)-float64(a.Lost)
		carried := (float64(b.Acked-a.Acked)/float64(max(b.MSS, 1)) + float64(b.Sacked) - float64(a.Sacked)) / took
		most = max(most, carried)
		if i < len(c.all)-1 && !b.queued(b.RTT) && lost >= max(shedLeast, shedShare*sent, shedTrips*most*b.RTT.Seconds()) &&
			beyondChance(carried, lost/sent, b.RTT) {
			found = i
		}
	}
	return found
}

// passed is the rate that a policer lets through, in bytes a second, from when it
// was seen to lose on; 0 where none was seen.
func (c *change) passed() float64 {
	i := c.shed()
	if i < 0 {
		return 0
	}
	return float64(c.last.Acked-c.all[i].Acked) / (c.last.at - c.all[i].at).Seconds()
}

// stillPoliced tells that a connection goes on at the rate that a policer was seen
// to let through. Its losses are few by then.
func (c *change) stillPoliced(rate float64) bool {
	return rate > 0 && math.Abs(c.acked-rate) <= samePolicer*rate && !c.standing()
}

// even tells that segments are lost in most intervals and the rate is the same in
// each. That is so either for long enough to be no chance, or the rate is beyond
// what so much loss by chance allows.
func (c *change) even() bool {
	if len(c.all) < policeSamples || c.segments == 0 || c.last.MSS == 0 || c.acked == 0 {
		return false
	}
	farthest, lossy := 0.0, 0
	for i := 1; i < len(c.all); i++ {
		a, b := &c.all[i-1], &c.all[i]
		if b.at <= a.at {
			return false
		}
		if b.Retransmits != a.Retransmits {
			lossy++
		}
		rate := float64(b.Acked-a.Acked) / (b.at - a.at).Seconds()
		farthest = max(farthest, math.Abs(rate-c.acked)/c.acked)
	}
	loss := c.again / c.segments
	if 2*lossy < len(c.all)-1 || loss < 0.001 || farthest > 0.1 {
		return false
	}
	return farthest < min(0.025, 0.1/math.Sqrt(c.again)) && len(c.all) > policeSamples ||
		beyondChance(c.acked/float64(c.last.MSS), loss, c.rtt)
}

// beyondChance tells that a rate, in segments a second, is far more than Reno and CUBIC
// reach at so much loss by chance (Mathis et al. 1997; RFC 9438, section 5.1).
func beyondChance(rate, loss float64, rtt time.Duration) bool {
	if loss <= 0 || rtt <= 0 {
		return false
	}
	reno := math.Sqrt(1.5/loss) / rtt.Seconds()
	cubic := 1.054 * math.Pow(rtt.Seconds(), -0.25) * math.Pow(loss, -0.75)
	return rate > 2*max(reno, cubic)
}
