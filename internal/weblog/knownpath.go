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

// is reports whether two paths of the same length are the same. (In Go, ^ and | bind
// alike: each difference needs its parentheses.)
func (p *pathWords) is(o *pathWords) bool {
	return (p[0]^o[0])|(p[1]^o[1])|(p[2]^o[2])|(p[3]^o[3])|(p[4]^o[4])|(p[5]^o[5])|(p[6]^o[6])|(p[7]^o[7]) == 0
}

// hash depends on all bits; its upper ones are the best.
func (p *pathWords) hash(seed int) uint64 {
	h := uint64(seed) * mixer
	for i, w := range p {
		h += (w ^ w>>32) * (mixer + uint64(2*i)<<40) // odd factors, none waits for another's product
	}
	return h ^ h<<32
}

// knownPath is what is known of the paths that are the same but for digits.
type knownPath struct {
	key    int // 0: empty; length of the path, plus one, or minus that with words as they are
	words  pathWords
	kept   pathWords                      // ones in the places of the digits that the pattern keeps
	keeps  bool                           // there are such: which they are is told apart in another place
	groups [len(sizeNames)]*latency.Group // by size class; nil: not met yet
}

// knownPaths has two places for each hash.
type knownPaths [1024]knownPath

// find returns what is known of the paths with the pattern of this one; nil for a path
// that is too long or near the end of its buffer.
func (t *knownPaths) find(path []byte, depth int) *knownPath {
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	n := len(path)
	if n > maxKnown || cap(path) < maxKnown {
		return nil
	}
	text, mask := path[:maxKnown], onesThenZeros[maxKnown-n:][:maxKnown]
	var words, zeroed pathWords
	used := len(words)
	if n <= maxKnown/2 {
		used = len(words) / 2
	}
	for i := range used {
		words[i] = binary.LittleEndian.Uint64(text[i*8:]) & binary.LittleEndian.Uint64(mask[i*8:])
		zeroed[i] = zeroDigits(words[i])
	}
	p, found := t.place(n+1, &zeroed)
	if !found {
		keptDigits(path, depth, func(i int) {
			p.kept[i/8] |= 0xff << (i % 8 * 8)
			p.keeps = true
		})
	}
	if !p.keeps {
		return p
	}
	for i := range zeroed {
		zeroed[i] |= words[i] & p.kept[i]
	}
	p, _ = t.place(-n-1, &zeroed)
	return p
}

// place returns the place of a key, which it makes that of the key if there is none.
func (t *knownPaths) place(key int, words *pathWords) (p *knownPath, found bool) {
	at := words.hash(key) >> 54 // of 1024
	p = &t[at]
	if p.key == key && p.words.is(words) {
		return p, true
	}
	if q := &t[at^1]; q.key == key && q.words.is(words) {
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
