package weblog

import (
	"maps"
	"slices"
	"sort"

	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// mixed is a distribution of several classes with given weights.
type mixed struct {
	groups  []*latency.Group
	weights []float64 // add up to 1
	cdf     [latency.CoarseBins]float64
	all     *latency.Group // of the classes, unweighted: for values within bins
	step    uint64
}

// match compares the classes (path pattern and size) that both sides have. It
// returns nil when there are none, or when no path and no size is known.
func match(after, before *Sketch, confidence float64, j Judgement) *Matched {
	pa, pb := after.detail.paths, before.detail.paths
	depth := min(pa.depth(), pb.depth())
	ga, gb := pa.cut(depth), pb.cut(depth)
	unknown := len(ga) == 1 && len(gb) == 1 && ga["\x00-"] != nil
	maps.DeleteFunc(ga, func(k string, _ *latency.Group) bool { return gb[k] == nil })
	keys := slices.Sorted(maps.Keys(ga)) // sums of floats depend on their order
	if unknown || len(keys) == 0 {
		return nil
	}
	var na, nb, total float64
	for _, k := range keys {
		na += float64(ga[k].N)
		nb += float64(gb[k].N)
	}
	total = na + nb
	a, b := newMixed(after.Step), newMixed(before.Step)
	for _, k := range keys {
		w := float64(ga[k].N+gb[k].N) / total
		a.add(ga[k], w)
		b.add(gb[k], w)
	}
	a.finish()
	b.finish()
	m := &Matched{Classes: len(keys), AfterShare: na / float64(after.Requests),
		BeforeShare: nb / float64(before.Requests)}
	da, db := distOf(after), distOf(before)
	for _, p := range judged(j.Percentile) {
		ea, eb := together(a.estimator(da), b.estimator(db), p/100, confidence)
		m.Shifts = append(m.Shifts, newShift(p, ea, eb, j.Margin, float64(max(da.Step, db.Step))))
	}
	return m
}

// cut returns the groups with patterns of at most depth segments, without
// changing the table.
func (t *pathTable) cut(depth int) map[string]*latency.Group {
	out := make(map[string]*latency.Group, len(t.groups))
	for _, k := range slices.Sorted(maps.Keys(t.groups)) {
		groupOf(out, cutPattern(k, depth)).Merge(t.groups[k])
	}
	return out
}

func newMixed(step uint64) *mixed {
	return &mixed{all: new(latency.Group), step: max(step, 1)}
}

func (m *mixed) add(g *latency.Group, weight float64) {
	m.groups = append(m.groups, g)
	m.weights = append(m.weights, weight)
	m.all.Merge(g)
	g.Each(func(bin int, count uint64) bool {
		m.cdf[bin] += weight * float64(count) / float64(g.N)
		return true
	})
}

// finish turns the weighted shares into a distribution function.
func (m *mixed) finish() {
	sum := 0.0
	for i := range m.cdf {
		sum += m.cdf[i]
		m.cdf[i] = sum
	}
}

// estimator returns the function that estimates weighted quantiles. Their variance
// is that of a stratified sample, not less than without classes, made larger as
// that of the whole log is than independent requests would make it.
func (m *mixed) estimator(whole latency.Dist) func(q, confidence, freedom float64) (latency.Estimate, float64) {
	return func(q, confidence, freedom float64) (e latency.Estimate, own float64) {
		bin := m.bin(q)
		variance := 0.0
		edge := latency.CoarseEdge(bin + 1)
		for i, g := range m.groups {
			n := float64(g.N)
			// Two requests more, spread as the whole is, keep a class of few from
			// claiming certainty.
			p := (float64(g.Under(edge)) + 2*q) / (n + 2)
			variance += m.weights[i] * m.weights[i] * p * (1 - p) / n
		}
		variance = max(variance, q*(1-q)/float64(m.all.N))
		_, s := whole.Share(latency.BinOf(edge))
		if s.Independent > 0 {
			s.Between *= variance / s.Independent
		}
		s.Independent = variance
		half, own := s.Half(confidence, freedom)
		e.Value = m.all.Value(bin, m.step)
		lo, hi := latency.Around(q, half, confidence, float64(m.all.N))
		if lo > 0 {
			v := m.all.Value(m.bin(lo), m.step)
			e.Low = &v
		}
		if hi <= 1 {
			v := m.all.Value(m.bin(hi), m.step)
			e.High = &v
		}
		return e, own
	}
}

// bin returns the first bin at whose end the distribution function reaches q.
func (m *mixed) bin(q float64) int {
	i := sort.Search(latency.CoarseBins, func(i int) bool { return m.cdf[i] >= q-1e-12 })
	return min(i, latency.CoarseBins-1)
}
