package units

import (
	"strings"
	"time"
)

// Text prints the rate as sentences have it: 671 Mbit/s, 9.41 Gbit/s.
func (r Rate) Text() string {
	return scaled(float64(r), []scale{{1e12, " Tbit/s"}, {1e9, " Gbit/s"}, {1e6, " Mbit/s"}, {1e3, " kbit/s"}}, " bit/s")
}

// Text prints the size as sentences have it: 16 MiB, 100 B.
func (b Bytes) Text() string { return apart(b.String()) }

// DurationText prints a duration as sentences have it: 80 ms, 1.5 s; of a minute
// and more as Duration does: 1m30s.
func DurationText(d time.Duration) string {
	if d >= time.Minute {
		return Duration(d)
	}
	return apart(Duration(d))
}

// apart puts a blank between a number and its unit.
func apart(s string) string {
	i := strings.LastIndexAny(s, "0123456789")
	return s[:i+1] + " " + s[i+1:]
}
