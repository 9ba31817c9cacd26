package emulator

import "fmt"

// An arena holds the units in flight in one direction, off the Go heap: at
// 10 Gbit/s and 200 ms that is 250 MB that a collector need not look at. It is
// made of chunks that are filled one after the other and reused as soon as
// nothing in them is referred to, last used first, so that a short path stays
// in the processor's cache and memory follows what is in flight.
type arena struct {
	mem   []byte
	live  []int32 // references per chunk
	free  []int32 // chunks that were used and are empty
	fresh int32   // chunks below this one have been used
	cur   int32
	pos   int64 // next free byte of the current chunk
}

const (
	chunkSize = 1 << 20
	unitAlign = 64 // a cache line
)

// newArena reserves limit bytes (rounded up to chunks); memory is taken from
// the system only when a chunk is first used.
func newArena(limit int64) (*arena, error) {
	chunks := max((limit+chunkSize-1)/chunkSize, 2)
	mem, err := reserve(chunks * chunkSize)
	if err != nil {
		return nil, fmt.Errorf("reserve %d MiB for packets in flight: %w", chunks, err)
	}
	return &arena{
		mem:   mem,
		live:  make([]int32, chunks),
		free:  make([]int32, 0, chunks),
		fresh: 1,
	}, nil
}

func (a *arena) release() error { return unreserve(a.mem) }

// space returns where the next unit may be written and its offset, or nil
// where everything that was reserved is in flight.
func (a *arena) space() ([]byte, int64) {
	if chunkSize-a.pos < maxUnit && !a.turn() {
		return nil, 0
	}
	off := int64(a.cur)*chunkSize + a.pos
	return a.mem[off : off+maxUnit : off+maxUnit], off
}

// turn makes another chunk the current one.
func (a *arena) turn() bool {
	switch n := len(a.free); {
	case a.live[a.cur] == 0:
	case n > 0:
		a.cur, a.free = a.free[n-1], a.free[:n-1]
	case int(a.fresh) < len(a.live):
		a.cur = a.fresh
		a.fresh++
	default:
		return false
	}
	a.pos = 0
	return true
}

// keep takes the n bytes at the place that space returned, with one reference.
func (a *arena) keep(n int) {
	a.pos += int64(n+unitAlign-1) &^ (unitAlign - 1)
	a.live[a.cur]++
}

// hold adds a reference to the unit at off.
func (a *arena) hold(off int64) { a.live[off/chunkSize]++ }

// drop removes one.
func (a *arena) drop(off int64) {
	c := int32(off / chunkSize)
	a.live[c]--
	if a.live[c] == 0 && c != a.cur {
		a.free = append(a.free, c)
	}
}

// used returns the bytes of the chunks that hold something.
func (a *arena) used() int64 { return (int64(a.fresh) - int64(len(a.free))) * chunkSize }
