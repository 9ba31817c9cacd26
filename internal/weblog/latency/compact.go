package latency

import "math"

// Group is the distribution of some of the requests, with totals. There are
// hundreds of groups at a time, and every request falls into several: so their
// bins are fewer than a Hist's. Of each decade, 1.00 to 2 has steps of 0.01, 2 to
// 5 of 0.02 and 5 to 10 of 0.05: no bin is wider than 1% of its values, and
// numbers of two digits are edges. The zero value is empty and ready; its memory
// is bounded by 4 kB, but for the bins of more than 255 requests.
type Group struct {
	Totals
	Bytes uint64
	// places says where the counts of a page of bins begin: at (place-1) pages
	// into counts; 0 is nowhere, no request fell into the page.
	places [coarsePages]uint8
	counts []uint8
	carry  map[uint]uint64 // of counts that went beyond 2^8, by bin
}

const (
	coarseFirst  = 100 // bins of 1 us below 100 us
	coarseDecade = 350
	CoarseBins   = coarseFirst + (decades+1)*coarseDecade + 1 // the last is for values out of range
	coarsePage   = 64
	coarsePages  = (CoarseBins + coarsePage - 1) / coarsePage
)

// CoarseOf gives a group's bin for a Hist's.
var CoarseOf = newCoarseTable()

func newCoarseTable() *[NumBins]uint16 {
	t := new([NumBins]uint16)
	for i := range t {
		switch {
		case i < coarseFirst:
			t[i] = uint16(i)
		case i == NumBins-1:
			t[i] = CoarseBins - 1
		default:
			decade, digits := 0, i
			if i >= firstBins {
				decade, digits = 1+(i-firstBins)/decadeBins, 100+(i-firstBins)%decadeBins
			}
			t[i] = uint16(coarseFirst + decade*coarseDecade + coarseStep(digits))
		}
	}
	return t
}

// coarseStep returns the bin of three digits within their decade.
func coarseStep(digits int) int {
	switch {
	case digits < 200:
		return digits - 100
	case digits < 500:
		return 100 + (digits-200)/2
	}
	return 250 + (digits-500)/5
}

// CoarseEdge returns the smallest value of a group's bin.
func CoarseEdge(bin int) uint64 {
	if bin < coarseFirst {
		return uint64(bin)
	}
	if bin >= CoarseBins-1 {
		return MaxMicros
	}
	bin -= coarseFirst
	decade, step := bin/coarseDecade, bin%coarseDecade
	digits := 100 + step
	if step >= 250 {
		digits = 500 + (step-250)*5
	} else if step >= 100 {
		digits = 200 + (step-100)*2
	}
	return uint64(digits) * uint64(math.Pow10(decade))
}

// Enter counts a request whose time has bin i.
func (g *Group) Enter(i uint, us uint64, size int64) {
	g.Raise(g.Place(i), i)
	g.Note(1, us, us, us)
	g.Bytes += uint64(max(size, 0))
}

// Place returns where in counts the count of a bin is.
func (g *Group) Place(bin uint) uint {
	place := uint(g.places[bin/coarsePage])
	if place == 0 {
		place = g.grow(bin / coarsePage)
	}
	return (place-1)*coarsePage + bin%coarsePage
}

// Raise adds one to the count of a bin, which is at the given place.
func (g *Group) Raise(place, bin uint) {
	c := &g.counts[place]
	if *c++; *c == 0 {
		g.carryOver(bin, 1<<8)
	}
}

// grow makes room for a page of bins and returns its place.
func (g *Group) grow(page uint) uint {
	g.counts = append(g.counts, make([]uint8, coarsePage)...)
	place := len(g.counts) / coarsePage
	g.places[page] = uint8(place)
	return uint(place)
}

// carryOver keeps what of a bin's count is beyond its 8 bits.
func (g *Group) carryOver(bin uint, n uint64) {
	if g.carry == nil {
		g.carry = map[uint]uint64{}
	}
	g.carry[bin] += n
}

// AddTo adds n to the count of a bin, not to the totals.
func (g *Group) AddTo(bin uint, n uint64) {
	at := g.Place(bin) // may move the counts
	c := &g.counts[at]
	sum := uint64(*c) + n
	*c = uint8(sum)
	if high := sum &^ (1<<8 - 1); high != 0 {
		g.carryOver(bin, high)
	}
}

// Merge adds the counts of o, which stays as it is.
func (g *Group) Merge(o *Group) {
	if o.N == 0 {
		return
	}
	for page, place := range o.places {
		if place == 0 {
			continue
		}
		first := uint(page * coarsePage)
		at := g.Place(first) // may move the counts
		to := g.counts[at:][:coarsePage]
		for i, count := range o.counts[(int(place)-1)*coarsePage:][:coarsePage] {
			if to[i] += count; to[i] < count {
				g.carryOver(first+uint(i), 1<<8)
			}
		}
	}
	for bin, count := range o.carry {
		g.carryOver(bin, count)
	}
	g.Note(o.N, o.Sum, o.Min, o.Max)
	g.Bytes += o.Bytes
}

// Each calls f for every bin with a count, in order, until f returns false.
func (g *Group) Each(f func(bin int, count uint64) bool) {
	for page, place := range g.places {
		if place == 0 {
			continue
		}
		for i, c := range g.counts[(int(place)-1)*coarsePage:][:coarsePage] {
			bin := page*coarsePage + i
			count := uint64(c)
			if g.carry != nil {
				count += g.carry[uint(bin)]
			}
			if count != 0 && !f(bin, count) {
				return
			}
		}
	}
}

// Under returns how many times are less than v us: exactly when v has at most
// two significant digits, else those in the bins that end at or below v.
func (g *Group) Under(v uint64) (n uint64) {
	end := CoarseBins
	if v <= MaxMicros {
		end = int(CoarseOf[BinOf(v)])
	}
	g.Each(func(bin int, count uint64) bool {
		if bin < end {
			n += count
		}
		return bin < end
	})
	return n
}

// Rank returns the bin of the k-th smallest time, k from 1 to n, and false for
// an empty group.
func (g *Group) Rank(k uint64) (found int, ok bool) { return rank(k, g.N, g.Each) }

// Value returns the time that stands for a bin, in us; see binMiddle.
func (g *Group) Value(bin int, step uint64) float64 {
	hi := g.Max
	if bin < CoarseBins-1 {
		hi = CoarseEdge(bin+1) - 1
	}
	return binMiddle(CoarseEdge(bin), hi, g.Min, g.Max, step)
}
