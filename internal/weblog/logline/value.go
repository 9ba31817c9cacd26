package logline

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Unit is the unit of the request times in a log.
type Unit uint8

// The units a log's times may be in. A value that carries its own unit ("18ms")
// overrides it.
const (
	UnitUnknown Unit = iota
	Seconds
	Milliseconds
	Microseconds
	Nanoseconds
	// DecimalSeconds is W3C's time-taken of unknown software: seconds when it
	// has a fraction, else anybody's guess (IIS writes milliseconds).
	DecimalSeconds
)

// unitNames are the symbols of the units.
var unitNames = [...]string{UnitUnknown: "unknown", Seconds: "s", Milliseconds: "ms", Microseconds: "us",
	Nanoseconds: "ns", DecimalSeconds: "unknown"}

// ParseUnit parses s, ms, us or ns.
func ParseUnit(s string) (Unit, error) {
	for u := Seconds; u <= Nanoseconds; u++ {
		if unitNames[u] == s {
			return u, nil
		}
	}
	return UnitUnknown, fmt.Errorf("unknown unit of time %q (use s, ms, us or ns)", s)
}

// String returns the unit's symbol.
func (u Unit) String() string { return unitNames[u] }

// digits returns how many decimal digits separate the unit from a microsecond;
// negative for units below it.
func (u Unit) digits() int {
	return [...]int{Seconds: 6, Milliseconds: 3, Nanoseconds: -3, DecimalSeconds: 6}[u]
}

// Fault says why a line gave no request; faultNone is a request.
type Fault uint8

const (
	FaultNone Fault = iota
	FaultShape
	FaultNoTime
	FaultNegative
	FaultAbsurd
	FaultLong
	FaultBlank
	FaultUnit
	FaultAborted
	NumFaults
	// FaultDirective is a line about the lines that follow, and no fault of a request.
	FaultDirective = NumFaults
)

// FaultTexts are the reasons as reports say them.
var FaultTexts = [NumFaults]string{
	FaultNone:     "",
	FaultShape:    "does not match the format",
	FaultNoTime:   "has no request time",
	FaultNegative: "has a negative time",
	FaultAbsurd:   "has a time above 27 hours",
	FaultLong:     "is longer than 1 MiB",
	FaultBlank:    "is blank",
	FaultUnit:     "has a time whose unit is not known (say --unit)",
	FaultAborted:  "was aborted before it had a time (-1)",
}

// maxTime is the first request time, in us, that is out of range (27.8 h).
const maxTime = 100_000_000_000

// ParseMicros reads a duration: digits, an optional fraction, an optional
// exponent, an optional unit. Parts below a microsecond are cut off. step is
// the value of the last digit in us (at least 1): the resolution of the log.
func ParseMicros(b []byte, unit Unit) (us, step uint64, f Fault) {
	if len(b) > 0 && b[0] == '+' { // HAProxy's logasap marks a running total
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, 0, FaultNoTime
	}
	if b[0] == '-' {
		return 0, 0, negativeTime(b)
	}
	var n uint64
	i := 0
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		if n > maxTime*1000 {
			return 0, 0, FaultAbsurd
		}
		n = n*10 + uint64(b[i]-'0')
	}
	scale := unit.digits()
	if i == len(b) {
		if unit == UnitUnknown || unit == DecimalSeconds {
			return 0, 0, FaultUnit
		}
		return scaleMicros(n, scale)
	}
	whole := i
	if b[i] == '.' {
		for i++; i < len(b) && b[i]-'0' < 10; i++ {
			if i-whole <= 9 && n <= maxTime*1000 {
				n = n*10 + uint64(b[i]-'0')
				scale--
			}
		}
		if i == whole+1 {
			return 0, 0, FaultShape
		}
	}
	if i == 0 {
		return 0, 0, FaultShape
	}
	if i == len(b) {
		if unit == UnitUnknown {
			return 0, 0, FaultUnit
		}
		return scaleMicros(n, scale)
	}
	return parseOddMicros(b, i, n, scale-unit.digits(), unit)
}

// tens are the powers of ten that a uint64 holds.
var tens = [20]uint64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18, 1e19}

// scaleMicros returns n times 10^scale us; scale is from -12 to 6.
func scaleMicros(n uint64, scale int) (us, step uint64, f Fault) {
	if scale < 0 {
		n, scale = n/tens[-scale], 0
	}
	step = tens[scale]
	// n is below 10^15 here, so the product does not overflow.
	if us = n * step; n >= maxTime || us >= maxTime {
		return 0, 0, FaultAbsurd
	}
	return us, step, FaultNone
}

