package flow

// finishes takes the end of the data, which takes one place in the sequence
// space and is sent again like data.
func (h *half) finishes(s *Segment) {
	at := unwrap(h.next, s.Seq) + int64(s.Len)
	switch {
	case !h.fin:
		h.fin, h.finAt = true, at
	case at == h.finAt && s.Len == 0:
		h.Counts.Again++
		if s.Time-h.finTime >= minTimeout {
			h.Counts.Timer++
		} else {
			h.Counts.Tail++
		}
		h.event(s, "end of the data sent again")
	}
	h.finTime = s.Time
}

// position is what an acknowledgement's number stands for: a byte of the data,
// since the end of the data, which it may count too, is none.
func (h *half) position(seq uint32) int64 {
	at := unwrap(h.una, seq)
	if h.fin && at == h.finAt+1 {
		h.finAcked = true
		return h.finAt
	}
	return at
}
