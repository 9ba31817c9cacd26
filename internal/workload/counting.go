package workload

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
)

// A numbered datagram is one byte, modePacket, and then, as numbers of eight
// bytes: the name of its step, its number there, when it was sent in ns of the
// sender's clock; and one byte, its flow.
const (
	numberedSize = 64
	atStep       = 1
	atNumber     = 9
	atSent       = 17
	atFlow       = 25
	// mostNumbers bounds what a hostile number can make a table grow to.
	mostNumbers = 1 << 28
	keptDelays  = 1 << 14
	keptSteps   = 256
)

// stepCount is what came of the datagrams of one step. Delays are beyond the
// shortest one, since the two ends' clocks differ.
type stepCount struct {
	Received   int64   `json:"received"` // different ones
	Duplicates int64   `json:"duplicates"`
	Reordered  int64   `json:"reordered"` // behind one of their flow with a higher number (RFC 4737)
	Dropped    int64   `json:"dropped"`   // by the socket since the server began; -1 not known
	Seconds    float64 `json:"seconds"`   // from the first to the last
	DelayP50   float64 `json:"delay_p50_s"`
	DelayP99   float64 `json:"delay_p99_s"`
}

// step counts the datagrams of one step as they come.
type step struct {
	stepCount
	seen        []uint64 // bits by number
	highest     [256]uint64
	first, last time.Time
	delays      []int64 // ns, with the difference of the clocks
	offered     int
}

func (s *step) add(now time.Time, clock int64, datagram []byte) {
	number := binary.BigEndian.Uint64(datagram[atNumber:])
	if number >= mostNumbers {
		return
	}
	word, bit := int(number/64), uint64(1)<<(number%64)
	if word >= len(s.seen) {
		s.seen = append(s.seen, make([]uint64, word+1024-len(s.seen))...)
	}
	if s.seen[word]&bit != 0 {
		s.Duplicates++
		return
	}
	s.seen[word] |= bit
	s.Received++
	if flow := datagram[atFlow]; number+1 > s.highest[flow] {
		s.highest[flow] = number + 1
	} else {
		s.Reordered++
	}
	if s.first.IsZero() {
		s.first = now
	}
	s.last = now
	delay := clock - int64(binary.BigEndian.Uint64(datagram[atSent:]))
	if s.offered++; len(s.delays) < keptDelays {
		s.delays = append(s.delays, delay)
	} else if i := rand.IntN(s.offered); i < keptDelays {
		s.delays[i] = delay
	}
}

func (s *step) count() stepCount {
	c := s.stepCount
	c.Seconds = s.last.Sub(s.first).Seconds()
	if len(s.delays) == 0 {
		return c
	}
	values := make([]float64, len(s.delays))
	least := s.delays[0]
	for _, d := range s.delays {
		least = min(least, d)
	}
	for i, d := range s.delays {
		values[i] = float64(d-least) / 1e9
	}
	c.DelayP50, c.DelayP99 = stats.Quantile(values, 0.5), stats.Quantile(values, 0.99)
	return c
}

// steps are those of all clients by name; the oldest gives way.
type steps struct {
	mu    sync.Mutex
	names []uint64
	table map[uint64]*step
}

// add counts the numbered datagrams of a batch.
func (s *steps) add(now time.Time, clock int64, b *batch, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range n {
		s.addOne(now, clock, b.payload(i))
	}
}

func (s *steps) addOne(now time.Time, clock int64, datagram []byte) {
	if len(datagram) <= atFlow || datagram[0] != modePacket {
		return
	}
	name := binary.BigEndian.Uint64(datagram[atStep:])
	one := s.table[name]
	if one == nil {
		if len(s.names) == keptSteps {
			delete(s.table, s.names[0])
			s.names = s.names[1:]
		}
		one = new(step)
		s.table[name], s.names = one, append(s.names, name)
	}
	one.add(now, clock, datagram)
}

func (s *steps) count(name uint64) stepCount {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.table[name]; one != nil {
		return one.count()
	}
	return stepCount{}
}
