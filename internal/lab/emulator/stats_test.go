package emulator

import (
	"testing"
	"time"
)

func TestStatsSince(t *testing.T) {
	var s Stats
	s.late(300 * time.Millisecond)
	s.Units, s.Writes, s.Stalled, s.DropKernel = 10, 9, 300*time.Millisecond, 1
	mark := s
	s.late(time.Millisecond) // not more than the limit
	s.Units, s.Writes = 30, 28
	if d := s.Since(mark); d.Late != 0 || d.WorstLate != 0 || d.Units != 20 || d.Writes != 19 || d.Stalled != 0 || d.DropKernel != 0 {
		t.Errorf("a quiet stretch: %+v", d)
	}
	s.late(7 * time.Millisecond)
	s.late(1500 * time.Microsecond)
	if d := s.Since(mark); d.Late != 2 || d.WorstLate != 5*time.Millisecond || d.LateBy[0] != 1 || d.LateBy[2] != 1 {
		t.Errorf("less late than before the mark: %+v", d)
	}
	s.late(2 * time.Minute)
	if d := s.Since(mark); d.Late != 3 || d.WorstLate != 2*time.Minute || d.LateBy[len(LateSteps)-1] != 1 {
		t.Errorf("later than before the mark: %+v", d)
	}
}
