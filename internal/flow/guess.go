package flow

// rescale doubles the windows that are remembered, since the scale that was
// guessed was too small.
func (h *half) rescale() {
	h.guess++
	h.edge, h.window = h.una+2*(h.edge-h.una), 2*h.window
	for i := range h.history {
		e := &h.history[i]
		e.edge += e.edge - e.ack
	}
}

// guesses the largest segment where no handshake tells it: a size that several
// have and that Ethernet or jumbo frames hold, not the sums that a card makes of
// them; until then what Ethernet holds.
func (h *half) guesses(s *Segment) {
	const least, most, jumboLeast, jumboMost, several, sure = 1200, 1460, 8900, 8960, 3, 16
	n, usual := int64(s.Len), int64(most)
	if s.Options.Length >= timestampLength {
		usual -= timestampLength
	}
	h.joined = h.joined || n > most
	if (n >= least && n <= most || n >= jumboLeast && n <= jumboMost) && n >= h.common {
		if n > h.common {
			h.common, h.alike = n, 0
		}
		h.alike++
	}
	need := int64(several)
	if h.joined && h.common < usual {
		need = sure
	}
	if h.mss = usual; h.alike >= need {
		h.mss = h.common
	}
}
