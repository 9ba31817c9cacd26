package emulator

import (
	"testing"
	"time"
)

// Stalls that overlap count once, and short ones not at all.
func TestStallsAreCountedOnce(t *testing.T) {
	const ms = int64(time.Millisecond)
	e := &Engine{pipe: &pipe{}}
	for _, s := range [][2]int64{{10 * ms, 30 * ms}, {12 * ms, 31 * ms}, {30 * ms, 31 * ms}, {31*ms - 1, 32 * ms}, {50 * ms, 55 * ms}} {
		e.stall(s[0], s[1])
	}
	if got, want := e.pipe.stats.Stalled, 27*time.Millisecond; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
