package weblog

import "math/bits"

// Making a path's pattern costs more than all the rest of a line. What it is
// follows from where the path has slashes, dots and digits, and from the digits
// that it keeps: so groups are remembered by the path with its digits turned to
// zeros, compared eight bytes at a time.

// maxKnown is the longest path, without its query, that is remembered.
const maxKnown = 64

// knownPath remembers the groups of paths that are the same but for digits that
// their pattern does not keep.
type knownPath struct {
	length int // of the path without its query; -1: empty
	words  [maxKnown / 8]uint64
	// kept has bits in the places of the digits that the pattern keeps. Where
	// there are any, words has zeros for them, too, and what they are is told
	// apart in another place of the table, with words as they are.
	kept   [maxKnown / 8]uint64
	exact  bool // words has the kept digits as they are
	keeps  bool
	groups [len(sizeNames)]*group // by size class; nil: not met yet
}

// knownPaths is a table without chains: a place holds the last one met.
type knownPaths [512]knownPath

func newKnownPaths() *knownPaths {
	t := new(knownPaths)
	for i := range t {
		t[i].length = -1
	}
	return t
}

// find returns the place of the path, which has room for a word behind it, and
// whether it is taken by it. It is nil for paths that are too long.
func (t *knownPaths) find(path []byte, depth int) *knownPath {
	n := len(path)
	if cap(path) < n+8 {
		return nil
	}
	whole := path[:n+8]
	var words [maxKnown / 8]uint64
	count, hash := 0, uint64(0)
	for i := 0; i < n; i += 8 {
		if count == len(words) {
			return nil
		}
		x := word(whole, i)
		if q := equalBytes(x, '?'*lowBits); q != 0 {
			n = min(n, i+bits.TrailingZeros64(q)/8)
		}
		if n-i < 8 {
			x &= 1<<(uint(n-i)*8) - 1
		}
		x &^= digitsIn(x) >> 7 * 0x0f
		words[count] = x
		count++
		hash = (hash ^ x) * mixer
		hash ^= hash >> 32
	}
	p := &t[(hash^uint64(n))*mixer>>55]
	if p.exact || !p.is(n, &words, count) {
		p.learn(path[:n], words, depth)
		return p
	}
	if !p.keeps {
		return p
	}
	hash = 0
	for i := range count {
		words[i] |= word(whole, i*8) & p.kept[i]
		hash = (hash ^ words[i]) * mixer
		hash ^= hash >> 32
	}
	q := &t[(hash^uint64(n)^1<<32)*mixer>>55]
	if !q.exact || !q.is(n, &words, count) {
		*q = knownPath{length: n, words: words, exact: true}
	}
	return q
}

func (p *knownPath) is(n int, words *[maxKnown / 8]uint64, count int) bool {
	if p.length != n {
		return false
	}
	var differs uint64
	for i := range count {
		differs |= p.words[i] ^ words[i]
	}
	return differs == 0
}

// learn makes p the place of the path, whose words with zeros for digits are
// given.
func (p *knownPath) learn(path []byte, words [maxKnown / 8]uint64, depth int) {
	*p = knownPath{length: len(path), words: words}
	keptDigits(path, depth, func(i int) {
		p.kept[i/8] |= 0xff << (i % 8 * 8)
		p.keeps = true
	})
}
