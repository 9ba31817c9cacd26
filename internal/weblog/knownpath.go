package weblog

import "bytes"

// Making a path's pattern costs more than all the rest of a line. What it is
// follows from where the path has slashes, dots and digits, and from the digits
// that it keeps: so groups are remembered by the path with its digits turned to
// zeros, compared eight bytes at a time.

// maxKnown is the longest path, without its query, that is remembered.
const maxKnown = 64

// knownPath remembers the groups of paths that are the same but for digits that
// their pattern does not keep.
type knownPath struct {
	length int // of the path without its query; -1: empty; more than maxKnown: see kept
	words  [maxKnown / 8]uint64
	// kept has bits in the places of the digits that the pattern keeps. Where
	// there are any, words has zeros for them, too, and what they are is told
	// apart in another place of the table, with words as they are and a length
	// that is maxKnown+1 more.
	kept   [maxKnown / 8]uint64
	keeps  bool
	last   *knownPath             // the place last found for what the kept digits are
	groups [len(sizeNames)]*group // by size class; nil: not met yet
}

// knownPaths is a table with two places for each hash.
type knownPaths [1024]knownPath

func newKnownPaths() *knownPaths {
	t := new(knownPaths)
	for i := range t {
		t[i].length = -1
	}
	return t
}

// find returns the place of the path, which has room behind it, and makes it that
// of the path if it was another's. It is nil for paths that are too long.
func (t *knownPaths) find(path []byte, depth int) *knownPath {
	if cap(path) < maxKnown {
		return nil
	}
	n := len(path)
	if n > maxKnown/2 {
		return t.findLong(path, depth)
	}
	// All words of a half are looked at, whatever the path's length: a loop that
	// ends with the path costs a mispredicted branch each time.
	b, keep := (*[maxKnown / 2]byte)(path[:maxKnown/2]), onesThenZeros[maxKnown-n:][:maxKnown/2]
	w0, w1 := word(b[:], 0)&word(keep, 0), word(b[:], 8)&word(keep, 8)
	w2, w3 := word(b[:], 16)&word(keep, 16), word(b[:], 24)&word(keep, 24)
	if mayHave(w0, marks)|mayHave(w1, marks)|mayHave(w2, marks)|mayHave(w3, marks) != 0 {
		if i := bytes.IndexByte(path, '?'); i >= 0 {
			return t.find(path[:i], depth)
		}
	}
	w0, w1, w2, w3 = zeroDigits(w0), zeroDigits(w1), zeroDigits(w2), zeroDigits(w3)
	hash := hashWords(uint64(n), w0, w1, w2, w3)
	p := &t[hash%uint64(len(t))]
	if p.length != n || p.words[0]^w0|p.words[1]^w1|p.words[2]^w2|p.words[3]^w3 != 0 {
		p = t.place(hash, path, [maxKnown / 8]uint64{w0, w1, w2, w3}, depth)
	}
	if !p.keeps {
		return p
	}
	if q := p.last; q != nil && q.length == n+maxKnown+1 && q.words[0]^(w0|word(b[:], 0)&p.kept[0])|q.words[1]^(w1|word(b[:], 8)&p.kept[1])|
		q.words[2]^(w2|word(b[:], 16)&p.kept[2])|q.words[3]^(w3|word(b[:], 24)&p.kept[3]) == 0 {
		return q
	}
	return t.findExact(path, p)
}

// findLong is find for a path of more than half of maxKnown bytes.
func (t *knownPaths) findLong(path []byte, depth int) *knownPath {
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		return t.find(path[:i], depth)
	}
	n := len(path)
	if n > maxKnown {
		return nil
	}
	var words [maxKnown / 8]uint64
	for i := range words {
		words[i] = zeroDigits(word(path[:maxKnown], i*8) & word(onesThenZeros[maxKnown-n:], i*8))
	}
	hash := hashWords(hashWords(uint64(n), words[0], words[1], words[2], words[3]), words[4], words[5], words[6], words[7])
	p := t.place(hash, path, words, depth)
	if !p.keeps {
		return p
	}
	return t.findExact(path, p)
}

// findExact returns the place of a path for which p says what digits its pattern
// keeps.
func (t *knownPaths) findExact(path []byte, p *knownPath) *knownPath {
	words := p.words
	for i := range words {
		words[i] |= word(path[:maxKnown], i*8) & p.kept[i]
	}
	hash := hashWords(hashWords(0, words[0], words[1], words[2], words[3]), words[4], words[5], words[6], words[7])
	p.last = t.place(hash, path, words, exactly)
	return p.last
}

// exactly is the depth for place where the words are as they are.
const exactly = -1

// place returns the place of the path of the given words, which it makes that of
// the path if there is none.
func (t *knownPaths) place(hash uint64, path []byte, words [maxKnown / 8]uint64, depth int) *knownPath {
	hash %= uint64(len(t))
	p, q := &t[hash], &t[hash^1]
	n := len(path)
	if depth == exactly {
		n += maxKnown + 1
	}
	switch {
	case p.length == n && p.words == words:
		return p
	case q.length == n && q.words == words:
		return q
	case q.length < 0:
		p = q
	}
	*p = knownPath{length: n, words: words}
	if depth != exactly {
		keptDigits(path, depth, func(i int) {
			p.kept[i/8] |= 0xff << (i % 8 * 8)
			p.keeps = true
		})
	}
	return p
}

// marks is eight question marks.
const marks = '?' * lowBits

// onesThenZeros has, from maxKnown-n on, all bits of n bytes set and none behind.
var onesThenZeros = newOnesThenZeros()

func newOnesThenZeros() (b [2 * maxKnown]byte) {
	for i := range maxKnown {
		b[i] = 0xff
	}
	return b
}

// hashWords takes four words into a hash, whose lower bits are the best.
func hashWords(hash, a, b, c, d uint64) uint64 {
	hash = ((((hash^a)*mixer^b)*mixer^c)*mixer ^ d) * mixer
	return hash ^ hash>>32
}

// zeroDigits turns the digits of x to zeros.
func zeroDigits(x uint64) uint64 { return x &^ (digitsIn(x) >> 7 * 0x0f) }
