package units

import (
	"testing"
	"time"
)

func TestText(t *testing.T) {
	for want, got := range map[string]string{
		"671 Mbit/s": Rate(671e6).Text(),
		"500 bit/s":  Rate(500).Text(),
		"16 MiB":     Bytes(16 << 20).Text(),
		"80 ms":      DurationText(80 * time.Millisecond),
		"1m30s":      DurationText(90 * time.Second),
	} {
		if got != want {
			t.Errorf("%q, %q is expected", got, want)
		}
	}
}
