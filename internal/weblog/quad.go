package weblog

import (
	"encoding/binary"
	"math/bits"
)

// Most clients are dotted quads, which quad reads without a branch for each digit;
// parseIPv4 is the plain way.

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// word returns eight bytes of b from i on.
func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

// gather puts the top bits of the eight bytes of x together, the first byte's
// lowest.
func gather(x uint64) uint64 { return (x & highBits) >> 7 * 0x0102040810204080 >> 56 }

// equalBytes returns the top bit of each byte of x that is c; all is c in each
// byte.
func equalBytes(x, all uint64) uint64 {
	x ^= all
	return ^((x&^highBits + ^uint64(highBits)) | x) & highBits
}

// quad reads a dotted quad. It gives up (on other addresses, and near the end
// of the buffer that b lies in) where parseIPv4 has to decide.
func quad(b []byte) (ip uint32, ok bool) {
	n := len(b)
	if n < 7 || n > 15 || cap(b) < 24 {
		return 0, false
	}
	whole := b[:24]
	x, y := word(whole, 0), word(whole, 8)
	dots := (gather(equalBytes(x, '.'*lowBits)) | gather(equalBytes(y, '.'*lowBits))<<8) & (1<<uint(n) - 1)
	if bits.OnesCount64(dots) != 3 {
		return 0, false
	}
	first := bits.TrailingZeros64(dots)
	dots &= dots - 1
	second := bits.TrailingZeros64(dots)
	third := bits.Len64(dots) - 1
	lengths := [4]int{first, second - first - 1, third - second - 1, n - third - 1}
	if lengths[0]|lengths[1]|lengths[2]|lengths[3] > 3 ||
		(lengths[0]-1)|(lengths[1]-1)|(lengths[2]-1)|(lengths[3]-1) < 0 {
		return 0, false
	}
	// Two parts to a number, of each the digits of its hundreds, tens and ones.
	upper := part(whole, 0, lengths[0]) | part(whole, first+1, lengths[1])<<32
	lower := part(whole, second+1, lengths[2]) | part(whole, third+1, lengths[3])<<32
	const notDigit, halves = 0x76 * lowBits, 0x000000ff_000000ff
	if (upper|(upper+notDigit)|lower|(lower+notDigit))&highBits != 0 {
		return 0, false
	}
	upper = upper&halves*100 + upper>>8&halves*10 + upper>>16&halves
	lower = lower&halves*100 + lower>>8&halves*10 + lower>>16&halves
	if (upper|lower)&^halves != 0 {
		return 0, false
	}
	return uint32(upper)<<24 | uint32(upper>>32)<<16 | uint32(lower)<<8 | uint32(lower>>32), true
}

// part returns the values of the length digits at start, at most three, in the
// third byte and those before it.
func part(b []byte, start, length int) uint64 {
	return (word(b, start) ^ '0'*lowBits) << (uint(64-8*length) & 63) >> 40
}
