package weblog

import (
	"fmt"
	"math"
)

// muchOther is a change of the share of requests of a kind that is worth a note.
const muchOther = 0.05

// addKinds says where the requests after are of another kind than those before, which
// the same path and size do not show.
func (c *Comparison) addKinds(after, before *Sketch) {
	type part struct{ n, of uint64 }
	of := func(s *Sketch, codes ...int) part {
		p := part{of: s.Requests}
		for _, code := range codes {
			p.n += s.Status[code]
		}
		return p
	}
	add := func(what string, a, b part) {
		if a.of == 0 || b.of == 0 {
			return
		}
		x, y := float64(b.n)/float64(b.of), float64(a.n)/float64(a.of)
		if math.Abs(x-y) > muchOther {
			c.Notes = append(c.Notes, fmt.Sprintf("%s were %s of the requests before and %s after: part of the "+
				"change is theirs", what, percent(x), percent(y)))
		}
	}
	add("answers 304 (the client's cache had it)", of(after, 304), of(before, 304))
	if len(after.statuses()) > 1 || len(before.statuses()) > 1 {
		add("aborted requests (499, 000)", of(after, 499, 0), of(before, 499, 0))
	}
	if after.detail == nil || before.detail == nil {
		return
	}
	pair := func(n, of uint64) part { return part{n, of} }
	add("answers from a cache", pair(after.detail.fromCache()), pair(before.detail.fromCache()))
	add("requests on a connection that had one before", pair(after.detail.reused()), pair(before.detail.reused()))
}

// statuses are the codes that occur.
func (s *Sketch) statuses() (codes []int) {
	for code, n := range s.Status {
		if n > 0 {
			codes = append(codes, code)
		}
	}
	return codes
}

func percent(v float64) string { return fmt.Sprintf("%.2f%%", 100*v) }
