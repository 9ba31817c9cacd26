package canary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
)

// Early says that a window is not over yet.
type Early struct {
	Step  int // from 0
	Until time.Time
	Left  time.Duration
}

func (e *Early) Error() string {
	return fmt.Sprintf("the window of step %d ends at %s, in %s; judge it then, or wait with --wait", e.Step+1,
		e.Until.UTC().Format(time.RFC3339), e.Left.Round(time.Second))
}

// ErrOrder says that a step is begun or judged out of its order.
var ErrOrder = errors.New("out of order")

// Begin hands out the hosts of the next step. It may be called again until the step
// is judged: it is the same step.
func (s *State) Begin(now time.Time) (step int, err error) {
	step = s.Current()
	switch ended := s.Ended(); {
	case ended != nil:
		return step, fmt.Errorf("%w: the canary has ended: %s; roll its hosts back", ErrOrder, ended.Action)
	case step == len(s.Steps):
		return step, fmt.Errorf("%w: every step is made", ErrOrder)
	}
	if s.Steps[step].Begun == nil {
		s.Steps[step].Begun = &now
	}
	return step, nil
}

// Judge judges the step that has begun. Its first call begins the window; before
// the end of that it returns *Early. What was judged stands: there is one look at
// each step.
func (s *State) Judge(ctx context.Context, src Source) (*Look, error) {
	i := s.Current()
	if ended := s.Ended(); ended != nil {
		return ended, nil
	}
	if i == len(s.Steps) {
		return s.Steps[i-1].Look, nil
	}
	step := &s.Steps[i]
	if step.Begun == nil {
		return nil, fmt.Errorf("%w: step %d has not begun: canary begin lists its hosts", ErrOrder, i+1)
	}
	now, err := src.Now(ctx)
	if err != nil {
		return nil, err
	}
	if step.Information == 0 {
		step.Look = &Look{At: now, Action: Done, Because: []string{"no host is left to compare with"}}
		return step.Look, nil
	}
	if step.Since == nil {
		// A rate is of the time before it.
		step.Since = new(now.Add(s.Design.Resolution))
	}
	until := step.Since.Add(s.Design.Window)
	if now.Before(until) {
		return nil, &Early{i, until, until.Sub(now)}
	}
	look, err := s.look(ctx, src, i)
	if err != nil {
		return nil, err
	}
	look.At = now
	step.Look = look
	return look, nil
}

// Again gives up the window of a step that could not be judged; the next call of
// Judge begins another.
func (s *State) Again() error {
	i := s.Current()
	if s.Ended() != nil || i == len(s.Steps) || s.Steps[i].Begun == nil {
		return fmt.Errorf("%w: no step waits for its judgement; what was judged stands", ErrOrder)
	}
	s.Steps[i].Since = nil
	return nil
}

// looking is one look in the making.
type looking struct {
	*State
	step     int
	from, to time.Time
	metrics  []*Metric
	seen     []observed // by metric
	look     *Look
}

func (s *State) look(ctx context.Context, src Source, i int) (*Look, error) {
	l := &looking{State: s, step: i, from: *s.Steps[i].Since, metrics: s.Design.metrics(), look: &Look{Because: []string{}}}
	l.to = l.from.Add(s.Design.Window)
	for _, m := range l.metrics {
		o, err := observe(ctx, src, m.Query, s.Label, s.Hosts, l.from, l.to, s.Design.Resolution)
		if err != nil {
			return nil, err
		}
		l.seen = append(l.seen, o)
	}
	lost, err := l.findMissing()
	if err != nil {
		return nil, err
	}
	harmed := lost
	if !lost {
		if harmed, err = l.compareAll(); err != nil {
			return nil, err
		}
	}
	if s.Design.Boot != "" {
		worse, err := l.findRestarts(ctx, src)
		if err != nil {
			return nil, err
		}
		harmed = harmed || worse
	}
	l.decide(harmed)
	return l.look, nil
}

func (l *looking) because(format string, args ...any) {
	l.look.Because = append(l.look.Because, fmt.Sprintf(format, args...))
}

// missing counts the compared hosts that show too little, and all, of those that
// are not changed and those that are, and returns the first.
func (l *looking) missing() (gone, all [2]int, absent []Host) {
	for i, h := range l.Hosts {
		if !h.compared() {
			continue
		}
		side := 0
		if h.Step <= l.step {
			side = 1
		}
		all[side]++
		if _, ok := l.seen[0].mean(i, l.seen[0].expected, nil); !ok {
			gone[side]++
			absent = append(absent, h)
		}
	}
	return gone, all, absent
}

