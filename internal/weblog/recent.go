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

// recentPatterns does the same for a pathTable's keys.
type recentPatterns [512]struct {
	key   string
	value *group
}

// slot is the only place where key may be.
func (r *recentPatterns) slot(key []byte) *struct {
	key   string
	value *group
} {
	h := uint64(len(key))
	for len(key) >= 8 {
		h = (h ^ word(key, 0)) * mixer
		h ^= h >> 32
		key = key[8:]
	}
	for _, c := range key {
		h = h<<8 ^ h>>56 ^ uint64(c)
	}
	return &r[h*mixer>>55]
}
