package flow

import (
	"cmp"
	"math"
	"slices"
)

// life is what the judgement of single intervals rests on.
type life struct {
	*half
	base      int64   // least round trip, ns
	capacity  float64 // bytes per ns
	top       int64   // the flight that is reached again and again
	plateau   bool    // ... exactly, so that it is a buffer
	policed   bool
	buffered  bool // it pauses when its send buffer is full
	firstLoss int64
	last      Limit   // of the open time before
	peaks     []int64 // the most under way up to each interval
}

func (h *half) life() life {
	l := life{half: h, base: h.rtt(), capacity: h.rates.capacity()}
	l.firstLoss = 1<<63 - 1
	if len(h.losses) > 0 {
		l.firstLoss = h.losses[0].time
	}
	l.top, l.plateau = h.plateauOf()
	l.policed = h.policer(l.base)
	l.buffered = h.pauses.buffered(h.far > h.near)
	var peak int64
	for i := range h.course.list {
		v := &h.course.list[i]
		peak = max(peak, v.flight)
		l.peaks = append(l.peaks, peak)
	}
	return l
}

// plateauOf is the flight that a sender whose buffer is full reaches again and
// again, to a segment; a congestion window that stays nearly the same still grows.
func (h *half) plateauOf() (top int64, plateau bool) {
	var course []int64
	for i := range h.course.list {
		if v := &h.course.list[i]; v.sent > 0 && v.time[open] > h.course.step/2 {
			course = append(course, v.flight)
		}
	}
	flights := slices.Sorted(slices.Values(course))
	most, from := 0, 0
	for i, f := range flights {
		for ; flights[from] < f-max(2*h.mss, f/50); from++ {
		}
		if n := i - from + 1; n >= most {
			most, top = n, f
		}
	}
	opened, _ := slices.BinarySearch(flights, top/2) // those of slow start lie below
	return top, most >= 3 && most*5 >= (len(flights)-opened)*2 && !h.climbs(course, top)
}

// climbs tells that most flights near the top are a segment more than the one
// before.
func (h *half) climbs(course []int64, top int64) bool {
	up, near := 0, 0
	for i := 1; i < len(course); i++ {
		if course[i] > top || course[i-1] < top-max(2*h.mss, top/50) {
			continue
		}
		near++
		if more := course[i] - course[i-1]; more > 0 && more <= 2*h.mss {
			up++
		}
	}
	return up*2 > near
}

// policer tells losses above a rate from those of a queue and of chance, after
// Flach et al. (An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016): a
// bucket that fills at one rate is empty at each loss, so that between any two
// losses the same rate was delivered, below what the path carries; more than one
// segment is lost at a time, and round trips are not longer then.
func (h *half) policer(base int64) bool {
	if len(h.losses) < 4 {
		return false
	}
	type stretch struct{ rate, time float64 } // in bytes per nanosecond, and nanoseconds
	var rates []stretch
	total := 0.0
	segments := int64(0)
	queued, last, capacity := 0, h.losses[0], h.rates.capacity()
	for _, o := range h.losses {
		segments += o.segments
		if float64(o.queue-base/4-ms)*capacity > float64(4*h.mss) {
			queued++
		}
		if o.bytes-last.bytes >= 16*h.mss && o.time > last.time {
			took := float64(o.time - last.time)
			rates = append(rates, stretch{float64(o.bytes-last.bytes) / took, took})
			total += took
			last = o
		}
	}
	segments -= h.losses[0].segments // of slow start
	if len(rates) < 4 || queued*2 > len(h.losses) || segments < 2*int64(len(h.losses)-1) {
		return false
	}
	// By time, since the first recovery gives many short stretches.
	slices.SortFunc(rates, func(a, b stretch) int { return cmp.Compare(a.rate, b.rate) })
	rate, below := 0.0, 0.0
	for i := 0; i < len(rates) && below < total/2; i++ {
		rate, below = rates[i].rate, below+rates[i].time
	}
	near, held := 0, 0.0
	for _, r := range rates {
		if math.Abs(r.rate-rate) < 0.08*rate {
			near, held = near+1, held+r.time
		}
	}
	return near >= max(3, len(rates)/3) && held >= 0.6*total && rate < 0.9*capacity
}

