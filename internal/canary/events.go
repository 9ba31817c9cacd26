package canary

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/stats"
)

// What makes a host stand out.
const (
	// gaps is the share of the samples of an ordinary unchanged host under which a
	// host counts as missing.
	gaps = 0.9
	// farOff is how many times the scatter of unchanged hosts is far off.
	farOff = 4
	// fewest is the number of unchanged hosts whose scatter is known.
	fewest = 8
)

// side is 1 for a host that is changed by this step and 0 for one that is not.
func (l *looking) side(h Host) int {
	if h.Step <= l.step {
		return 1
	}
	return 0
}

// missing are the hosts that had a metric before and show too little of it now.
type missing struct {
	gone   [2]int // unchanged and changed hosts that cannot be compared
	few    [2]int // the same with those that have gaps
	all    [2]int
	absent map[int]bool // by host: those of few
}

func (l *looking) missing(j int) missing {
	m := missing{absent: map[int]bool{}}
	var counts []float64
	for i, h := range l.Hosts {
		if h.Before[j] != nil && l.side(h) == 0 {
			counts = append(counts, float64(len(l.seen[j].points[i])))
		}
	}
	enough := gaps * stats.Median(counts)
	for i, h := range l.Hosts {
		if h.Before[j] == nil {
			continue
		}
		side := l.side(h)
		m.all[side]++
		_, ok := l.seen[j].mean(i, l.seen[j].expected, nil)
		if !ok {
			m.gone[side]++
		}
		if !ok || float64(len(l.seen[j].points[i])) < enough {
			m.few[side]++
			m.absent[i] = true
		}
	}
	return m
}

// eventLevel is the one-sided level of one kind of event in one of the metrics.
func (l *looking) eventLevel(metrics int) float64 { return l.guardLevel(l.step) / 2 / float64(metrics) }

// findMissing lists the hosts that were there before and are not now, or not all the
// time, and tells whether changed hosts are lost more often than others.
func (l *looking) findMissing() (bool, error) {
	names := map[string]bool{}
	lost := false
	for j, metric := range l.metrics {
		m := l.missing(j)
		for i := range m.absent {
			names[l.Hosts[i].Name] = true
		}
		if 2*m.gone[0] > m.all[0] {
			return false, fmt.Errorf("%w: %d of %d unchanged hosts have too few samples of %s between %s and %s, as when "+
				"Prometheus was down; judge --again begins another window",
				ErrSource, m.gone[0], m.all[0], metric.Query, clock(l.from), clock(l.to))
		}
		if 2*m.gone[1] > m.all[1] {
			l.because("%d of %d changed hosts show nothing of %s any more", m.gone[1], m.all[1], metric.Query)
			lost = true
		} else if p := stats.MoreOften(m.few[1], m.all[1], m.few[0], m.all[0]); p < l.eventLevel(len(l.metrics)) {
			l.because("%d of %d changed hosts lack %s, all or some of the time, and %d of %d others (p %.2g)",
				m.few[1], m.all[1], metric.Query, m.few[0], m.all[0], p)
			lost = true
		}
	}
	for name := range names {
		l.look.Missing = append(l.look.Missing, name)
	}
	slices.Sort(l.look.Missing)
	return lost, nil
}

