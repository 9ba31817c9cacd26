package units

import (
	"strconv"
	"strings"
)

// Count prints a number in groups of three digits: 1,234,567.
func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural prints a number of things: 1 class, 2 classes.
func Plural(n uint64, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "s"):
		thing += "es"
	default:
		thing += "s"
	}
	return Count(n) + " " + thing
}
