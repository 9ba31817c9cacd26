package regexp

import (
	"iter"
	"sync"
	"unicode/utf8"
)

// Set is expressions of which a text matches few: which ones may match is found by the pairs of letters in the text
// before any of them is tried.
type Set struct {
	expressions []*Regexp
	needs       func() [][]need
}

// need is what one of the texts that a branch requires is made of.
type need struct {
	pairs []uint16
	fold  bool
}

// SetOf makes a set whose expressions have the indices of the list.
func SetOf(list ...*Regexp) *Set {
	return &Set{list, sync.OnceValue(func() [][]need {
		all := make([][]need, len(list))
		for i, r := range list {
			all[i] = needsOf(r.branches())
		}
		return all
	})}
}

// needsOf is nil where a branch requires nothing.
func needsOf(branches []branch) (out []need) {
	for _, b := range branches {
		if len(b.texts) == 0 {
			return nil
		}
		for _, t := range b.texts {
			n := need{fold: b.fold}
			for i := 1; i < len(t); i++ {
				n.pairs = append(n.pairs, pair(t[i-1], t[i]))
			}
			out = append(out, n)
		}
	}
	return out
}

// Matching yields the indices of the expressions that match a text, in order.
func (s *Set) Matching(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		p := pairsOf(text)
		for i, needs := range s.needs() {
			if p.mayHold(needs) && s.expressions[i].MatchString(text) && !yield(i) {
				return
			}
		}
	}
}

// pairs are the pairs of letters of a text, in either case; some pairs share a bit.
type pairs struct {
	bits  [1 << 12 / 64]uint64
	ascii bool
}

func pairsOf(text string) (p pairs) {
	p.ascii = true
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			p.ascii = false
		}
		if i > 0 {
			at := pair(text[i-1], text[i])
			p.bits[at/64] |= 1 << (at % 64)
		}
	}
	return p
}

func pair(a, b byte) uint16 { return (uint16(lowerCase(a))<<5 ^ uint16(lowerCase(b))) & (1<<12 - 1) }

func lowerCase(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// mayHold reports whether one of the needs is met, or nothing is needed. A letter beyond ASCII may be equal to one in it
// in the other case.
func (p *pairs) mayHold(needs []need) bool {
	for _, n := range needs {
		if n.fold && !p.ascii || p.all(n.pairs) {
			return true
		}
	}
	return needs == nil
}

func (p *pairs) all(list []uint16) bool {
	for _, at := range list {
		if p.bits[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return true
}
