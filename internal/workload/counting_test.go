package workload

import (
	"encoding/binary"
	"testing"
	"time"
)

func numbered(step, number uint64, flow byte, sent time.Duration) []byte {
	d := make([]byte, numberedSize)
	d[0], d[atFlow] = modePacket, flow
	binary.BigEndian.PutUint64(d[atStep:], step)
	binary.BigEndian.PutUint64(d[atNumber:], number)
	binary.BigEndian.PutUint64(d[atSent:], uint64(sent))
	return d
}

// TestStepCount: lost, repeated and overtaken datagrams are told apart, each
// within its flow.
func TestStepCount(t *testing.T) {
	for name, c := range map[string]struct {
		numbers                       []uint64
		flows                         []byte
		received, repeated, reordered int64
	}{
		"in order":              {[]uint64{0, 1, 2, 3}, []byte{0, 0, 0, 0}, 4, 0, 0},
		"one lost":              {[]uint64{0, 2, 3}, []byte{0, 0, 0}, 3, 0, 0},
		"twice":                 {[]uint64{0, 1, 1, 0}, []byte{0, 0, 0, 0}, 2, 2, 0},
		"one is overtaken":      {[]uint64{0, 2, 1, 3}, []byte{0, 0, 0, 0}, 4, 0, 1},
		"another flow is ahead": {[]uint64{8, 9, 0, 1}, []byte{1, 1, 0, 0}, 4, 0, 0},
		"an impossible number":  {[]uint64{0, 1 << 60}, []byte{0, 0}, 1, 0, 0},
	} {
		var s step
		began := time.Now()
		for i, n := range c.numbers {
			at := time.Duration(i) * time.Millisecond
			s.add(began.Add(at), int64(at), numbered(1, n, c.flows[i], at))
		}
		got := s.count()
		if got.Received != c.received || got.Duplicates != c.repeated || got.Reordered != c.reordered || got.DelayP99 != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestStepDelay is beyond the shortest one, whatever the clocks' difference is.
func TestStepDelay(t *testing.T) {
	var s step
	for i := range 100 {
		delay := time.Millisecond
		if i == 50 {
			delay = 11 * time.Millisecond
		}
		sent := time.Duration(i) * time.Millisecond
		s.add(time.Now(), int64(sent+delay)-1e15, numbered(1, uint64(i), 0, sent))
	}
	if got := s.count(); got.DelayP50 != 0 || got.DelayP99 > 0.011 {
		t.Errorf("%+v", got)
	}
}

// TestStepsAreBounded: names that others make up do not fill the memory.
func TestStepsAreBounded(t *testing.T) {
	s := steps{table: map[uint64]*step{}}
	for i := range uint64(5 * keptSteps) {
		s.addOne(time.Now(), 0, numbered(i, 0, 0, 0))
	}
	if len(s.table) != keptSteps || s.count(5*keptSteps-1).Received != 1 || s.count(0).Received != 0 {
		t.Errorf("%d steps kept", len(s.table))
	}
}

func FuzzStep(f *testing.F) {
	f.Add(numbered(1, 2, 3, 4))
	f.Add([]byte{modePacket})
	f.Fuzz(func(t *testing.T, datagram []byte) {
		s := steps{table: map[uint64]*step{}}
		for range 2 {
			s.addOne(time.Now(), 0, datagram)
		}
		for name := range s.table {
			if c := s.count(name); c.Received > 1 || c.Duplicates > 1 {
				t.Fatalf("%+v", c)
			}
		}
	})
}