// findMissing lists the hosts that were there before and are not now, and tells
// whether changed hosts are lost more often than others.
func (l *looking) findMissing() (bool, error) {
	gone, all, absent := l.missing()
	for _, h := range absent {
		l.look.Missing = append(l.look.Missing, h.Name)
	}
	if 2*gone[0] > all[0] {
		return false, fmt.Errorf("%w: %d of %d unchanged hosts have too few samples between %s and %s, as when Prometheus was down; judge --again begins another window",
			ErrSource, gone[0], all[0], l.from.UTC().Format(time.RFC3339), l.to.UTC().Format(time.RFC3339))
	}
	if 2*gone[1] > all[1] {
		l.because("%d of %d changed hosts show nothing any more", gone[1], all[1])
		return true, nil
	}
	if p := stats.MoreOften(gone[1], all[1], gone[0], all[0]); p < l.guardLevel(l.step)/2 {
		l.because("%d of %d changed hosts are missing, and %d of %d others (p %.2g)", gone[1], all[1], gone[0], all[0], p)
		return true, nil
	}
	return false, nil
}

// findRestarts lists the hosts that were started anew during the window. They stay
// in the comparison, with what they were assigned.
func (l *looking) findRestarts(ctx context.Context, src Source) (bool, error) {
	all, err := src.Range(ctx, l.Design.Boot, l.from, l.to, l.Design.Resolution)
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
		side := 0
		if h.Step <= l.step {
			side = 1
		}
		of[side]++
		if restarted[i] {
			count[side]++
			l.look.Restarts = append(l.look.Restarts, h.Name)
		}
	}
	if p := stats.MoreOften(count[1], of[1], count[0], of[0]); p < l.guardLevel(l.step)/2 {
		l.because("%d of %d changed hosts were started anew, and %d of %d others (p %.2g)", count[1], of[1], count[0], of[0], p)
		return true, nil
	}
	if count[1] > 0 {
		l.look.Notes = append(l.look.Notes, fmt.Sprintf("%d changed hosts were started anew: what was not made permanent is gone on them", count[1]))
	}
	return false, nil
}

// part is what of the hosts and the time is compared.
type part struct {
	name  string
	hosts func(Host) bool
	times func(time.Time) bool
}

// units are the hosts of a part with their values of a metric.
func (l *looking) units(j int, p part) []stats.Unit {
	expected := 0
	for at := l.from; at.Before(l.to); at = at.Add(l.Design.Resolution) {
		if p.times == nil || p.times(at) {
			expected++
		}
	}
	var units []stats.Unit
	m := l.metrics[j]
	for i, h := range l.Hosts {
		if h.Before[j] == nil || p.hosts != nil && !p.hosts(h) {
			continue
		}
		if v, ok := l.seen[j].mean(i, expected, p.times); ok {
			before := *h.Before[j]
			units = append(units, stats.Unit{Treated: h.Step <= l.step, Block: h.Block, Before: m.scale(before, before), After: m.scale(v, before)})
		}
	}
	return units
}

// compare judges units at a level.
func (m *Metric) compare(units []stats.Unit, level, margin float64) Compared {
	c := Compared{Query: m.Query, Verdict: stats.NotEnough}
	d, err := stats.Adjusted(units)
	c.Changed, c.Others = d.Treated, d.Others
	if err != nil {
		return c
	}
	x := d.Interval(1 - level)
	if m.Mean > 0 {
		low, high := d.Limits(1 - level)
		positive := func(v float64) float64 { return math.Max(1+v, 1e-9) }
		x.Ratio, x.Low, x.High = positive(d.Mean), positive(low), positive(high)
	}
	c.Verdict = stats.Judge(x, margin, m.HigherIsBetter)
	c.Effect = &Effect{x.Ratio, x.Low, x.High, x.Confidence}
	return c
}

