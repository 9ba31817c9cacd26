package weblog

import (
	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// bounded groups requests by something of which a log may hold any number of kinds.
// Its memory is bounded by keying all of them more coarsely when there are too many,
// never by leaving some out or together: counts stay exact, and which request falls
// where depends neither on the order of the lines nor on how many workers share them.
type bounded[K comparable] struct {
	groups map[K]*latency.Group
	level  int // of coarseness, from 0
	bounds *bounds[K]
	forget func() // is called before groups are joined; nil: nothing to do
}

// bounds say how many groups there may be and what is left of a key at a level, which
// must be the same whether or not the key was cut to a level below before.
type bounds[K comparable] struct {
	most, coarsest int
	cut            func(key K, level int) K
}

func newBounded[K comparable](b *bounds[K]) bounded[K] {
	return bounded[K]{groups: map[K]*latency.Group{}, bounds: b}
}

// at returns the group of a key, first making room if there has to be one.
func (t *bounded[K]) at(key K) *latency.Group {
	for {
		key = t.bounds.cut(key, t.level)
		g := t.groups[key]
		if g == nil && len(t.groups) >= t.bounds.most && t.level < t.bounds.coarsest {
			t.coarsen(t.level + 1)
			continue
		}
		if g == nil {
			g = new(latency.Group)
			t.groups[key] = g
		}
		return g
	}
}

// coarsen joins the groups whose keys are the same at the level.
func (t *bounded[K]) coarsen(level int) {
	if t.forget != nil {
		t.forget()
	}
	t.level = level
	old := t.groups
	t.groups = make(map[K]*latency.Group, len(old))
	for k, g := range old {
		k = t.bounds.cut(k, level)
		if to := t.groups[k]; to != nil {
			to.Merge(g)
		} else {
			t.groups[k] = g
		}
	}
}

// merge adds the groups of o, which stay as they are.
func (t *bounded[K]) merge(o *bounded[K]) {
	if o.level > t.level {
		t.coarsen(o.level)
	}
	for k, g := range o.groups {
		t.at(k).Merge(g)
	}
}

// quick is a bounded table that remembers what was looked up lately: a map's own
// look-up costs several times as much.
type quick struct {
	bounded[uint64]
	masks  *levelMasks
	mask   [4]uint64 // of the level, or of one below: then nothing is remembered yet
	recent [2048]struct {
		key   uint64
		group *latency.Group // nil: empty
	}
}

const mixer = 0x9e3779b97f4a7c15

// levelMasks are what is looked up of keys at a level, by their top two bits. Keys that
// are cut otherwise, too, are looked up as they are.
type levelMasks [4][4]uint64

// init makes the table.
func (t *quick) init(b *bounds[uint64], masks *levelMasks) {
	t.bounded, t.masks, t.mask = newBounded(b), masks, masks[0]
	t.forget = func() { clear(t.recent[:]) }
}

// at is bounded's.
func (t *quick) at(key uint64) *latency.Group {
	key &= t.mask[key>>62]
	if s := &t.recent[key*mixer>>53]; s.key == key && s.group != nil {
		return s.group
	}
	return t.lookUp(key)
}

func (t *quick) lookUp(key uint64) *latency.Group {
	g := t.bounded.at(key) // may clear what is remembered
	s := &t.recent[key*mixer>>53]
	s.key, s.group = key, g
	t.mask = t.masks[t.level&3]
	return g
}
