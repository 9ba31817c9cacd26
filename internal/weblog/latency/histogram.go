package latency

import (
	"math/bits"
)

// The histogram is linear within each decade: 1 us wide up to 1 ms, then 900
// bins for every power of ten (10 us wide from 1 ms, 100 us from 10 ms, 1 ms
// from 100 ms, 10 ms from 1 s, ...). A bin is at most 1% as wide as its values,
// so that its middle is within 0.5% of them, and every number of three
// significant digits is an edge: counts under 100 ms or 2.5 s are exact, which
// the edges of HdrHistogram (powers of two) and DDSketch (powers of gamma)
// cannot give.
const (
	firstBins  = 1000
	decadeBins = 900
	decades    = 8 // 1 ms to 10^8 ms
	// MaxMicros is the first duration (in us; 27.8 h) that is out of range.
	MaxMicros  = 100_000_000_000
	NumBins    = firstBins + decades*decadeBins + 1 // the last is for values out of range
	PageBins   = 100
	NumPages   = (NumBins + PageBins - 1) / PageBins
	maxBinEdge = NumBins - 1
)

type decade struct {
	first uint64 // the smallest value
	next  uint64 // the smallest value of the next decade
	recip uint64 // 2^64 / width, rounded up
	base  int    // bin of value v is base + v/width
}

// decadeTable maps the bit length of a value to the decade its smallest
// candidate lies in.
type decadeTable struct {
	byBits [65]uint8
	all    [decades]decade
}

var decadeOf = newDecadeTable()

func newDecadeTable() *decadeTable {
	t := new(decadeTable)
	first, width := uint64(1000), uint64(10)
	for d := range t.all {
		// v*recip>>64 is v/width for every v below 2^64/width, and the largest
		// v here is 10^11 at a width of 10^8.
		t.all[d] = decade{first: first, next: first * 10, recip: ^uint64(0)/width + 1, base: firstBins +
			d*decadeBins - 100}
		first, width = first*10, width*10
	}
	for n := range t.byBits {
		smallest := uint64(0)
		if n > 0 {
			smallest = 1 << (n - 1)
		}
		for d := range t.all {
			if smallest >= t.all[d].first {
				t.byBits[n] = uint8(d)
			}
		}
	}
	return t
}

// BinOf returns the bin of v, a duration in us (or any other count).
func BinOf(v uint64) int {
	if v < firstBins {
		return int(v)
	}
	if v >= MaxMicros {
		return NumBins - 1
	}
	t := decadeOf
	i := int(t.byBits[bits.Len64(v)])
	if v >= t.all[i&(decades-1)].next {
		i++ // no branch: it would be guessed wrong too often
	}
	d := &t.all[i&(decades-1)]
	q, _ := bits.Mul64(v, d.recip)
	return d.base + int(q)
}

// BinEdge returns the smallest value of bin i; binEdge(i+1) is the bin's
// exclusive end.
func BinEdge(i int) uint64 {
	if i < firstBins {
		return uint64(i)
	}
	if i >= maxBinEdge {
		return MaxMicros
	}
	i -= firstBins
	width := uint64(10)
	for range i / decadeBins {
		width *= 10
	}
	return width * uint64(100+i%decadeBins)
}

// Hist counts values from 0 to MaxMicros. The zero value is empty and ready.
// Its memory is bounded by 66 kB and grows with the spread of the values, not
// with their number.
type Hist struct {
	Totals
	Pages [NumPages]*[PageBins]uint64
}

// Totals are what a distribution knows exactly of its values.
type Totals struct{ N, Sum, Min, Max uint64 }

// Note enters n values of the given sum and range.
func (t *Totals) Note(n, sum, lo, hi uint64) {
	if t.N == 0 || lo < t.Min {
		t.Min = lo
	}
	if hi > t.Max {
		t.Max = hi
	}
	t.N += n
	t.Sum += sum
}

// Add counts v.
func (h *Hist) Add(v uint64) { h.AddTo(uint(BinOf(v)), v) }

// AddTo counts v, whose bin i is.
func (h *Hist) AddTo(i uint, v uint64) {
	*h.At(i)++
	h.Note(1, v, v, v)
}

// At returns the count of a bin, which Note leaves as it is.
func (h *Hist) At(i uint) *uint64 {
	if p := h.Pages[i/PageBins]; p != nil {
		return &p[i%PageBins]
	}
	return &h.Grow(i / PageBins)[i%PageBins]
}

func (h *Hist) Grow(page uint) *[PageBins]uint64 {
	p := new([PageBins]uint64)
	h.Pages[page] = p
	return p
}

// Merge adds the counts of o, which stays as it is.
func (h *Hist) Merge(o *Hist) {
	if o == nil || o.N == 0 {
		return
	}
	for i, p := range o.Pages {
		if p == nil {
			continue
		}
		to := h.Pages[i]
		if to == nil {
			to = h.Grow(uint(i))
		}
		for j, c := range p {
			to[j] += c
		}
	}
	h.Note(o.N, o.Sum, o.Min, o.Max)
}

// Each calls f for every bin with a count, in order, until f returns false.
func (h *Hist) Each(f func(bin int, count uint64) bool) {
	for i, p := range h.Pages {
		if p == nil {
			continue
		}
		for j, c := range p {
			if c != 0 && !f(i*PageBins+j, c) {
				return
			}
		}
	}
}

// Under returns how many values are less than v, exactly when v has at most
// three significant digits, else those in the bins that end at or below v.
func (h *Hist) Under(v uint64) uint64 {
	end := BinOf(v)
	if v > MaxMicros {
		end = NumBins
	}
	var n uint64
	for i, p := range h.Pages[:(end+PageBins-1)/PageBins] {
		if p == nil {
			continue
		}
		for _, c := range p[:min(PageBins, end-i*PageBins)] {
			n += c
		}
	}
	return n
}

// In returns how many values are in bin i.
func (h *Hist) In(i int) float64 {
	if p := h.Pages[i/PageBins]; p != nil {
		return float64(p[i%PageBins])
	}
	return 0
}

// Rank returns the bin of the k-th smallest value, k from 1 to Count, and false
// for an empty histogram.
func (h *Hist) Rank(k uint64) (int, bool) { return rank(k, h.N, h.Each) }

// rank finds the k-th smallest of n values.
func rank(k, n uint64, each func(func(bin int, count uint64) bool)) (found int, ok bool) {
	if n == 0 {
		return 0, false
	}
	k = max(1, min(k, n))
	each(func(bin int, count uint64) bool {
		found, ok = bin, k <= count
		k -= min(k, count)
		return !ok
	})
	return found, ok
}

// Value returns the number that stands for bin i; see binMiddle.
func (h *Hist) Value(i int, step uint64) float64 {
	hi := h.Max
	if i < maxBinEdge {
		hi = BinEdge(i+1) - 1
	}
	return binMiddle(BinEdge(i), hi, h.Min, h.Max, step)
}

// binMiddle returns the middle of what the bin from lo to hi can hold when values
// are multiples of step, kept within the range seen.
func binMiddle(lo, hi, least, most, step uint64) float64 {
	if step > 1 {
		hi = max(lo, hi/step*step)
	}
	lo, hi = max(lo, least), min(hi, most)
	return (float64(lo) + float64(hi)) / 2
}
