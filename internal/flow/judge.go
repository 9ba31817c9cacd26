package flow

import (
	"cmp"
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
	closes    bool // the peer's window closed for part of its life
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
	var closed, peak int64
	for i := range h.course.list {
		v := &h.course.list[i]
		closed += v.time[closing]
		peak = max(peak, v.flight)
		l.peaks = append(l.peaks, peak)
	}
	l.closes = closed > (h.lastTime-h.firstTime)/20
	return l
}

// plateauOf is the flight that a sender whose buffer is full reaches in most
// intervals, and never exceeds.
func (h *half) plateauOf() (top int64, plateau bool) {
	var flights []int64
	for i := range h.course.list {
		if v := &h.course.list[i]; v.sent > 0 && v.time[open] > h.course.step/2 {
			flights = append(flights, v.flight)
		}
	}
	if len(flights) < 4 {
		return 0, false
	}
	slices.Sort(flights)
	top = flights[len(flights)-1-len(flights)/50]
	near := 0
	for _, f := range flights {
		if f >= top-max(top/20, h.mss) && f <= top+max(top/50, h.mss) {
			near++
		}
	}
	return top, near*2 >= len(flights)
}

// policer tells losses above a rate from those of a queue and of chance, after
// Flach et al. (An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016): a
// bucket that fills at the rate between the first and the last loss holds less
// than usual at a loss, round trips are not longer then, and since senders are
// above the rate by then, many segments are lost at a time.
func (h *half) policer(base int64) bool {
	n := len(h.losses)
	if n < 4 {
		return false
	}
	first, last := h.losses[0], h.losses[n-1]
	took := last.time - first.time
	if took <= 0 || last.bytes <= first.bytes {
		return false
	}
	rate := float64(last.bytes-first.bytes) / float64(took)
	queued, early := 0, 0
	usual := h.tokens(first, last, rate)
	for _, o := range h.losses {
		tokens := rate*float64(o.time-first.time) - float64(o.bytes-first.bytes)
		if tokens < usual {
			early++
		}
		if o.queue > base/4+ms {
			queued++
		}
	}
	return rate < 0.9*h.rates.capacity() && early*4 >= n && queued*4 <= n && h.Counts.Again >= 4*h.Counts.Events
}

// tokens is the median of what such a bucket holds, at a loss or not.
func (h *half) tokens(first, last loss, rate float64) float64 {
	var all []float64
	for i := range h.course.list {
		if v := &h.course.list[i]; v.start > first.time && v.start < last.time && i > 0 {
			sent := h.course.list[i-1].next - h.first - first.bytes
			all = append(all, rate*float64(v.start-first.time)-float64(sent))
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// limit judges the open time of an interval.
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
	switch {
	case !standing && !l.buffered && l.emptied(i):
		return Program
	case !lossy && l.grows(i) && !standing:
		return SlowStart
	case lossy && l.policed:
		return Policer
	case standing:
		return Path
	case l.plateau && v.flight >= l.top-max(l.top/10, 2*l.mss) && !quick:
		return SendBuffer
	case l.buffered && !lossy:
		return SendBuffer
	case l.closes && !lossy && v.start > l.firstTime+8*l.base:
		return SlowReader
	case quick:
		return Path
	case lossy:
		return Congestion
	case l.plateau:
		return SendBuffer
	case v.start < l.firstTime+16*l.base && l.peaks[i] < l.peaks[len(l.peaks)-1]*9/10:
		return SlowStart
	}
	return SendBuffer // without a loss a congestion window only grows
}

// standing tells a queue that never drained over the interval.
func (l *life) standing(i int) bool {
	v := &l.course.list[i]
	return v.rttMin > 0 && l.base > 0 && v.rttMin-l.base > l.base/6+ms/2 &&
		float64(v.acked) >= 0.7*l.capacity*float64(l.course.step)
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
	list := l.course.list
	ahead := int64(0)
	for j := i + 1; j < len(list) && j <= i+max(1, int(2*l.base/l.course.step)); j++ {
		ahead = max(ahead, list[j].flight)
	}
	now := l.peaks[i]
	return ahead*3 >= now*4 && ahead > now+2*l.mss
}

// holes turns the time of timers into that of a path that drops large segments
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
		shrunk := j-i >= 2 && h.stalls[j-1].last-h.stalls[j-1].first < h.stalls[i].last-h.stalls[i].first
		stuck := h.una <= last.first
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
			if limit = PeerWindow; standing {
				limit = Path
			}
		case idle:
			limit = Program
		case paused:
			if limit = Program; l.buffered {
				limit = SendBuffer
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