// negativeTime tells "-" (not measured) and -1, which HAProxy and AWS's load
// balancers write for what an aborted request did not come to, from another negative
// number.
func negativeTime(b []byte) Fault {
	if string(b) == "-" {
		return FaultNoTime
	}
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err != nil || !(v < 0):
		return FaultShape
	case v == -1:
		return FaultAborted
	}
	return FaultNegative
}

// parseOddMicros continues parseMicros at b[i], where a unit or an exponent
// follows n*10^scale.
func parseOddMicros(b []byte, i int, n uint64, scale int, unit Unit) (us, step uint64, f Fault) {
	if u, ok := UnitEndings[string(bytes.TrimLeft(b[i:], " "))]; ok { // "83ms", "83 msec"
		return scaleMicros(n, scale+u.digits())
	}
	if b[i] == 'm' || b[i] == 'h' { // Go's 1m2.5s
		d, err := time.ParseDuration(string(b))
		if err != nil {
			return 0, 0, FaultShape
		}
		if d.Microseconds() >= maxTime {
			return 0, 0, FaultAbsurd
		}
		return uint64(d.Microseconds()), 1, FaultNone
	}
	if b[i] != 'e' && b[i] != 'E' {
		return 0, 0, FaultShape
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, 0, FaultShape
	}
	v *= math.Pow10(unit.digits())
	if !(v < maxTime) {
		return 0, 0, FaultAbsurd
	}
	return uint64(v), 1, FaultNone
}

// ParseUint reads a whole number; "-" is one that was not measured.
func ParseUint(b []byte) (n int64, known, ok bool) {
	if len(b) == 1 && b[0] == '-' || len(b) == 0 {
		return 0, false, true
	}
	if len(b) > 18 {
		return 0, false, false
	}
	for _, c := range b {
		if c-'0' >= 10 {
			return 0, false, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true, true
}

// ParseStatus reads an HTTP status; "-", "0" and "000" are 0 (no answer sent).
func ParseStatus(b []byte) (int, bool) {
	if len(b) == 3 {
		c, d, e := b[0]-'0', b[1]-'0', b[2]-'0'
		return int(c)*100 + int(d)*10 + int(e), c < 10 && d < 10 && e < 10
	}
	if len(b) == 1 && (b[0] == '-' || b[0] == '0') || string(b) == "-1" {
		return 0, true
	}
	return 0, false
}

// MomentMicros reads a moment in us: a Unix time, whose unit follows from its size,
// or RFC 3339. fine is whether it says more than the second.
func MomentMicros(b []byte) (us int64, fine, ok bool) {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		for _, scale := range []int64{1e12, 1e15, 1e18} { // above: ms, us, ns of these days
			if n < scale/10 {
				return n * (1e18 / scale), scale > 1e12, n >= scale/1e4
			}
		}
		return n / 1000, true, true
	}
	if len(b) > 19 && len(b) <= 64 && b[4] == '-' {
		t, err := time.Parse(time.RFC3339Nano, string(b))
		return t.UnixMicro(), b[19] == '.', err == nil
	}
	whole, part, found := bytes.Cut(b, []byte{'.'})
	n, known, wok := ParseUint(whole)
	frac, _, f := ParseMicros(append([]byte("0."), part...), Seconds)
	return n*1e6 + int64(frac), true, found && known && wok && f == FaultNone && n >= 1e8 && n < 1e11
}

// UnitEndings are how names and values end in their unit.
var UnitEndings = map[string]Unit{"s": Seconds, "sec": Seconds, "secs": Seconds, "seconds": Seconds,
	"ms": Milliseconds, "msec": Milliseconds, "msecs": Milliseconds, "millis": Milliseconds,
	"milliseconds": Milliseconds, "us": Microseconds, "µs": Microseconds, "μs": Microseconds, "usec": Microseconds,
	"usecs":  Microseconds,
	"micros": Microseconds, "microseconds": Microseconds,
	"microsec": Microseconds, "ns": Nanoseconds, "nsec": Nanoseconds, "nanos": Nanoseconds, "nanoseconds": Nanoseconds}

// Label is what people call the unit.
func (u Unit) Label() string {
	if u == UnitUnknown {
		return "the unit it carries"
	}
	return u.String()
}
