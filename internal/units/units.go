// Package units holds the quantities that wirerate computes with: bit rates,
// byte counts and durations, their parsing from what people write ("10gbit",
// "64MiB", "50ms") and their printing.
package units

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Rate is a bit rate in bit/s. Link rates are decimal: 1gbit is 1e9 bit/s.
type Rate int64

// Decimal multiples of a bit rate.
const (
	BitPerSecond Rate = 1
	Kbit              = 1000 * BitPerSecond
	Mbit              = 1000 * Kbit
	Gbit              = 1000 * Mbit
	Tbit              = 1000 * Gbit
)

// Bytes is a byte count.
type Bytes int64

// Binary multiples of a byte count.
const (
	Byte Bytes = 1
	KiB        = 1024 * Byte
	MiB        = 1024 * KiB
	GiB        = 1024 * MiB
	TiB        = 1024 * GiB
)

var rateSuffixes = map[string]float64{
	"": 1, "bit": 1, "bps": 1, "bit/s": 1,
	"k": 1e3, "kbit": 1e3, "kbps": 1e3, "kbit/s": 1e3,
	"m": 1e6, "mbit": 1e6, "mbps": 1e6, "mbit/s": 1e6,
	"g": 1e9, "gbit": 1e9, "gbps": 1e9, "gbit/s": 1e9,
	"t": 1e12, "tbit": 1e12, "tbps": 1e12, "tbit/s": 1e12,
}

var byteSuffixes = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kb": 1e3, "kib": 1 << 10,
	"m": 1 << 20, "mb": 1e6, "mib": 1 << 20,
	"g": 1 << 30, "gb": 1e9, "gib": 1 << 30,
	"t": 1 << 40, "tb": 1e12, "tib": 1 << 40,
}

// ErrBytes is wrapped when a rate is given in bytes.
var ErrBytes = errors.New("this is in bytes")

// ParseRate parses a bit rate: a number and one of bit, kbit, mbit, gbit,
// tbit (also kbps, Mbit/s, Gb/s, ...), in any case, with or without a space. A bare
// number is bit/s. Negative, infinite and unrepresentable rates are errors.
func ParseRate(s string) (Rate, error) {
	// A small b is a bit; GB/s would be bytes and stays an error.
	text := s
	if rest, ok := strings.CutSuffix(strings.TrimSpace(s), "b/s"); ok {
		text = rest + "bit/s"
	}
	v, err := parse(text, rateSuffixes)
	if bytes, isBytes := strings.CutSuffix(text, "B/s"); err != nil && isBytes {
		if n, bytesErr := ParseBytes(bytes + "B"); bytesErr == nil && n < math.MaxInt64/8 {
			return 0, fmt.Errorf("rate %q: %w; in bits it is %s", s, ErrBytes, Rate(8*n).Typed())
		}
	}
	if err != nil {
		return 0, fmt.Errorf("rate %q: %w; write it like 100mbit or 10gbit", s, err)
	}
	return Rate(v), nil
}

// ParseBytes parses a byte count: a number and one of B, KiB, MiB, GiB, TiB
// (binary), kB, MB, GB, TB (decimal) or k, m, g, t (binary, as in the
// configuration files of all three systems).
func ParseBytes(s string) (Bytes, error) {
	v, err := parse(s, byteSuffixes)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w; write it like 64MiB", s, err)
	}
	return Bytes(v), nil
}

// ParseDuration parses a duration that is not negative, as time.ParseDuration
// does (50ms, 1.5s, 200us). A bare number other than 0 is an error: a time
// without a unit is a common mistake.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(s), " ", ""))
	if err != nil {
		return 0, fmt.Errorf("duration %q: a number with a unit is expected, like 50ms or 30s", s)
	}
	if d < 0 {
		return 0, fmt.Errorf("duration %q: must not be negative", s)
	}
	return d, nil
}

