package flow

import "slices"

// repeats takes data from below what was sent before.
func (h *half) repeats(s *Segment, first, last int64, v *interval) {
	if n := h.fills(s, first, last); n != 0 {
		if n < 0 { // it was overtaken, not lost
			h.Counts.Reordered++
			h.Counts.Bytes += last - first
			v.sent += last - first
			return
		}
		h.Counts.Bytes += last - first
	}
	if last-first <= 1 && (last <= h.una || last == h.probe) {
		return // a keepalive, or a probe of the window
	}
	n := h.count(last - first)
	h.Counts.Again += n
	h.Counts.Fast += n - 1
	v.lost += int32(n)
	v.again += last - first
	h.lost(loss{time: s.Time, bytes: h.delivered, segments: n}, first)
	waited := s.Time - h.lastSend
	switch {
	case h.timed(s.Time, first, last):
		h.Counts.Timer++
		v.timers++
		h.event(s, "retransmission after a timeout")
	case last >= h.next && waited > h.rtt():
		h.Counts.Tail++
		h.event(s, "tail loss probe")
	default:
		h.Counts.Fast++
		h.event(s, "fast retransmission")
	}
	i, _ := slices.BinarySearchFunc(h.out, first, func(o sent, at int64) int {
		if o.last <= at {
			return -1
		}
		return 1
	})
	for ; i < len(h.out) && h.out[i].first < last; i++ {
		h.out[i].times++
		h.out[i].time = s.Time
		if s.Options.HasTimestamp {
			h.out[i].tsval = s.Options.TSVal
		}
	}
}

// fills closes the hole that a segment is of: 1 when it was lost before the
// capture and sent again, -1 when it was overtaken, 0 when there is none.
func (h *half) fills(s *Segment, first, last int64) int {
	for i := range h.holes {
		o := &h.holes[i]
		if last <= o.first || first >= o.last {
			continue
		}
		age := s.Time - o.time
		late := h.rtt() > 0 && age > h.rtt()/2 || h.rtt() == 0 && age > 3*ms
		if s.Options.HasTimestamp && s.Options.TSVal != o.tsval {
			late = int32(s.Options.TSVal-o.tsval) > 0
		} else if before := o.id - s.ID; s.ID != 0 && before > 0 && before <= 64 { // systems that count their packets
			late = false
		}
		rest := *o
		rest.first = last
		o.last = first
		switch {
		case o.last <= o.first && rest.last > rest.first:
			*o = rest
		case o.last <= o.first:
			h.holes = slices.Delete(h.holes, i, i+1)
		case rest.last > rest.first && len(h.holes) < min(maxHoles, h.details):
			h.holes = slices.Insert(h.holes, i+1, rest)
		}
		if late {
			return 1
		}
		return -1
	}
	return 0
}

// lost notes a loss of the byte first; those of one round trip are one.
func (h *half) lost(at loss, first int64) {
	if first < h.recover {
		if n := len(h.losses); n > 0 {
			h.losses[n-1].segments += at.segments
		}
		return
	}
	h.recover = h.next
	h.Counts.Events++
	if len(h.losses) < min(maxLosses, h.details) {
		at.queue = h.queue()
		h.losses = append(h.losses, at)
	}
}

// queue is how much longer than the least the last round trips took.
func (h *half) queue() int64 {
	for i, n := len(h.course.list)-1, 0; i >= 0 && n < 3; i, n = i-1, n+1 {
		if v := &h.course.list[i]; v.rttCount > 0 {
			return max(0, v.rtt()-h.rtt())
		}
	}
	return 0
}