// findRestarts lists the hosts that were started anew during the window. They stay
// in the comparison, with what they were assigned.
func (l *looking) findRestarts(ctx context.Context, src Source) (bool, error) {
	all, err := src.Range(ctx, l.Design.Boot, l.from, l.to, l.Design.resolution())
	if err != nil {
		return false, fmt.Errorf("query %s: %w", l.Design.Boot, err)
	}
	index := map[string]int{}
	for i, h := range l.Hosts {
		index[h.Name] = i
	}
	restarted := map[int]bool{}
	for _, s := range all {
		i, ok := hostOf(index, s.Labels[l.Label])
		points := numbers(s.Points, l.from, l.to)
		// A clock that is set moves the time of the start by little.
		if ok && len(points) > 1 && points[len(points)-1].Value-points[0].Value > 60 {
			restarted[i] = true
		}
	}
	count, of := [2]int{}, [2]int{}
	for i, h := range l.Hosts {
		of[l.side(h)]++
		if restarted[i] {
			count[l.side(h)]++
			l.look.Restarts = append(l.look.Restarts, h.Name)
		}
	}
	if p := stats.MoreOften(count[1], of[1], count[0], of[0]); p < l.eventLevel(1) {
		l.because("%d of %d changed hosts were started anew, and %d of %d others (p %.2g)",
			count[1], of[1], count[0], of[0], p)
		return true, nil
	}
	if 2*count[1] > of[1] && 2*count[0] <= of[0] {
		l.because("%d of %d changed hosts were started anew, and %d of %d others", count[1], of[1], count[0], of[0])
		return true, nil
	}
	if count[1] > 0 {
		l.note("%d changed hosts were started anew: what was not made permanent is gone on them", count[1])
	}
	return false, nil
}

// moved is how much better hosts became, as their metric is compared, and how much
// that scatters among those that are not changed.
type moved struct {
	better [2]map[int]float64 // by side and host
	middle [2]float64
	spread float64
}

func (l *looking) moved(j int) (moved, bool) {
	r := moved{better: [2]map[int]float64{{}, {}}}
	m := l.metrics[j]
	var values [2][]float64
	for i, h := range l.Hosts {
		v, ok := l.seen[j].mean(i, l.seen[j].expected, nil)
		if h.Before[j] == nil || !ok {
			continue
		}
		before := *h.Before[j]
		better := m.scale(v, before) - m.scale(before, before)
		if !m.HigherIsBetter {
			better = -better
		}
		r.better[l.side(h)][i] = better
		values[l.side(h)] = append(values[l.side(h)], better)
	}
	for side := range values {
		r.middle[side] = stats.Median(values[side])
	}
	var off []float64
	for _, v := range values[0] {
		off = append(off, math.Abs(v-r.middle[0]))
	}
	r.spread = m.SD
	if len(off) > 0 {
		r.spread = math.Max(stats.Median(off)/0.6745, m.SD) // as the standard deviation of a normal distribution
	}
	return r, len(values[0]) >= fewest
}

// findFallen tells whether single hosts became far worse more often among the changed
// ones: a harm on few hosts is lost in the mean of many.
func (l *looking) findFallen() bool {
	harmed := false
	for j, metric := range l.metrics {
		r, ok := l.moved(j)
		if !ok {
			continue
		}
		limit := r.middle[0] - math.Max(farOff*r.spread, math.Log1p(l.Design.GuardMargin))
		count := [2]int{}
		var names []string
		for side := range count {
			for i, better := range r.better[side] {
				if better < limit {
					count[side]++
					if side == 1 {
						names = append(names, l.Hosts[i].Name)
					}
				}
			}
		}
		if count[1] == 0 {
			continue
		}
		slices.Sort(names)
		l.look.Fallen = append(l.look.Fallen, names...)
		said := fmt.Sprintf("%d of %d changed hosts became far worse in %s, and %d of %d others",
			count[1], len(r.better[1]), metric.Query, count[0], len(r.better[0]))
		if p := stats.MoreOften(count[1], len(r.better[1]), count[0], len(r.better[0])); p < l.eventLevel(len(l.metrics)) {
			l.because("%s (p %.2g)", said, p)
			harmed = true
		} else if count[1]*len(r.better[0]) > count[0]*len(r.better[1]) {
			l.note("%s, which may be chance: see %s", said, strings.Join(names[:min(len(names), 5)], ", "))
		}
	}
	slices.Sort(l.look.Fallen)
	l.look.Fallen = slices.Compact(l.look.Fallen)
	return harmed
}
