package logline

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes of a line at once: most fields of most lines are short, and a
// loop over their bytes costs a mispredicted branch each.

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// literal is text of at most eight bytes that is compared as one number.
type literal struct{ bits, mask uint64 }

func (l literal) is(x uint64) bool { return x&l.mask == l.bits }

// newLiteral makes a literal of text, which has one to eight bytes.
func newLiteral(text string) literal {
	var b [8]byte
	copy(b[:], text)
	return literal{binary.LittleEndian.Uint64(b[:]), ^uint64(0) >> (64 - 8*len(text))}
}

// newEndLiteral makes a literal of text, which has one to eight bytes, that is
// compared with the last bytes of a word.
func newEndLiteral(text string) literal {
	l := newLiteral(text)
	shift := 64 - 8*len(text)
	return literal{l.bits << shift, l.mask << shift}
}

// word returns eight bytes of the line from i on.
func word(line []byte, i int) uint64 { return binary.LittleEndian.Uint64(line[i : i+8]) }

// first returns how many bytes of x come before the first c, 8 if none is c;
// all is c in each byte.
func first(x, all uint64) int {
	x ^= all
	// The lowest of these bits is that of the first zero byte of x.
	return bits.TrailingZeros64((x-lowBits)&^x&highBits) / 8
}

// firstOf16 is first for two words in a row, 16 if none is c.
func firstOf16(x, y, all uint64) int {
	x ^= all
	y ^= all
	x = (x - lowBits) &^ x & highBits
	y = (y - lowBits) &^ y & highBits
	n := bits.TrailingZeros64(x) / 8
	m := bits.TrailingZeros64(y) / 8 & (-(n >> 3)) // 0 unless x has none
	return n + m
}

// last returns how many bytes of x come after the last c, 8 if none is c; all
// is c in each byte.
func last(x, all uint64) int { return bits.LeadingZeros64(equalBytes(x, all)) / 8 }

// digits8 reads the decimal number in the upper n bytes of x, n from 1 to 8,
// the first digit lowest.
func digits8(x uint64, n int) (v uint64, ok bool) {
	const zeros = '0' * lowBits
	unused := uint(64-8*n) & 63
	x = (x ^ zeros) >> unused << unused // each byte is a digit's value, 0 before the first
	if (x|(x+0x76*lowBits))&highBits != 0 {
		return 0, false
	}
	x = x*10 + x>>8 // pairs of digits in every other byte
	const pairs = 0x000000ff000000ff
	return (x&pairs*(1_000_000<<32+100) + x>>16&pairs*(10_000<<32+1)) >> 32, true
}

// withoutPoint takes out the byte before the last three.
func withoutPoint(x uint64) uint64 {
	const decimals = 0xffffff << 40
	return x&decimals | x<<8&^uint64(decimals)
}

// equalBytes returns the top bit of each byte of x that is c; all is c in each
// byte.
func equalBytes(x, all uint64) uint64 {
	x ^= all
	return ^((x&^highBits + ^uint64(highBits)) | x) & highBits
}

// ParseIPv4 reads a dotted quad, with or without a port.
func ParseIPv4(b []byte) (ip uint32, ok bool) {
	const longest, dots, colons = len("255.255.255.255:65535"), '.' * lowBits, ':' * lowBits
	var copied [longest + 3]byte
	text := &copied
	if cap(b) >= len(copied) {
		text = (*[len(copied)]byte)(b[:len(copied)])
	} else {
		copy(copied[:], b)
	}
	at := 0
	for part := range 4 {
		x := binary.LittleEndian.Uint64(text[at:])
		n := first(x, dots)
		if part == 3 {
			n = min(first(x, colons), len(b)-at)
		}
		if n < 1 || n > 3 {
			return 0, false
		}
		v, digits := digits8(x<<(64-8*n), n)
		if !digits || v > 255 {
			return 0, false
		}
		ip, at = ip<<8|uint32(v), at+n+1
	}
	return ip, true
}
