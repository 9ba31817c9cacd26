package weblog

import (
	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// bounded groups requests by something of which a log may hold any number of kinds.
// Its memory is bounded by keying all of them more coarsely when there are too many,
// never by leaving some out or together: counts stay exact, and which request falls
// where depends neither on the order of the lines nor on how many workers share them.
type bounded[K comparable, G any, P interface {
	*G
	Merge(*G)
}] struct {
	groups map[K]P
	level  int // of coarseness, from 0
	bounds *bounds[K]
	forget func() // is called before groups are joined; nil: nothing to do
}

// grouped is bounded distributions.
type grouped[K comparable] = bounded[K, latency.Group, *latency.Group]

// bounds say how many groups there may be and what is left of a key at a level, which
// must be the same whether or not the key was cut to a level below before.
type bounds[K comparable] struct {
	most, coarsest int
	cut            func(key K, level int) K
}

// at returns the group of a key, first making room if there has to be one.
func (t *bounded[K, G, P]) at(key K) P {
	for {
		key = t.bounds.cut(key, t.level)
		g := t.groups[key]
		if g == nil && len(t.groups) >= t.bounds.most && t.level < t.bounds.coarsest {
			t.coarsen(t.level + 1)
			continue
		}
		if g == nil {
			g = new(G)
			if t.groups == nil {
				t.groups = map[K]P{}
			}
			t.groups[key] = g
		}
		return g
	}
}

// coarsen joins the groups whose keys are the same at the level.
func (t *bounded[K, G, P]) coarsen(level int) {
	if t.forget != nil {
		t.forget()
	}
	t.level = level
	old := t.groups
	t.groups = make(map[K]P, len(old))
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
func (t *bounded[K, G, P]) merge(o *bounded[K, G, P]) {
	if o.level > t.level {
		t.coarsen(o.level)
	}
	for k, g := range o.groups {
		t.at(k).Merge(g)
	}
}

// quick remembers what was looked up lately: a map's own look-up costs several times
// as much.
type quick struct {
	grouped[uint64]
	recent [2048]struct {
		key   uint64
		group *latency.Group // nil: empty
	}
}

const mixer = 0x9e3779b97f4a7c15

func (t *quick) init(b *bounds[uint64]) {
	t.bounds, t.forget = b, func() { clear(t.recent[:]) }
}

// at is bounded's.
func (t *quick) at(key uint64) *latency.Group {
	s := &t.recent[key*mixer>>53]
	if s.key == key && s.group != nil {
		return s.group
	}
	g := t.grouped.at(key) // may clear what is remembered
	s.key, s.group = key, g
	return g
}
