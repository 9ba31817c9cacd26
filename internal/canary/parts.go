package canary

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
)

// part is what of the hosts and the time is compared.
type part struct {
	name  string
	hosts func(Host) bool
	times func(time.Time) bool
	// clipped says that hosts that moved far from the others of their side count as
	// if they had moved less, so that few cannot outweigh many.
	clipped bool
}

// clipAt is how many times their scatter hosts may be from the middle of their side.
const clipAt = 3

// units are the hosts of a part with their values of a metric.
func (l *looking) units(j int, p part) []stats.Unit {
	expected := l.seen[j].expected
	if p.times != nil {
		expected = 0
		for at := l.from; at.Before(l.to); at = at.Add(l.Design.resolution()) {
			if p.times(at) {
				expected++
			}
		}
	}
	sign := 1.0
	if !l.metrics[j].HigherIsBetter {
		sign = -1
	}
	var all moved
	if p.clipped {
		all, _ = l.moved(j)
	}
	var units []stats.Unit
	m := l.metrics[j]
	for i, h := range l.Hosts {
		if h.Before[j] == nil || p.hosts != nil && !p.hosts(h) {
			continue
		}
		v, ok := l.seen[j].mean(i, expected, p.times)
		if !ok {
			continue
		}
		before := m.scale(*h.Before[j], *h.Before[j])
		after := m.scale(v, *h.Before[j])
		if p.clipped {
			middle := sign * all.middle[l.side(h)]
			after = before + math.Max(middle-clipAt*all.spread, math.Min(after-before, middle+clipAt*all.spread))
		}
		units = append(units, stats.Unit{Treated: l.side(h) == 1, Block: h.Block, Before: before, After: after})
	}
	return units
}

// ordinary is all hosts without what is extreme in them.
var ordinary = part{name: "ordinary hosts", clipped: true}

// parts are the values of each key of the blocks, quarters of the day, the halves of
// the window, the hosts that were changed before, and what is ordinary: a harm on one
// kind of hardware, at night, one that grows, or one that the gain of few outweighs.
func (l *looking) parts() []part {
	parts := []part{ordinary}
	for k, key := range l.Design.Blocks {
		values := map[string]bool{}
		for _, h := range l.Hosts {
			values[h.Facts[k]] = true
		}
		if len(values) < 2 {
			continue
		}
		var names []string
		for v := range values {
			names = append(names, v)
		}
		slices.Sort(names)
		for _, v := range names {
			parts = append(parts, part{name: key + "=" + v, hosts: func(h Host) bool { return h.Facts[k] == v }})
		}
	}
	if l.Design.window() >= 24*time.Hour {
		for q := range 4 {
			parts = append(parts, part{name: fmt.Sprintf("%02d:00 to %02d:00 UTC", 6*q, 6*q+6),
				times: func(at time.Time) bool { return at.UTC().Hour()/6 == q }})
		}
	}
	if l.step > 0 {
		parts = append(parts, part{name: "the hosts that were changed in earlier steps",
			hosts: func(h Host) bool { return h.Step != l.step }})
	}
	middle := l.from.Add(l.Design.window() / 2)
	return append(parts, part{name: "the first half of the window", times: between(l.from, middle)},
		part{name: "the second half of the window", times: between(middle, l.to)})
}

// compareParts compares the metric and the guards in each part that has enough hosts,
// and tells whether any harms.
func (l *looking) compareParts() bool {
	type test struct {
		part
		metric int
		units  []stats.Unit
	}
	var tests []test
	for _, p := range l.parts() {
		for j := range l.metrics {
			if u := l.units(j, p); stats.Information(u) >= 0.75 && len(u) >= 6 {
				tests = append(tests, test{p, j, u})
			} else if j == 0 {
				l.unknown = append(l.unknown, p.name)
			}
		}
	}
	harmed := false
	for _, t := range tests {
		m := l.metrics[t.metric]
		c := m.compare(t.units, l.Steps[l.step].Checks/float64(len(tests)), l.Design.Margin)
		c.Of = t.name
		l.look.Parts = append(l.look.Parts, c)
		what := "the metric of "
		if t.metric > 0 {
			what = "the guard " + m.Query + " of "
		} else if !within(c.Effect, l.Design.GuardMargin, m.HigherIsBetter) {
			l.unknown = append(l.unknown, t.name)
		}
		harmed = l.harm(c, what+t.name) || harmed
	}
	return harmed
}

// withMissing leaves out the changed hosts that are missing, and adds, for each
// beyond the share of the others, one that did as badly as the worst changed host
// that is there.
func (l *looking) withMissing() []stats.Unit {
	m := l.missing(0)
	var absent []Host
	lost := map[string]bool{}
	for i, h := range l.Hosts {
		if m.absent[i] && l.side(h) == 1 {
			absent = append(absent, h)
			lost[h.Name] = true
		}
	}
	units := l.units(0, part{hosts: func(h Host) bool { return !lost[h.Name] }})
	excess := int(math.Ceil(float64(m.few[1]) - float64(m.few[0])/math.Max(1, float64(m.all[0]))*float64(m.all[1])))
	worst, sign := math.Inf(1), -1.0
	if l.metrics[0].HigherIsBetter {
		sign = 1
	}
	for _, u := range units {
		if u.Treated {
			worst = math.Min(worst, sign*(u.After-u.Before))
		}
	}
	if math.IsInf(worst, 1) {
		return nil // nothing is known of any changed host
	}
	for _, h := range absent[:max(0, min(excess, len(absent)))] {
		before := l.metrics[0].scale(*h.Before[0], *h.Before[0])
		units = append(units, stats.Unit{Treated: true, Block: h.Block, Before: before, After: before + sign*worst})
	}
	return units
}
