package calc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// parseQuantity reads an input as people write it: with SI prefixes, with the
// unit or without, a rate also in bytes and a speed also in bits.
func parseQuantity(is Quantity, s string) (float64, error) {
	switch is {
	case QRate:
		if bytes, ok := strings.CutSuffix(s, "B/s"); ok {
			v, err := units.ParseBytes(bytes + "B")
			return float64(v) * 8, err
		}
		v, err := units.ParseRate(s)
		return float64(v), err
	case QSpeed:
		if lower := strings.ToLower(s); strings.Contains(lower, "bit") || strings.HasSuffix(lower, "bps") {
			v, err := units.ParseRate(s)
			return float64(v) / 8, err
		}
		v, err := units.ParseBytes(strings.TrimSuffix(s, "/s"))
		return float64(v), err
	case QBytes:
		v, err := units.ParseBytes(s)
		return float64(v), err
	case QTime:
		v, err := units.ParseDuration(s)
		return v.Seconds(), err
	case QFraction:
		return parseFraction(s)
	}
	return parseNumber(is, s)
}

func parseFraction(s string) (float64, error) {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, fmt.Errorf("%q: a fraction from 0 to 1 is expected, like 0.001 or 0.1%%", s)
	}
	return v, nil
}

var scaled = regexp.MustCompile(`^([0-9.eE+-]+?) ?([numkKMGT]?)(/s|pps|iops|cps|rps|qps)?$`)

// prefixes are those of the International System of Units.
var prefixes = map[string]float64{"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9,
	"T": 1e12}

// parseNumber reads 400000, 4e5, 400k and 400kiops.
func parseNumber(is Quantity, s string) (float64, error) {
	m := scaled.FindStringSubmatch(strings.TrimSpace(s))
	wrong := fmt.Errorf("%q: a number from 0 to 1e18 is expected", s)
	if m == nil || m[3] != "" && is != QPerSec {
		return 0, wrong
	}
	v, err := strconv.ParseFloat(m[1], 64)
	v *= prefixes[m[2]]
	if err != nil || !(v >= 0 && v < 1e18) {
		return 0, wrong
	}
	return v, nil
}

// plainWord takes the forms in which a word is written together: PCIe, 3.0,
// IPv6.
func plainWord(name, s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	switch name {
	case "gen":
		return strings.TrimSuffix(strings.TrimPrefix(s, "v"), ".0")
	case "family":
		return strings.TrimPrefix(strings.TrimPrefix(s, "ip"), "v")
	case "kind":
		return strings.Replace(s, "pcix", "pci-x", 1)
	}
	return s
}
