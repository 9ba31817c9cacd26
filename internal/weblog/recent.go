package weblog

// recent remembers the values of keys that were looked up in a map lately: a
// map's own look-up costs several times as much. The zero value is empty.
type recent[T any] [2048]recentSlot[T]

type recentSlot[T any] struct {
	key   uint64
	value *T // nil: empty
}

const mixer = 0x9e3779b97f4a7c15

// slot is the only place where key may be.
func (r *recent[T]) slot(key uint64) *recentSlot[T] {
	return &r[key*mixer>>53]
}

func (s *recentSlot[T]) is(key uint64) bool { return s.key == key && s.value != nil }