// open judges the open time of an interval.
func (l *life) open(i int) Limit {
	v := &l.course.list[i]
	if v.sent+v.again == 0 && v.acked == 0 {
		if i == 0 {
			return Unknown
		}
		return l.last
	}
	rate := float64(v.acked) / float64(l.course.step)
	standing := l.standing(i)
	quick := l.capacity > 0 && rate >= 0.85*l.capacity
	lossy := v.start+l.course.step > l.firstLoss
	switch window := l.windowed(i); {
	case !lossy && l.grows(i) && !standing:
		return SlowStart
	case window != "" && !standing && !(lossy && l.policed):
		return window
	case !standing && (l.emptied(i) || !lossy && l.rests(i)):
		return Program
	case lossy && l.policed:
		return Policer
	case standing:
		return Path
	case l.partial() && !quick && !lossy && !l.closes(i):
		return Unknown
	case l.plateau && v.flight >= l.top-max(l.top/10, 2*l.mss) && !quick && (!lossy || l.buffered && l.healed(i)):
		return SendBuffer
	case l.buffered && !lossy:
		return SendBuffer
	case !lossy && l.closes(i):
		return SlowReader
	case !lossy && l.lastTime < l.firstTime+8*l.base:
		return SlowStart
	case quick:
		return Path
	case lossy:
		return Congestion
	case l.plateau:
		return SendBuffer
	case v.start < l.firstTime+16*l.base && l.peaks[l.after(i, 4)] > l.peaks[i]*5/4:
		return SlowStart
	case l.rises(i): // without a loss a congestion window grows
		return Congestion
	}
	return SendBuffer
}

// partial tells a capture that lacks much of the data, so that how much was under
// way is not known well enough to tell what kept it so.
func (l *life) partial() bool { return l.Counts.Unseen > l.Counts.Bytes/20 }

// healed tells that the last loss is long past, and that as much is under way as
// a congestion window that is small from losses does not hold.
func (l *life) healed(i int) bool {
	start := l.course.list[i].start
	for _, o := range l.losses {
		if o.time > start-8*l.base && o.time < start+l.base+l.course.step {
			return false
		}
	}
	return l.top >= 16*l.mss
}

// closes tells that the peer's window closed within a few round trips.
func (l *life) closes(i int) bool { return l.near(i, l.after(i, 4)-i, closing) > 1.0/20 }

// near is the share of a reason in the time of some intervals before and behind
// an interval.
func (l *life) near(i, radius int, reason why) float64 {
	list := l.course.list[max(0, i-radius):min(len(l.course.list), i+radius+1)]
	sum := int64(0)
	for j := range list {
		sum += list[j].time[reason]
	}
	return float64(sum) / float64(l.course.step*int64(len(list)))
}

// after is the interval some round trips after another, or the last one.
func (l *life) after(i, trips int) int {
	return min(len(l.course.list)-1, i+max(1, int(int64(trips)*l.base/l.course.step)))
}

// rises tells a flight that is larger in most intervals than in the one before.
func (l *life) rises(i int) bool {
	list := l.course.list[i : l.after(i, 8)+1]
	up := 0
	for j := 1; j < len(list); j++ {
		if list[j].flight > list[j-1].flight {
			up++
		}
	}
	return len(list) > 4 && up*10 >= (len(list)-1)*7
}

// rests tells the open time of bursts between which nothing is to be sent: what
// the path draws out of them.
func (l *life) rests(i int) bool {
	still := l.near(i, 1, idle)
	if !l.buffered {
		still += l.near(i, 1, paused)
	}
	return still > 1.0/2
}

// windowed tells the open time of round trips in which the window was full: what
// a path of limited rate draws out of a burst, and what a sender spaces.
func (l *life) windowed(i int) Limit {
	switch largest, closed := l.near(i, 1, full), l.near(i, 1, closing); {
	case largest+closed < 1.0/8:
		return ""
	case closed > largest:
		return SlowReader
	}
	return PeerWindow
}

// standing tells a queue that never drained over the interval.
func (l *life) standing(i int) bool {
	v := &l.course.list[i]
	return v.rttMin > 0 && l.base > 0 && l.capacity > 0 && v.rttMin-l.base > l.base/6+ms/2 &&
		float64(v.acked) >= 0.7*l.capacity*float64(l.course.step)
}

// queued tells that the round trip is longer by more than what few segments
// that are sent at once do to each other.
func (l *life) queued(i int) bool {
	return float64(l.course.list[i].rttMin-l.base)*l.capacity > float64(4*l.mss)
}

