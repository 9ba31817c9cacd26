package weblog

import "math"

// group is the distribution of some of the requests, with totals. There are
// hundreds of groups at a time, and every request falls into several: so their
// bins are fewer than a Hist's. Of each decade, 1.00 to 2 has steps of 0.01, 2 to
// 5 of 0.02 and 5 to 10 of 0.05: no bin is wider than 1% of its values, and
// numbers of two digits are edges. The zero value is empty and ready; its memory
// is bounded by 4 kB, but for the bins of more than 255 requests.
type group struct {
	totals
	bytes uint64
	// places says where the counts of a page of bins begin: at (place-1) pages
	// into counts; 0 is nowhere, no request fell into the page.
	places [coarsePages]uint8
	counts []uint8
	carry  map[uint]uint64 // of counts that went beyond 2^8, by bin
}

const (
	coarseFirst  = 100 // bins of 1 us below 100 us
	coarseDecade = 350
	coarseBins   = coarseFirst + (decades+1)*coarseDecade + 1 // the last is for values out of range
	coarsePage   = 64
	coarsePages  = (coarseBins + coarsePage - 1) / coarsePage
)

// coarseOf gives a group's bin for a Hist's.
var coarseOf = newCoarseTable()

func newCoarseTable() *[numBins]uint16 {
	t := new([numBins]uint16)
	for i := range t {
		switch {
		case i < coarseFirst:
			t[i] = uint16(i)
		case i == numBins-1:
			t[i] = coarseBins - 1
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

// coarseEdge returns the smallest value of a group's bin.
func coarseEdge(bin int) uint64 {
	if bin < coarseFirst {
		return uint64(bin)
	}
	if bin >= coarseBins-1 {
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

// enter counts a request whose time has bin i.
func (g *group) enter(i uint, us uint64, size int64) {
	g.raise(g.place(i), i)
	g.note(1, us, us, us)
	g.bytes += uint64(max(size, 0))
}

// place returns where in counts the count of a bin is.
func (g *group) place(bin uint) uint {
	place := uint(g.places[bin/coarsePage])
	if place == 0 {
		place = g.grow(bin / coarsePage)
	}
	return (place-1)*coarsePage + bin%coarsePage
}

// raise adds one to the count of a bin, which is at the given place.
func (g *group) raise(place, bin uint) {
	c := &g.counts[place]
	if *c++; *c == 0 {
		g.carryOver(bin, 1<<8)
	}
}

// grow makes room for a page of bins and returns its place.
func (g *group) grow(page uint) uint {
	g.counts = append(g.counts, make([]uint8, coarsePage)...)
	place := len(g.counts) / coarsePage
	g.places[page] = uint8(place)
	return uint(place)
}

// carryOver keeps what of a bin's count is beyond its 8 bits.
func (g *group) carryOver(bin uint, n uint64) {
	if g.carry == nil {
		g.carry = map[uint]uint64{}
	}
	g.carry[bin] += n
}

// addTo adds n to the count of a bin, not to the totals.
func (g *group) addTo(bin uint, n uint64) {
	at := g.place(bin) // may move the counts
	c := &g.counts[at]
	sum := uint64(*c) + n
	*c = uint8(sum)
	if high := sum &^ (1<<8 - 1); high != 0 {
		g.carryOver(bin, high)
	}
}

// merge adds the counts of o, which stays as it is.
func (g *group) merge(o *group) {
	if o.n == 0 {
		return
	}
	for page, place := range o.places {
		if place == 0 {
			continue
		}
		first := uint(page * coarsePage)
		at := g.place(first) // may move the counts
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
	g.note(o.n, o.sum, o.min, o.max)
	g.bytes += o.bytes
}

// each calls f for every bin with a count, in order, until f returns false.
func (g *group) each(f func(bin int, count uint64) bool) {
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

// under returns how many times are less than v us: exactly when v has at most
// two significant digits, else those in the bins that end at or below v.
func (g *group) under(v uint64) (n uint64) {
	end := coarseBins
	if v <= MaxMicros {
		end = int(coarseOf[binOf(v)])
	}
	g.each(func(bin int, count uint64) bool {
		if bin < end {
			n += count
		}
		return bin < end
	})
	return n
}

// rank returns the bin of the k-th smallest time, k from 1 to n, and false for
// an empty group.
func (g *group) rank(k uint64) (found int, ok bool) {
	if g.n == 0 {
		return 0, false
	}
	k = max(1, min(k, g.n))
	g.each(func(bin int, count uint64) bool {
		found, ok = bin, k <= count
		k -= min(k, count)
		return !ok
	})
	return found, ok
}

// value returns the time that stands for a bin, in us; see binMiddle.
func (g *group) value(bin int, step uint64) float64 {
	hi := g.max
	if bin < coarseBins-1 {
		hi = coarseEdge(bin+1) - 1
	}
	return binMiddle(coarseEdge(bin), hi, g.min, g.max, step)
}
