package spelling

import (
	"strings"
	"testing"
)

func TestSlip(t *testing.T) {
	for _, c := range []struct {
		a, b string
		slip bool
	}{
		{"isolcpu", "isolcpus", true}, {"mtu", "mut", true}, {"rate", "rates", true}, {"rate", "rate", false},
		{"enable", "enabled!", false}, {"", "a", true}, {"", "", false},
		{strings.Repeat("a", 100), strings.Repeat("a", 99), false},
	} {
		if got := Slip(c.a, c.b); got != c.slip {
			t.Errorf("Slip(%q, %q) = %v", c.a, c.b, got)
		}
	}
}
