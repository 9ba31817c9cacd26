package workload

import (
	"testing"
	"time"
)

func TestClockStep(t *testing.T) {
	for _, c := range []struct {
		wall, elapsed, want time.Duration
	}{
		{10 * time.Second, 10 * time.Second, 0},
		{10*time.Second + 5*time.Millisecond, 10 * time.Second, 0}, // slewed by an NTP daemon
		{time.Hour + 10*time.Second, 10 * time.Second, time.Hour},
		{9 * time.Second, 10 * time.Second, -time.Second},
		{-50 * time.Second, 10 * time.Second, -time.Minute},
	} {
		if got := clockStep(c.wall, c.elapsed); got != c.want {
			t.Errorf("%s of the clock in %s: %s, want %s", c.wall, c.elapsed, got, c.want)
		}
	}
}