func parse(s string, suffixes map[string]float64) (int64, error) {
	t := strings.TrimSpace(s)
	end := len(t)
	for end > 0 && !isNumeric(t[end-1]) {
		end--
	}
	if end == 0 {
		return 0, fmt.Errorf("no number")
	}
	suffix := strings.ToLower(strings.TrimSpace(t[end:]))
	factor, ok := suffixes[suffix]
	if !ok {
		return 0, fmt.Errorf("unknown unit %q", suffix)
	}
	if n, err := strconv.ParseInt(t[:end], 10, 64); err == nil && factor == 1 && n >= 0 {
		return n, nil
	}
	f, err := strconv.ParseFloat(t[:end], 64)
	if err != nil || math.IsNaN(f) {
		return 0, fmt.Errorf("%q is not a number", t[:end])
	}
	v := math.Round(f * factor)
	if v < 0 {
		return 0, fmt.Errorf("must not be negative")
	}
	if v >= math.MaxInt64 {
		return 0, fmt.Errorf("too large")
	}
	return int64(v), nil
}

func isNumeric(c byte) bool { return c >= '0' && c <= '9' || c == '.' }

// String prints the rate in its largest unit with at most four significant
// digits where that is exact, else three: 10 Gbit/s, 9.41 Gbit/s, 1.2 Mbit/s.
func (r Rate) String() string {
	return scaled(float64(r), []scale{{1e12, " Tbit/s"}, {1e9, " Gbit/s"}, {1e6, " Mbit/s"}, {1e3, " kbit/s"}},
		" bit/s")
}

// Typed prints the rate as String does, in the form of a command line: 9.41gbit.
func (r Rate) Typed() string { return typed(strings.TrimSuffix(r.String(), "/s")) }

// BytesPerSecond returns the rate in byte/s.
func (r Rate) BytesPerSecond() float64 { return float64(r) / 8 }

// String prints the size in its largest binary unit: 64 MiB, 1.5 GiB, 100 B.
func (b Bytes) String() string {
	return scaled(float64(b), []scale{{1 << 40, " TiB"}, {1 << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}}, " B")
}

// Typed prints the size as String does, in the form of a command line: 64MiB.
func (b Bytes) Typed() string { return strings.ReplaceAll(b.String(), " ", "") }

// Duration prints d with at most three significant digits: 50 ms, 1.25 s, 200 µs;
// from a minute on as time.Duration does, without parts that are zero at its end: 1m30s, 2m, 3h.
func Duration(d time.Duration) string {
	if d == 0 {
		return "0 s"
	}
	if d >= time.Minute {
		s := d.Round(time.Second).String()
		if strings.HasSuffix(s, "m0s") {
			s = strings.TrimSuffix(s, "0s")
		}
		if strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
		return s
	}
	return scaled(float64(d), []scale{{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}}, " ns")
}

// TypedDuration prints d as Duration does, in the form of a command line: 50ms.
func TypedDuration(d time.Duration) string { return typed(Duration(d)) }

func typed(s string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "µ", "u").Replace(s))
}

type scale struct {
	factor float64
	suffix string
}

func scaled(v float64, scales []scale, base string) string {
	for _, s := range scales {
		if math.Abs(v) >= s.factor {
			return significant(v/s.factor) + s.suffix
		}
	}
	return significant(v) + base
}

func significant(v float64) string {
	if four := strconv.FormatFloat(v, 'g', 4, 64); !strings.Contains(four, "e") {
		if f, _ := strconv.ParseFloat(four, 64); f == v {
			return four
		}
	}
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Digits prints v with so many significant digits and never with an exponent: 0.012, 12.3, 81800.
func Digits(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'g', digits, 64)
	if !strings.Contains(text, "e") {
		return text
	}
	rounded, _ := strconv.ParseFloat(text, 64) // it was just written by FormatFloat
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// BDP returns the bandwidth-delay product, the bytes in flight that keep a
// path of this rate and round-trip time full (RFC 6349, section 3.3).
func BDP(r Rate, rtt time.Duration) Bytes {
	return Bytes(math.Ceil(r.BytesPerSecond() * rtt.Seconds()))
}
