package regexp

import (
	"iter"
	"sync"
	"unicode/utf8"
)

// Set is expressions of which a text matches few: which of their branches may match is found by the pairs of letters in
// the text before any is tried.
type Set struct {
	members func() [][]member
}

// member is a branch with what the texts that it requires are made of.
type member struct {
	branch
	needs [][]uint16
}

// SetOf makes a set whose expressions have the indices of the list.
func SetOf(list ...*Regexp) *Set {
	return &Set{sync.OnceValue(func() [][]member {
		all := make([][]member, len(list))
		for i, r := range list {
			for _, b := range r.branches() {
				all[i] = append(all[i], member{b, needsOf(b.texts)})
			}
		}
		return all
	})}
}

func needsOf(texts []string) (out [][]uint16) {
	for _, t := range texts {
		var need []uint16
		for i := 1; i < len(t); i++ {
			need = append(need, pair(t[i-1], t[i]))
		}
		out = append(out, need)
	}
	return out
}

// Matching yields the indices of the expressions that match a text, in order.
func (s *Set) Matching(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		p := pairsOf(text)
		for i, branches := range s.members() {
			for j := range branches {
				if b := &branches[j]; p.mayHold(b) && b.compiled().MatchString(text) {
					if !yield(i) {
						return
					}
					break
				}
			}
		}
	}
}

// pairs are the pairs of letters of a text, in either case; some pairs share a bit.
type pairs struct {
	text  string
	bits  [1 << 12 / 64]uint64
	ascii bool
}

func pairsOf(text string) (p pairs) {
	p.text, p.ascii = text, true
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

// mayHold reports whether one of the texts that a branch requires may be there, or it requires none. A letter beyond
// ASCII may be equal to one in it in the other case.
func (p *pairs) mayHold(m *member) bool {
	if len(m.needs) == 0 || m.fold && !p.ascii {
		return true
	}
	for _, need := range m.needs {
		if p.all(need) {
			return m.within(p.text)
		}
	}
	return false
}

func (p *pairs) all(need []uint16) bool {
	for _, at := range need {
		if p.bits[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return true
}
