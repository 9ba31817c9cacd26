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

// TestStartUpIsSaid: a long run whose first seconds are slower than the rest,
// although none was left out, says so.
func TestStartUpIsSaid(t *testing.T) {
	kind, err := FindKind("bulk")
	if err != nil {
		t.Fatal(err)
	}
	for slow, said := range map[int]bool{0: false, 8: true} {
		run := Run{Tool: "builtin", GoodputBPS: 1e9, Counted: 40}
		for i := range 40 {
			v := 1e9 + 1e6*float64(i%3)
			if i < slow {
				v /= 4
			}
			run.IntervalsBPS = append(run.IntervalsBPS, v)
		}
		done, err := run.complete(kind, Spec{Workload: "bulk", Duration: 40 * time.Second}, 41*time.Second)
		if err != nil || (len(done.Warnings) > 0) != said {
			t.Errorf("%d slow seconds: %v, %v", slow, done.Warnings, err)
		}
	}
}
