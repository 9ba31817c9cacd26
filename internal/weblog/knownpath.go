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

// find returns the place of the path, which has room behind it, and makes it that
// of the path if it was another's. It is nil for paths that are too long.
func (t *knownPaths) find(path []byte, depth int) *knownPath {
	if cap(path) < maxKnown {
		return nil
	}
	// All words of a half are looked at, whatever the path's length: a loop that
	// ends with the path costs a mispredicted branch each time.
	whole := (*[maxKnown]byte)(path[:maxKnown])
	n, query := len(path), questionMarks(whole[:32])
	if n > 32 {
		query |= questionMarks(whole[32:]) << 32
	}
	if n > maxKnown && query == 0 {
		return nil
	}
	n = min(n, bits.TrailingZeros64(query))
	var words [maxKnown / 8]uint64
	keep := onesThenZeros[maxKnown-n:][:maxKnown]
	hash := uint64(n) + withoutDigits(whole[:32], keep[:32], words[:4])
	if n > 32 {
		hash += withoutDigits(whole[32:], keep[32:], words[4:]) * mixer
	}
	p := &t[hash*mixer>>55]
	if p.exact || p.length != n || p.words != words {
		p.learn(path[:n], words, depth)
		return p
	}
	if !p.keeps {
		return p
	}
	hash = uint64(n)
	for i := range words {
		words[i] |= word(path, i*8) & p.kept[i]
		hash = (hash ^ words[i]) * mixer
		hash ^= hash >> 32
	}
	q := &t[hash*mixer>>55]
	if !q.exact || q.length != n || q.words != words {
		*q = knownPath{length: n, words: words, exact: true}
	}
	return q
}

// onesThenZeros has, from maxKnown-n on, all bits of n bytes set and none behind.
var onesThenZeros = newOnesThenZeros()

func newOnesThenZeros() (b [2 * maxKnown]byte) {
	for i := range maxKnown {
		b[i] = 0xff
	}
	return b
}

// questionMarks returns a bit for each of 32 bytes that is a question mark.
func questionMarks(b []byte) uint64 {
	const marks = '?' * lowBits
	_ = b[:32]
	return gather(equalBytes(word(b, 0), marks)) | gather(equalBytes(word(b, 8), marks))<<8 |
		gather(equalBytes(word(b, 16), marks))<<16 | gather(equalBytes(word(b, 24), marks))<<24
}

// withoutDigits puts into to those of 32 bytes that keep has set, with zeros for
// digits, and returns a hash of them.
func withoutDigits(b, keep []byte, to []uint64) (hash uint64) {
	_, _, _ = b[:32], keep[:32], to[:4]
	to[0] = zeroDigits(word(b, 0) & word(keep, 0))
	to[1] = zeroDigits(word(b, 8) & word(keep, 8))
	to[2] = zeroDigits(word(b, 16) & word(keep, 16))
	to[3] = zeroDigits(word(b, 24) & word(keep, 24))
	hash = ((to[0]*mixer+to[1])*mixer+to[2])*mixer + to[3]
	return hash ^ hash>>32
}

// zeroDigits turns the digits of x to zeros.
func zeroDigits(x uint64) uint64 { return x &^ (digitsIn(x) >> 7 * 0x0f) }

// learn makes p the place of the path, whose words with zeros for digits are
// given.
func (p *knownPath) learn(path []byte, words [maxKnown / 8]uint64, depth int) {
	*p = knownPath{length: len(path), words: words}
	keptDigits(path, depth, func(i int) {
		p.kept[i/8] |= 0xff << (i % 8 * 8)
		p.keeps = true
	})
}
