package weblog

import (
	"fmt"
	"slices"
	"sort"
)

// groupsBy returns the groups of one grouping, the largest first; what is
// beyond v.Top is summed up in a last group.
func groupsBy(s *Sketch, by string, v View) []Group {
	sums := map[string]*group{}
	d := s.detail
	switch by {
	case "client":
		for k, g := range d.clients.groups {
			groupOf(sums, clientName(k, d.clients.level)).merge(g)
		}
	case "path":
		for k, g := range d.paths.groups {
			groupOf(sums, Escape(k[1:], 200)).merge(g)
		}
	case "size":
		for k, g := range d.paths.groups {
			groupOf(sums, sizeNames[k[0]]).merge(g)
		}
	case "upstream":
		for i := range d.behind {
			if g := &d.behind[i]; g.n > 0 {
				sums[behindNames[i]] = g
			}
		}
	case "cache":
		for k, g := range d.caches.groups {
			groupOf(sums, Escape(k, 64)).merge(g)
		}
	default:
		for k, g := range d.cells.groups {
			groupOf(sums, cellOf(k).name(by)).merge(g)
		}
	}
	names := make([]string, 0, len(sums))
	for n := range sums {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := sums[names[i]], sums[names[j]]
		if a.n != b.n {
			return a.n > b.n
		}
		return names[i] < names[j]
	})
	switch by {
	case "size":
		byRank(names, sizeNames[:])
	case "upstream":
		byRank(names, behindNames[:])
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
	if rest.n > 0 {
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

// byRank sorts names by their places in order.
func byRank(names, order []string) {
	slices.SortFunc(names, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
}

// name is the group that requests of the cell fall into.
func (c cell) name(by string) string {
	switch by {
	case "method":
		return methods[c.method]
	case "protocol":
		return protos[c.proto]
	}
	if c.status >= statusClass {
		return fmt.Sprintf("%dxx", c.status-statusClass)
	}
	return fmt.Sprintf("%03d", c.status)
}

func newGroup(by, name string, g *group, s *Sketch, v View) Group {
	out := Group{By: by, Name: name, Requests: g.n, Share: float64(g.n) / float64(s.Requests), Bytes: g.bytes,
		Mean: inSeconds(float64(g.sum)) / float64(g.n), Max: inSeconds(float64(g.max)),
		Percentiles: percentilesOf(g, g.n, s.Step, 1e6), Under: map[string]float64{}}
	for _, t := range v.Under {
		out.Under[trimFloat(t)] = float64(g.under(uint64(t*1e6+0.5))) / float64(g.n)
	}
	return out
}
