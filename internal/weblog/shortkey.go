package weblog

import (
	"encoding/binary"
	"math/bits"
)

// shortKey is a pathTable's key of at most 64 bytes, made eight bytes at a time:
// copying, hashing and comparing a few bytes at any length costs more than the
// rest of the work. What follows the key's last byte in its word is 0.
type shortKey struct {
	length int
	bytes  [shortBytes + 72]byte
}

const shortBytes = 64

// begin makes the key the size class alone.
func (k *shortKey) begin(size byte) {
	k.bytes[0] = size
	k.length = 1
}

// word returns the i-th eight bytes.
func (k *shortKey) word(i int) uint64 { return binary.LittleEndian.Uint64(k.bytes[i*8:]) }

// put appends the first n bytes of text, at most maxSegment, which has at least
// eight bytes behind them.
func (k *shortKey) put(text []byte, n int) {
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(k.bytes[k.length+i:], word(text, i))
	}
	k.length += n
}

func (k *shortKey) putByte(c byte) {
	k.bytes[k.length] = c
	k.length++
}

// pattern appends what appendPattern does. It gives up on paths that are long,
// do not begin with a slash or do not lie inside a longer buffer.
func (k *shortKey) pattern(path []byte, depth int) bool {
	n := len(path)
	if n == 0 || n > 64 || path[0] != '/' || cap(path) < n+8 {
		return false
	}
	whole := path[:n+8]
	var cuts, digits, dots uint64
	for i := 0; i < n; i += 8 {
		x, at := word(whole, i), uint(i)&63
		cuts |= gather(equalBytes(x|0x10*lowBits, '?'*lowBits)) << at // '/' and '?'
		digits |= gather(digitsIn(x)) << at
		dots |= gather(equalBytes(x, '.'*lowBits)) << at
	}
	cuts &= ^uint64(0) >> (uint(64-n) & 63)
	cuts &= cuts - 1
	k.putByte('/')
	for pos, segments := 1, 0; k.length <= shortBytes; segments++ {
		end := bits.TrailingZeros64(cuts)
		more := end < n && path[end] == '/'
		end = min(end, n)
		if pos == end && !more {
			return k.finish()
		}
		if segments == depth {
			k.putByte('*')
			k.putByte('*')
			return k.finish()
		}
		if pos < end {
			k.segment(whole, pos, end, digits, dots)
		}
		if !more {
			return k.finish()
		}
		k.putByte('/')
		pos = end + 1
		cuts &= cuts - 1
	}
	return false
}

// segment appends path[pos:end] or, like appendSegment, what stands for it.
// digits and dots say where the path has them.
func (k *shortKey) segment(path []byte, pos, end int, digits, dots uint64) {
	length := end - pos
	cut := uint(64-length) & 63
	found := bits.OnesCount64(digits >> (uint(pos) & 63) << cut)
	if found < 3 && length <= maxSegment && (found < length || found == 0) {
		k.put(path[pos:], length)
		return
	}
	k.putByte('*')
	extension := bits.LeadingZeros64(dots>>(uint(pos)&63)<<cut) + 1 // with its dot
	if extension < length && extension <= 6 && found < length {
		k.put(path[end-extension:], extension)
	}
}

// finish clears what is behind the key in its last word.
func (k *shortKey) finish() bool {
	if k.length > shortBytes {
		return false
	}
	at := k.length &^ 7
	last := binary.LittleEndian.Uint64(k.bytes[at:])
	binary.LittleEndian.PutUint64(k.bytes[at:], last&(1<<(uint(k.length&7)*8)-1))
	return true
}

// recentPatterns remembers the groups of keys that were looked up lately.
type recentPatterns [512]recentPattern

type recentPattern struct {
	value  *group // nil: empty
	length int
	words  [shortBytes/8 + 1]uint64
}

// slot is the only place where key may be.
func (r *recentPatterns) slot(key *shortKey) *recentPattern {
	h := uint64(key.length)
	for i := 0; i <= key.length/8; i++ {
		h = (h ^ key.word(i)) * mixer
		h ^= h >> 29
	}
	return &r[h*mixer>>55]
}

func (p *recentPattern) holds(key *shortKey) bool {
	if p.value == nil || p.length != key.length {
		return false
	}
	var differs uint64
	for i := 0; i <= key.length/8; i++ {
		differs |= p.words[i] ^ key.word(i)
	}
	return differs == 0
}

func (p *recentPattern) remember(key *shortKey, g *group) {
	p.value, p.length = g, key.length
	for i := range p.words {
		p.words[i] = key.word(i)
	}
}
