package emulator

// ring is a queue in a slice whose length is a power of two. It grows and
// never shrinks, so that a steady load allocates nothing.
type ring[T any] struct {
	buf        []T
	head, tail uint64 // of the next to leave, of the next free place
}

func (r *ring[T]) len() int { return int(r.tail - r.head) }

func (r *ring[T]) push(v T) {
	if r.len() == len(r.buf) {
		r.grow()
	}
	r.buf[r.tail&uint64(len(r.buf)-1)] = v
	r.tail++
}

// first returns the oldest element; the ring must not be empty.
func (r *ring[T]) first() *T { return &r.buf[r.head&uint64(len(r.buf)-1)] }

func (r *ring[T]) pop() T {
	v := *r.first()
	r.head++
	return v
}

func (r *ring[T]) grow() {
	bigger := make([]T, max(64, 2*len(r.buf)))
	for i := range r.len() {
		bigger[i] = r.buf[(r.head+uint64(i))&uint64(len(r.buf)-1)]
	}
	r.tail = uint64(r.len())
	r.head = 0
	r.buf = bigger
}
