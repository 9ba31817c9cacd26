package weblog

import (
	"fmt"
	"sort"
)

// groupsBy returns the groups of one grouping, the largest first; what is
// beyond v.Top is summed up in a last group.
func groupsBy(s *Sketch, by string, v View) []Group {
	sums := map[string]*group{}
	d := s.detail
	switch by {
	case "client":
		return clientGroups(s, v)
	case "path":
		for k, g := range d.paths.groups {
			groupOf(sums, Escape(k[1:], 200)).merge(g)
		}
	case "size":
		for k, g := range d.paths.groups {
			groupOf(sums, sizeNames[k[0]]).merge(g)
		}
	case "cache":
		for k, g := range d.caches {
			groupOf(sums, Escape(k, 64)).merge(g)
		}
	default:
		for k, g := range d.cells {
			groupOf(sums, cellOf(k).name(by)).merge(g)
		}
	}
	names := make([]string, 0, len(sums))
	for n := range sums {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := sums[names[i]], sums[names[j]]
		if a.hist.n != b.hist.n {
			return a.hist.n > b.hist.n
		}
		return names[i] < names[j]
	})
	if by == "size" {
		sort.Slice(names, func(i, j int) bool { return sizeRank(names[i]) < sizeRank(names[j]) })
	}
	var out []Group
	top := v.top()
	rest := new(group)
	for i, n := range names {
		if i >= top {
			rest.merge(sums[n])
			continue
		}
		out = append(out, newGroup(by, n, sums[n], s, v))
	}
	if rest.hist.n > 0 {
		out = append(out, newGroup(by, fmt.Sprintf("(%d more)", len(names)-top), rest, s, v))
	}
	return out
}

func (v View) top() int {
	if v.Top <= 0 {
		return 20
	}
	return v.Top
}

func sizeRank(name string) int {
	for i, n := range sizeNames {
		if n == name {
			return i
		}
	}
	return len(sizeNames)
}

// name is the group that requests of the cell fall into.
func (c cell) name(by string) string {
	switch by {
	case "method":
		return methods[c.method]
	case "protocol":
		return protos[c.proto]
	}
	if c.status > 0 && c.status < 10 {
		return fmt.Sprintf("%dxx", c.status)
	}
	return fmt.Sprintf("%03d", c.status)
}

func newGroup(by, name string, g *group, s *Sketch, v View) Group {
	out := Group{By: by, Name: name, Requests: g.hist.n, Share: float64(g.hist.n) / float64(s.Requests), Bytes: g.bytes,
		Mean: inSeconds(float64(g.hist.sum)) / float64(g.hist.n), Max: inSeconds(float64(g.hist.max)),
		Percentiles: histPercentiles(&g.hist, s.Step, 1e6), Under: map[string]float64{}}
	for _, t := range v.Under {
		out.Under[trimFloat(t)] = float64(g.hist.under(uint64(t*1e6+0.5))) / float64(g.hist.n)
	}
	return out
}

func clientGroups(s *Sketch, v View) []Group {
	t := s.detail.clients
	keys := make([]uint64, 0, len(t.nets))
	for k := range t.nets {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := t.nets[keys[i]], t.nets[keys[j]]
		if a.n != b.n {
			return a.n > b.n
		}
		return keys[i] < keys[j]
	})
	var out []Group
	add := func(name string, b *slim) {
		out = append(out, Group{By: "client", Name: name, Requests: b.n, Share: float64(b.n) / float64(s.Requests), Bytes: b.bytes,
			Mean: inSeconds(float64(b.sum)) / float64(b.n), Max: inSeconds(float64(b.max)), Under: map[string]float64{"0.1": float64(b.under) / float64(b.n)}})
	}
	rest := new(slim)
	for i, k := range keys {
		if i < v.top() {
			add(clientName(k, t.level), t.nets[k])
		} else {
			rest.merge(t.nets[k])
		}
	}
	if rest.n > 0 {
		add(fmt.Sprintf("(%d more)", len(keys)-v.top()), rest)
	}
	return out
}
