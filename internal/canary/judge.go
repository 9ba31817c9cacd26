package canary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
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
		reach, err := s.Design.reach()
		if err != nil {
			return nil, err
		}
		step.Since = new(now.Add(reach))
		step.Windows++
	}
	until := step.Since.Add(s.Design.window())
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
	strict   Compared // the metric's comparison when missing hosts count as the worst
	unknown  []string // parts of which it is not known that they are not worse
}

func (s *State) look(ctx context.Context, src Source, i int) (*Look, error) {
	l := &looking{State: s, step: i, from: *s.Steps[i].Since, metrics: s.Design.metrics(),
		look: &Look{Because: []string{}}}
	l.to = l.from.Add(s.Design.window())
	for _, m := range l.metrics {
		o, err := observe(ctx, src, m.Query, s.Label, s.Hosts, l.from, l.to, s.Design.resolution())
		if err != nil {
			return nil, err
		}
		if m.Positive && !m.HigherIsBetter {
			o.dropZeros()
		}
		l.seen = append(l.seen, o)
	}
	if n := s.Steps[i].Windows; n > 1 {
		l.note("the window of this step was begun %d times: a result that was not to somebody's "+
			"liking may have been given up", n)
	}
	lost, err := l.findMissing()
	if err != nil {
		return nil, err
	}
	harmed, err := l.compareAll()
	if err != nil && !lost {
		return nil, err
	}
	harmed = harmed || lost
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

func (l *looking) note(format string, args ...any) {
	l.look.Notes = append(l.look.Notes, fmt.Sprintf(format, args...))
}

// clock is how a time is written.
func clock(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func (l *looking) because(format string, args ...any) {
	l.look.Because = append(l.look.Because, fmt.Sprintf(format, args...))
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
	decider := l.metrics[0]
	main := decider.compare(l.units(0, part{}), level, margin)
	if main.Effect == nil {
		return false, fmt.Errorf("%w: %d changed and %d other hosts with values are not enough in their blocks",
			ErrSource, main.Changed, main.Others)
	}
	l.strict = decider.compare(l.withMissing(), level, margin)
	if main.Verdict == stats.Helps && l.strict.Verdict != stats.Helps {
		main.Verdict = stats.NotEnough
		l.note("the metric's gain does not stand when the hosts that are missing count as its worst ones")
	}
	if main.Verdict == stats.Helps && decider.compare(l.units(0, ordinary), level, 0).Verdict != stats.Helps {
		main.Verdict = stats.NotEnough
		l.note("the metric's gain is that of few hosts: without their extremes nothing is gained")
	}
	l.look.Metric = &main
	harmed := l.harm(main, "the metric")
	for j := range l.Design.Guards {
		g := l.metrics[j+1].compare(l.units(j+1, part{}), l.guardLevel(l.step), margin)
		l.look.Guards = append(l.look.Guards, g)
		harmed = l.harm(g, "the guard "+g.Query) || harmed
	}
	harmed = l.compareParts() || harmed
	return l.findFallen() || harmed, nil
}

func (l *looking) harm(c Compared, what string) bool {
	if c.Verdict != stats.Hurts {
		return false
	}
	l.because("%s became worse: x%.3f (%.3f to %.3f) on %d changed hosts beside %d others",
		what, c.Effect.Ratio, c.Effect.Low, c.Effect.High, c.Changed, c.Others)
	return true
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
			l.warn()
		}
	case last:
		l.look.Action = Done
		l.because("no harm was found")
	default:
		l.look.Action = Proceed
		l.because("no harm was found")
	}
}

// warn says what a promotion rests on: a harm that is elsewhere, at other hours or
// later was not looked for.
func (l *looking) warn() {
	if len(l.unknown) > 0 {
		l.note("it is not known that the metric is not worse by more than %g%% of %s: too few hosts or too much scatter",
			100*l.Design.GuardMargin, strings.Join(l.unknown, ", "))
	}
	if window := l.Design.window(); window%(7*24*time.Hour) != 0 {
		other := "hours"
		if window%(24*time.Hour) == 0 {
			other = "days of the week"
		}
		l.note("only the time from %s to %s was watched: a harm at other %s is not seen", clock(l.from), clock(l.to), other)
	}
	if l.Steps[len(l.Steps)-1].Information == 0 {
		l.note("the last step leaves no host unchanged, so a decay after this window is not seen")
	}
}

// proved tells whether a change earned its promotion: by the metric, and by guards
// that are known not to be worse.
func (l *looking) proved() bool {
	main := l.look.Metric
	ok := main.Verdict == stats.Helps
	if l.Design.Promote == OnNoHarm {
		ok = within(main.Effect, l.Design.Margin, l.metrics[0].HigherIsBetter) &&
			within(l.strict.Effect, l.Design.Margin, l.metrics[0].HigherIsBetter)
	}
	l.because("the metric: %s, x%.3f (%.3f to %.3f)", main.Verdict.Words(), main.Effect.Ratio,
		main.Effect.Low, main.Effect.High)
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
