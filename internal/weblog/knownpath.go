package weblog

import (
	"bytes"
	"encoding/binary"

	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// Making a path's pattern costs more than all the rest of a line. It follows from
// where the path has slashes, dots and digits, from its other bytes, and from the
// digits that the pattern keeps: so groups are remembered by the path with its other
// digits turned to zeros. appendPattern is the plain way.

// maxKnown is the longest path, without its query, that is remembered.
const maxKnown = 64

// pathWords are the bytes of a path, eight to each, and zeros behind.
type pathWords [maxKnown / 8]uint64

// differ is 0 where two halves are the same. (In Go, ^ and | bind alike: each
// difference needs its parentheses.)
func differ(p, o *[maxKnown / 16]uint64) uint64 {
	return (p[0] ^ o[0]) | (p[1] ^ o[1]) | (p[2] ^ o[2]) | (p[3] ^ o[3])
}

// is reports whether two paths of the same length, both long or both not, are the same.
func (p *pathWords) is(o *pathWords, long bool) bool {
	d := differ((*[4]uint64)(p[:4]), (*[4]uint64)(o[:4]))
	if long {
		d |= differ((*[4]uint64)(p[4:]), (*[4]uint64)(o[4:]))
	}
	return d == 0
}

// hash depends on all bits; its upper ones are the best. No product waits for another,
// and their factors are odd.
func (p *pathWords) hash(seed int, long bool) uint64 {
	h := uint64(seed)*mixer + fold(p[0], 0) + fold(p[1], 1) + fold(p[2], 2) + fold(p[3], 3)
	if long {
		h += fold(p[4], 4) + fold(p[5], 5) + fold(p[6], 6) + fold(p[7], 7)
	}
	return h ^ h<<32
}

func fold(w, i uint64) uint64 { return (w ^ w>>32) * (mixer + i<<41) }

// knownPath is what is known of the paths that are the same but for digits.
type knownPath struct {
	key    int  // 0: empty; length of the path, plus one, or minus that with words as they are
	keeps  bool // the pattern keeps digits: which they are is told apart in another place
	words  pathWords
	groups [len(sizeNames)]*latency.Group // by size class; nil: not met yet
	kept   pathWords                      // ones in the places of the digits that the pattern keeps
	last   *knownPath                     // the place found last for what the kept digits are
}

// knownPaths has two places for each hash.
type knownPaths [1024]knownPath

// find returns what is known of the paths with the pattern of this one; nil for a path
// that is too long or near the end of its buffer.
func (t *knownPaths) find(path []byte, depth int) *knownPath {
	n := len(path)
	if cap(path) < maxKnown {
		return nil
	}
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		n = i
	}
	if n > maxKnown {
		return nil
	}
	var words, zeroed pathWords
	used, long := len(words), n > maxKnown/2
	if !long {
		used = len(words) / 2
	}
	for i := range used {
		words[i] = word(path[:maxKnown], i*8) & word(onesThenZeros[maxKnown-n:], i*8)
		zeroed[i] = zeroDigits(words[i])
	}
	p, found := t.place(n+1, &zeroed, long)
	if !found {
		keptDigits(path[:n], depth, func(i int) {
			p.kept[i/8] |= 0xff << (i % 8 * 8)
			p.keeps = true
		})
	}
	if !p.keeps {
		return p
	}
	for i := range used {
		zeroed[i] |= words[i] & p.kept[i]
	}
	if q := p.last; q == nil || q.key != -n-1 || !q.words.is(&zeroed, long) {
		p.last, _ = t.place(-n-1, &zeroed, long)
	}
	return p.last
}

// place returns the place of a key, which it makes that of the key if there is none.
func (t *knownPaths) place(key int, words *pathWords, long bool) (p *knownPath, found bool) {
	at := words.hash(key, long) >> 54 // of 1024
	p = &t[at]
	if p.key == key && p.words.is(words, long) {
		return p, true
	}
	if q := &t[at^1]; q.key == key && q.words.is(words, long) {
		return q, true
	} else if q.key == 0 {
		p = q
	}
	*p = knownPath{key: key, words: *words}
	return p, false
}

// onesThenZeros has, from maxKnown-n on, all bits of n bytes set and none behind.
var onesThenZeros = newOnesThenZeros()

func newOnesThenZeros() (b [2 * maxKnown]byte) {
	for i := range maxKnown {
		b[i] = 0xff
	}
	return b
}

// zeroDigits turns the digits among the bytes of x to zeros.
func zeroDigits(x uint64) uint64 {
	const high, zeros, beyond = 0x8080808080808080, 0x3030303030303030, 0x7676767676767676
	value := x ^ zeros
	digits := ^((value&^high + beyond) | value) & high // the top bit of each digit
	return x &^ (digits >> 7 * 0x0f)
}

// word returns eight bytes of b from i on.
func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }
