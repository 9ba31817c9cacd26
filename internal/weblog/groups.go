package weblog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// groupsBy returns the groups of one grouping, the largest first; what is
// beyond v.Top is summed up in a last group.
func groupsBy(s *Sketch, by string, v View) []Group {
	sums := map[string]*latency.Group{}
	d := s.detail
	switch by {
	case "client":
		for k, g := range d.clients.groups {
			groupOf(sums, clientName(k, d.clients.level)).Merge(g)
		}
	case "path":
		for k, g := range d.paths.groups {
			groupOf(sums, logline.Escape(k[1:], 200)).Merge(g)
		}
	case "size":
		for k, g := range d.paths.groups {
			groupOf(sums, sizeNames[k[0]]).Merge(g)
		}
	case "upstream":
		for i := range d.behind {
			if g := &d.behind[i]; g.N > 0 {
				sums[behindNames[i]] = g
			}
		}
	case "cache":
		for k, g := range d.caches.groups {
			groupOf(sums, logline.Escape(k, 64)).Merge(g)
		}
	default:
		for k, g := range d.cells.groups {
			groupOf(sums, cellOf(k).name(by)).Merge(g)
		}
	}
	names := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b].N, sums[a].N), cmp.Compare(a, b))
	})
	switch by {
	case "size":
		byRank(names, sizeNames[:])
	case "upstream":
		byRank(names, behindNames[:])
	}
	var out []Group
	top := v.top()
	rest := new(latency.Group)
	for i, n := range names {
		if i >= top {
			rest.Merge(sums[n])
			continue
		}
		out = append(out, newGroup(by, n, sums[n], s, v))
	}
	if rest.N > 0 {
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

func newGroup(by, name string, g *latency.Group, s *Sketch, v View) Group {
	out := Group{By: by, Name: name, Requests: g.N, Share: float64(g.N) / float64(s.Requests), Bytes: g.Bytes,
		Mean: inSeconds(float64(g.Sum)) / float64(g.N), Max: inSeconds(float64(g.Max)),
		Percentiles: percentilesOf(g, g.N, s.Step, 1e6), Under: map[string]float64{}}
	for _, t := range v.Under {
		out.Under[trimFloat(t)] = float64(g.Under(uint64(t*1e6+0.5))) / float64(g.N)
	}
	return out
}
