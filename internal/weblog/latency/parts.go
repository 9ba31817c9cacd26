package latency

import "slices"

// MaxClusters is how many parts of a log are kept apart to judge how much the
// distribution varies within it.
const MaxClusters = 64

// ReduceClusters joins neighbours, those of the fewest requests first, until there are
// at most maxClusters. Each is then worth about the same, however many sketches were
// merged one after the other.
func ReduceClusters(c []*Hist) []*Hist {
	for len(c) > MaxClusters {
		least := 0
		for i := range len(c) - 1 {
			if c[i].N+c[i+1].N < c[least].N+c[least+1].N {
				least = i
			}
		}
		c[least].Merge(c[least+1])
		c = slices.Delete(c, least+1, least+2)
	}
	return c
}

// Segments are the clusters of a log while it is read: its times by position
// in the input, 2^shift bytes to each. When the input outgrows them, their
// width doubles, so that any log ends with 32 to 64 (if it has as many lines).
type Segments struct {
	shift uint
	hists [MaxClusters]*Hist
}

// At returns the histogram for the line at pos and the position of its end.
func (s *Segments) At(pos int64) (*Hist, int64) {
	for pos>>s.shift >= MaxClusters {
		s.widen()
	}
	i := pos >> s.shift
	if s.hists[i] == nil {
		s.hists[i] = new(Hist)
	}
	return s.hists[i], (i + 1) << s.shift
}

func (s *Segments) widen() {
	s.shift++
	old := s.hists
	s.hists = [MaxClusters]*Hist{}
	for i, h := range old {
		s.join(i/2, h)
	}
}

// join adds h, which may be nil and is used up, to a cluster.
func (s *Segments) join(i int, h *Hist) {
	if s.hists[i] == nil {
		s.hists[i] = h
	} else {
		s.hists[i].Merge(h)
	}
}

// Merge adds o, whose widths may differ. o is used up.
func (s *Segments) Merge(o *Segments) {
	for s.shift < o.shift {
		s.widen()
	}
	for o.shift < s.shift {
		o.widen()
	}
	for i, h := range o.hists {
		s.join(i, h)
	}
}

// List returns the clusters in order.
func (s *Segments) List() []*Hist {
	var out []*Hist
	for _, h := range s.hists {
		if h != nil && h.N > 0 {
			out = append(out, h)
		}
	}
	return out
}