// compareAll compares the metric, the guards and the parts, and tells whether any
// of them harms.
func (l *looking) compareAll() (bool, error) {
	level, margin := l.Steps[l.step].Level, l.Design.Margin
	whole := l.units(0, part{})
	main := l.metrics[0].compare(whole, level, margin)
	if main.Effect == nil {
		return false, fmt.Errorf("%w: %d changed and %d other hosts with values are not enough in their blocks", ErrSource, main.Changed, main.Others)
	}
	if main.Verdict == stats.Helps && l.metrics[0].compare(l.withMissing(whole), level, margin).Verdict != stats.Helps {
		main.Verdict = stats.NotEnough
		l.look.Notes = append(l.look.Notes, "the metric's gain does not stand when the hosts that are missing count as its worst ones")
	}
	l.look.Metric = &main
	harmed := l.harm(main, "the metric")
	for j := range l.Design.Guards {
		g := l.metrics[j+1].compare(l.units(j+1, part{}), l.guardLevel(l.step), margin)
		l.look.Guards = append(l.look.Guards, g)
		harmed = l.harm(g, "the guard "+g.Query) || harmed
	}
	var parts []part
	var units [][]stats.Unit
	for _, p := range l.parts() {
		if u := l.units(0, p); stats.Information(u) >= 0.75 && len(u) >= 6 {
			parts, units = append(parts, p), append(units, u)
		}
	}
	for k, p := range parts {
		c := l.metrics[0].compare(units[k], l.Steps[l.step].Checks/float64(len(parts)), margin)
		c.Of = p.name
		l.look.Parts = append(l.look.Parts, c)
		harmed = l.harm(c, "the metric of "+p.name) || harmed
	}
	return harmed, nil
}

func (l *looking) harm(c Compared, what string) bool {
	if c.Verdict != stats.Hurts {
		return false
	}
	l.because("%s became worse: x%.3f (%.3f to %.3f) on %d changed hosts beside %d others", what, c.Effect.Ratio, c.Effect.Low, c.Effect.High,
		c.Changed, c.Others)
	return true
}

// parts are the values of each key of the blocks, quarters of the day and the halves
// of the window: a harm on one kind of hardware, at night, or one that grows.
func (l *looking) parts() []part {
	var parts []part
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
	if l.Design.Window >= 24*time.Hour {
		for q := range 4 {
			parts = append(parts, part{name: fmt.Sprintf("%02d:00 to %02d:00 UTC", 6*q, 6*q+6),
				times: func(at time.Time) bool { return at.UTC().Hour()/6 == q }})
		}
	}
	middle := l.from.Add(l.Design.Window / 2)
	return append(parts, part{name: "the first half of the window", times: between(l.from, middle)},
		part{name: "the second half of the window", times: between(middle, l.to)})
}

// withMissing adds, for each changed host that is missing beyond the share of the
// others, one that did as badly as the worst changed host that is there.
func (l *looking) withMissing(units []stats.Unit) []stats.Unit {
	gone, all, absent := l.missing()
	absent = slices.DeleteFunc(absent, func(h Host) bool { return h.Step > l.step })
	excess := int(math.Ceil(float64(gone[1]) - float64(gone[0])/math.Max(1, float64(all[0]))*float64(all[1])))
	worst, sign := math.Inf(1), -1.0
	if l.metrics[0].HigherIsBetter {
		sign = 1
	}
	for _, u := range units {
		if u.Treated {
			worst = math.Min(worst, sign*(u.After-u.Before))
		}
	}
	for _, h := range absent[:max(0, min(excess, len(absent)))] {
		before := l.metrics[0].scale(*h.Before[0], *h.Before[0])
		units = append(units, stats.Unit{Treated: true, Block: h.Block, Before: before, After: before + sign*worst})
	}
	return units
}

// decide draws the conclusion of a look.
func (l *looking) decide(harmed bool) {
	step := l.Steps[l.step]
	last := l.step == len(l.Steps)-1
	switch {
	case harmed:
		l.look.Action = Stop
	case step.Decides:
		l.look.Action = Undecided
		if l.proved() {
			l.look.Action = Promote
		}
	case last:
		l.look.Action = Done
		l.because("no harm was found")
	default:
		l.look.Action = Proceed
		l.because("no harm was found")
	}
}

// proved tells whether a change earned its promotion: by the metric, and by guards
// that are known not to be worse.
func (l *looking) proved() bool {
	main := l.look.Metric
	ok := main.Verdict == stats.Helps
	if l.Design.Promote == OnNoHarm {
		ok = within(main.Effect, l.Design.Margin, l.metrics[0].HigherIsBetter)
	}
	l.because("the metric: %s, x%.3f (%.3f to %.3f)", main.Verdict.Words(), main.Effect.Ratio, main.Effect.Low, main.Effect.High)
	for j, g := range l.look.Guards {
		if !within(g.Effect, l.Design.GuardMargin, l.metrics[j+1].HigherIsBetter) {
			ok = false
			l.because("it is not known that the guard %s is not worse by more than %g%%", g.Query, 100*l.Design.GuardMargin)
		}
	}
	return ok
}

// within tells whether the bad end of an interval is no further from 1 than the
// margin.
func within(e *Effect, margin float64, higherIsBetter bool) bool {
	if e == nil {
		return false
	}
	if higherIsBetter {
		return e.Low >= 1/(1+margin)
	}
	return e.High <= 1+margin
}
