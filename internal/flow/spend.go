package flow

import "slices"

// spend puts the time since the last send down to what kept the sender from
// sending earlier, as what it sends now and why shows.
func (h *half) spend(s *Segment, first, last, una int64, again bool) {
	from, t := h.lastSend, s.Time
	reason := open
	switch waited := t - from; {
	case waited <= 0:
	case again && last != h.probe && h.timed(t, first, last):
		reason = stalled
		if len(h.stalls) < min(maxLosses, h.details) {
			h.stalls = append(h.stalls, stall{from, t, first, last})
		}
	case h.lastRoom < h.mss && waited > ms/10 && !(h.unscaled && h.short() && h.lastRoom > 0):
		// where the scale is guessed, the window is as large as what was under way at the most
		reason = h.windowed()
	case again || una < h.recover || h.paced(waited):
	case una >= h.next:
		reason = h.idle(s, waited)
	case h.freed > 0 && t-h.freed-h.far > h.pause():
		h.pauses.add(h.next-una, h.next, h.triggered(t))
		if h.short() || !h.triggered(t) {
			reason = paused
		}
	}
	h.course.spread(from, t, reason, h.limit)
	if t-from > ms/2 {
		h.burst = 0
	}
	h.burst += int64(s.Len)
}

// timed tells that what is sent again is not sent for an acknowledgement but by
// a timer: after what most systems wait at least, or sooner where it is the first
// that is not acknowledged, more was sent behind it, and none of that was
// acknowledged selectively. A tail probe is of the last one, and RACK (RFC 8985)
// waits for less where later ones arrived.
func (h *half) timed(t, first, last int64) bool {
	heard := h.lastHeard + h.far // when the sender did
	answered := heard > h.lastSend && t-heard <= h.pause()
	least := minTimeout
	waited := t - h.lastSend
	if quick := max(quickTimeout, h.rtt()*3/2); waited >= quick && waited < least && first <= h.una && last < h.next &&
		!slices.ContainsFunc(h.out, func(o sent) bool { return o.sacked }) {
		least = quick
	}
	return waited >= max(least, h.rtt()) && !answered
}

// pause is what is longer than the sender takes to answer an acknowledgement,
// seen from as far away as the capture was made.
func (h *half) pause() int64 { return max(ms, h.far/8) }

// short tells that the last segment was not a full one: nothing more was there
// to send then.
func (h *half) short() bool { return h.mss > 0 && h.lastLen%h.mss != 0 }

// triggered tells that an acknowledgement made the sender send, as it does
// when it waits for room of any kind.
func (h *half) triggered(t int64) bool {
	return t-h.lastAck-h.far <= max(3*ms/10, h.ackGap/4, h.far/32)
}

// windowed tells a window that is as large as the peer makes it from one that
// closes.
func (h *half) windowed() why {
	switch {
	case h.lastLen < h.mss/2 && h.lastRoom <= 0 && h.window < 2*h.mss:
		return silly
	case h.lowWindow < h.widest/2:
		return closing
	}
	return full
}

// idle is why nothing was sent with everything acknowledged: Nagle's algorithm
// keeps a short segment back until an acknowledgement, that a receiver which
// waits for data to answer with delays by 40 ms (Linux) to 200 ms.
func (h *half) idle(s *Segment, waited int64) why {
	const delayed = 30 * ms
	switch answered := h.lastAck > h.lastSend-h.far && h.triggered(s.Time); {
	case answered && h.short() && waited >= h.rtt()+delayed:
		return nagled
	case answered && !h.short():
		return open
	}
	return idle
}

// paced tells the pause of a sender that spaces full segments evenly: Linux
// sends what is of a millisecond, and two segments at least.
func (h *half) paced(waited int64) bool {
	if h.mss == 0 || h.short() || waited > h.rtt()+h.pause() {
		return false
	}
	var rate float64 // bytes a second
	if life := h.lastTime - h.firstTime; life > 0 {
		rate = float64(h.next-h.first) / float64(life) * 1e9
	}
	return float64(h.burst) <= 1.5*max(float64(2*h.mss), rate/1000) &&
		float64(waited) <= 4e9*float64(h.burst)/max(rate, 1)
}
