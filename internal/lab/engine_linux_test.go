package lab

import (
	"testing"
	"time"
)

// Stalls that overlap count once, and short ones not at all.
func TestStallsAreCountedOnce(t *testing.T) {
	const ms = int64(time.Millisecond)
	e := &engine{pipe: &pipe{}}
	for _, s := range [][2]int64{{10 * ms, 30 * ms}, {12 * ms, 31 * ms}, {30 * ms, 31 * ms}, {31*ms - 1, 32 * ms}, {50 * ms, 55 * ms}} {
		e.stall(s[0], s[1])
	}
	if got, want := e.pipe.stats.Stalled, 27*time.Millisecond; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A lab says how it was disturbed since a mark.
func TestLabSinceMark(t *testing.T) {
	l := up(t, "rtt=2ms")
	mark := l.Mark()
	if d := l.Since(mark); d.Lost != 0 || d.Elapsed <= 0 {
		t.Errorf("%+v", d)
	}
	command(t, l.Client(), "ping", "-c", "1", "-W", "5", l.PeerAddr())
	if now := l.Mark(); now.dirs[0].Since(mark.dirs[0]).Units != 1 {
		t.Errorf("%+v", now)
	}
}
