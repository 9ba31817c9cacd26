package flow

import "math"

// rates tells at what rate the path delivers when it delivers: over stretches
// shorter than a round trip, so that what a sender leaves unused between its
// windows does not count. The zero value is ready.
type rates struct {
	from, last int64 // of a stretch; the last delivery
	bytes      int64
	bins       map[int16]int64 // bytes by the logarithm of their rate
}

const rateStep = 1.05

func (r *rates) add(t, bytes, mss, rtt int64) {
	if gap := t - r.last; r.from == 0 || rtt > 0 && (t-r.from > rtt || gap > rtt/2) {
		r.from, r.last, r.bytes = t, t, 0 // what is acknowledged now was delivered before
		return
	}
	r.bytes, r.last = r.bytes+bytes, t
	if took := t - r.from; took >= min(max(ms/2, rtt/6), 10*ms) && r.bytes >= 4*max(mss, 1) {
		if r.bins == nil {
			r.bins = make(map[int16]int64)
		}
		r.bins[int16(math.Log(float64(r.bytes)/float64(took))/math.Log(rateStep))] += r.bytes
		r.from, r.bytes = t, 0
	}
}

// capacity is the rate that a quarter of the bytes had or exceeded, in bytes
// per nanosecond; 0 when nothing was measured.
func (r *rates) capacity() float64 {
	var total int64
	lowest, highest := int16(math.MaxInt16), int16(math.MinInt16)
	for b, n := range r.bins {
		total += n
		lowest, highest = min(lowest, b), max(highest, b)
	}
	for b, sum := highest, int64(0); b >= lowest && total > 0; b-- {
		if sum += r.bins[b]; sum >= total/4 {
			return math.Pow(rateStep, float64(b))
		}
	}
	return 0
}