// emptied tells a sender that had nothing left to send in most round trips:
// its last segments were not full ones. Nagle's algorithm allows one such
// segment a round trip.
func (l *life) emptied(i int) bool {
	list := l.course.list
	around := max(1, int(8*l.base/l.course.step))
	from, to := max(0, i-around), min(len(list), i+around+1)
	short := int64(0)
	for j := from; j < to; j++ {
		short += int64(list[j].short)
	}
	trips := float64(int64(to-from)*l.course.step) / float64(max(l.base, l.course.step/4, 1))
	return short >= 3 && float64(short) >= 0.85*trips
}

// grows tells whether the flight is still growing as a congestion window does
// that opens: beyond all that there was before.
func (l *life) grows(i int) bool {
	now, ahead := l.peaks[i], l.peaks[l.after(i, 2)]
	return ahead*3 >= now*4 && ahead > now+2*l.mss
}

// blackHole turns the time of timers into that of a path that drops large segments
// without a word: the same large segment is sent again and again, and gets
// through only in smaller parts, or never.
func (h *half) blackHole() {
	for i := 0; i < len(h.stalls); {
		j := i + 1
		for j < len(h.stalls) && h.stalls[j].first == h.stalls[i].first {
			j++
		}
		last := h.stalls[j-1]
		large := h.mss > 536 && last.last-last.first >= h.mss
		shrunk := last.last-last.first < h.mss && h.stalls[i].last-h.stalls[i].first >= h.mss
		stuck := h.una <= last.first && !h.passed // otherwise the path is cut for all
		if j-i >= 2 && (large && stuck || shrunk) {
			for _, s := range h.stalls[i:j] {
				h.course.spread(s.from, s.to, holed, h.limit)
				h.course.unspread(s.from, s.to, stalled)
			}
		}
		i = j
	}
}

// spans are the limits of the direction's life, one after the other.
func (h *half) spans() []Span {
	if !h.begun || len(h.course.list) == 0 {
		return nil
	}
	if h.lastHeard == 0 { // nothing of the other end: neither its window nor what it had
		return []Span{{Unknown, h.firstTime, max(h.lastSend, h.lastTime)}}
	}
	for h.unscaled && h.course.step*3/2 < h.rtt() && len(h.course.list) > 1 {
		h.course.halve() // intervals are round trips, which was not known at the beginning
	}
	h.blackHole()
	l := h.life()
	var spans []Span
	for i := range h.course.list {
		for _, p := range l.parts(i) {
			if n := len(spans); n > 0 && spans[n-1].Limit == p.Limit && spans[n-1].End == p.Start {
				spans[n-1].End = p.End
			} else {
				spans = append(spans, p)
			}
		}
	}
	return spans
}

// parts divides an interval among the limits that shared it; where within it
// each held is not kept.
func (l *life) parts(i int) []Span {
	v := &l.course.list[i]
	standing := l.standing(i)
	spent := map[Limit]int64{}
	for r, t := range v.time {
		if t == 0 {
			continue
		}
		limit := Unknown
		switch why(r) {
		case open:
			limit = l.open(i)
			l.last = limit
		case full:
			if limit = PeerWindow; standing && l.queued(i) {
				limit = Path
			}
		case idle:
			if limit = Program; l.vantage() == Nowhere { // at the receiver everything is acknowledged as it passes
				limit = Unknown
			}
		case paused:
			switch {
			case standing:
				limit = Path
			case l.buffered && !l.emptied(i):
				limit = SendBuffer
			default:
				limit = Program
			}
		case closing:
			limit = SlowReader
		case stalled:
			limit = Timeout
		case nagled:
			limit = Nagle
		case holed:
			limit = BlackHole
		case silly:
			limit = Silly
		}
		spent[limit] += t
	}
	var parts []Span
	at := v.start
	for _, limit := range Limits() {
		if t := spent[limit]; t > 0 {
			parts = append(parts, Span{limit, at, at + t})
			at += t
		}
	}
	return parts
}

// Shares are how much of a life each limit bound, the largest first.
func Shares(spans []Span) []Share {
	var all []Share
	var total int64
	for _, s := range spans {
		total += s.End - s.Start
		i := slices.IndexFunc(all, func(a Share) bool { return a.Limit == s.Limit })
		if i < 0 {
			i, all = len(all), append(all, Share{Limit: s.Limit})
		}
		all[i].Time += s.End - s.Start
	}
	for i := range all {
		all[i].Share = float64(all[i].Time) / float64(max(total, 1))
	}
	slices.SortStableFunc(all, func(a, b Share) int { return cmp.Compare(b.Time, a.Time) })
	return all
}

// Share is a limit's part of a life.
type Share struct {
	Limit Limit   `json:"limit"`
	Time  int64   `json:"-"` // nanoseconds
	Share float64 `json:"share"`
}
