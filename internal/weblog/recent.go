package weblog

// recent remembers the values of keys that were looked up in a map lately: a
// map's own look-up costs several times as much. The zero value is empty.
type recent[T any] [2048]recentSlot[T]

type recentSlot[T any] struct {
	key   uint64
	value *T // nil: empty
}

const mixer = 0x9e3779b97f4a7c15

// get returns the value of key, nil if it is not remembered.
func (r *recent[T]) get(key uint64) *T {
	if s := &r[key*mixer>>53]; s.key == key {
		return s.value
	}
	return nil
}

// put remembers the value of key.
func (r *recent[T]) put(key uint64, value *T) { r[key*mixer>>53] = recentSlot[T]{key, value} }
