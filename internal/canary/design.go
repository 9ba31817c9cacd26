package canary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
)

// What a design may be.
const (
	maxGuards = 20
	// splits is how often the scatter is read from the history, if that is long
	// enough: windows one before the other.
	splits = 3
	// lookUnits is what the information of the deciding step is counted in.
	lookUnits = 50
	// laterShare is the part of alpha that is kept for steps after the deciding one.
	laterShare = 0.1
)

func (d Design) check() error {
	switch {
	case d.resolution() < time.Second:
		return fmt.Errorf("a resolution of %s is too fine; at least 1s is expected", d.resolution())
	case d.window() < 8*d.resolution():
		return fmt.Errorf("a window of %s has fewer than 8 samples at a resolution of %s", d.window(), d.resolution())
	case d.before() < d.window():
		return fmt.Errorf("the history before (%s) is shorter than a window (%s); hosts would be compared with too "+
			"little", d.before(), d.window())
	case !(d.Alpha > 0 && d.Alpha <= 0.2), !(d.Power > 0.5 && d.Power < 1):
		return errors.New("alpha from above 0 to 20% and a power from above 50% to below 100% are expected")
	case !(d.Margin >= 0 && d.Margin < 1), !(d.GuardMargin > 0 && d.GuardMargin < 1):
		return errors.New("margins from 0 to below 100% are expected, and above 0 for guards")
	case len(d.Guards) > maxGuards:
		return fmt.Errorf("%d guards; at most %d are expected", len(d.Guards), maxGuards)
	case d.Promote != OnHelps && d.Promote != OnNoHarm:
		return fmt.Errorf("promote on %q: %s or %s is expected", d.Promote, OnHelps, OnNoHarm)
	}
	return nil
}

// metrics are the deciding metric and the guards.
func (d *Design) metrics() []*Metric {
	all := []*Metric{&d.Metric}
	for i := range d.Guards {
		all = append(all, &d.Guards[i])
	}
	return all
}

// New designs a canary for hosts that have their facts: it reads the history,
// assigns the hosts to steps (as ParseSteps has them) and says what each will see.
func New(ctx context.Context, src Source, d Design, label string, hosts []Host, steps string) (*State, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	lead, err := d.reach()
	if err != nil {
		return nil, err
	}
	sizes, err := ParseSteps(steps, len(hosts))
	if err != nil {
		return nil, err
	}
	now, err := src.Now(ctx)
	if err != nil {
		return nil, err
	}
	s := &State{Schema: stateSchema, Label: label, Made: now, Design: d, Hosts: hosts, Notes: []string{}}
	var history []observed
	for j, m := range s.Design.metrics() {
		reach := d.before() + splits*d.window() + time.Duration(len(sizes)-1)*s.Takes() + lead
		o, err := observe(ctx, src, m.Query, label, hosts, now.Add(-reach), now, d.resolution())
		if err != nil {
			return nil, err
		}
		if err := s.readBefore(j, m, o); err != nil {
			return nil, err
		}
		m.Positive = o.positive()
		history = append(history, o)
	}
	assign(s.Hosts, sizes, d.Seed)
	s.Steps = make([]Step, len(sizes))
	for i, n := range sizes {
		s.Steps[i] = Step{Changed: n, Information: stats.Information(contrast(s.Hosts, i))}
	}
	decides, err := s.setLevels()
	if err != nil {
		return nil, err
	}
	for j, m := range s.Design.metrics() {
		if err := s.readScatter(m, history[j], time.Duration(decides)*s.Takes()+lead); err != nil {
			return nil, err
		}
	}
	if s.Design.Metric.SD == 0 {
		return nil, fmt.Errorf("%w: %s is the same on every host at any time: no change shows in it",
			ErrQuery, d.Metric.Query)
	}
	s.promise()
	s.remark(history[0].strange)
	return s, nil
}

// readBefore keeps the hosts' means over the history before the change, and on
// which scale they are compared.
func (s *State) readBefore(j int, m *Metric, o observed) error {
	from := s.Made.Add(-s.Design.before())
	expected := int(s.Design.before() / s.Design.resolution())
	sum, n, positive := 0.0, 0, true
	for i := range s.Hosts {
		var before *float64
		if v, ok := o.mean(i, expected, between(from, s.Made.Add(1))); ok {
			before = &v
			sum += v
			n++
			positive = positive && v > 0
		}
		s.Hosts[i].Before = append(s.Hosts[i].Before[:j:j], before)
	}
	switch {
	case n < 4 || n < len(s.Hosts)/2:
		return fmt.Errorf("%w: %s has a history of %s for only %d of %d hosts; is it kept that long? a shorter "+
			"--before and --window need less", ErrQuery, m.Query, s.Design.before(), n, len(s.Hosts))
	case positive:
		m.Mean = 0
	case !(sum > 0):
		return fmt.Errorf("%w: %s is 0 or below on average: there is nothing that changes can be shares of",
			ErrQuery, m.Query)
	default:
		m.Mean = sum / float64(n)
	}
	return nil
}

// scale is a mean as it is compared: its logarithm, or its share of the metric's
// mean. A host that all but stands still counts as a hundredth of what it did.
func (m *Metric) scale(v, before float64) float64 {
	if m.Mean == 0 {
		return math.Log(math.Max(v, before/100))
	}
	return v / m.Mean
}

// readScatter finds how much hosts scatter over a window, given what they were
// before it, from windows in which nothing was changed. Between both lies a gap, as
// long as the steps take that come before the deciding one: hosts wander.
func (s *State) readScatter(m *Metric, o observed, gap time.Duration) error {
	d := s.Design
	variance, freedom := 0.0, 0
	for split := range splits {
		end := s.Made.Add(-time.Duration(split) * d.window())
		start := end.Add(-d.window())
		var units []stats.Unit
		for i, h := range s.Hosts {
			after, ok := o.mean(i, int(d.window()/d.resolution()), between(start, end))
			before, known := o.mean(i, int(d.before()/d.resolution()), between(start.Add(-gap-d.before()), start.Add(-gap)))
			if ok && known && (m.Mean > 0 || before > 0) {
				units = append(units, stats.Unit{Block: h.Block, Before: m.scale(before, before), After: m.scale(after, before)})
			}
		}
		if len(units) < len(s.Hosts)/2 {
			continue
		}
		sd, df, err := stats.Scatter(units)
		if err != nil {
			continue
		}
		variance += sd * sd * float64(df)
		freedom += df
		m.DF = max(m.DF, df)
	}
	if freedom == 0 {
		return fmt.Errorf("%w: %s has too short a history to show how hosts scatter: %s are needed on most hosts, and "+
			"blocks of several hosts; a shorter --before and --window need less",
			ErrQuery, m.Query, d.before()+gap+d.window())
	}
	m.SD = math.Sqrt(variance / float64(freedom))
	return nil
}

// setLevels divides alpha among the steps: in proportion to the square of the
// information up to the deciding one, which has the most. The levels are the
// differences of what is spent, which holds however the looks depend on each other:
// hosts change sides and windows are new, so they are not sums of one sequence.
func (s *State) setLevels() (decides int, err error) {
	decides = -1
	for i, step := range s.Steps {
		if step.Information > 0 && (decides < 0 || step.Information > s.Steps[decides].Information) {
			decides = i
		}
	}
	if decides < 0 {
		return 0, errors.New("no step has changed and unchanged hosts in one block; larger blocks or other steps are needed")
	}
	s.Steps[decides].Decides = true
	later := 0
	for _, step := range s.Steps[decides+1:] {
		if step.Information > 0 {
			later++
		}
	}
	alpha := s.Design.Alpha
	if later > 0 {
		alpha *= 1 - laterShare
	}
	var at []int
	before := 1
	for _, step := range s.Steps[:decides+1] {
		units := int(math.Round(step.Information / s.Steps[decides].Information * lookUnits))
		before = min(max(units, before+1), lookUnits)
		if step.Information > 0 {
			at = append(at, before)
		}
	}
	at[len(at)-1] = lookUnits
	looks, err := stats.NewLooks(lookUnits, at, alpha)
	if err != nil {
		return 0, err
	}
	spent, look := 0.0, 0
	for i := range s.Steps {
		step := &s.Steps[i]
		switch {
		case step.Information <= 0:
			continue
		case i <= decides:
			step.Level = looks.Plan[look].Spent - spent
			spent = looks.Plan[look].Spent
			look++
		default:
			step.Level = spent / (1 - laterShare) * laterShare / float64(later)
		}
		step.Checks = step.Level / 2
	}
	return decides, nil
}

// guardLevel is the level of one guard, and of one kind of event: hosts that are
// missing, started anew, or far worse.
func (s *State) guardLevel(step int) float64 {
	return s.Steps[step].Checks / float64(len(s.Design.Guards)+3)
}

// promise says what each step finds with the design's power.
func (s *State) promise() {
	d := s.Design
	margin := math.Log1p(d.Margin)
	for i := range s.Steps {
		step := &s.Steps[i]
		step.GuardSees = []*float64{}
		if step.Level == 0 {
			continue
		}
		step.Sees = d.Metric.sees(margin, step.Information, step.Level, d.Power)
		for _, g := range d.Guards {
			step.GuardSees = append(step.GuardSees, g.sees(margin, step.Information, s.guardLevel(i), d.Power))
		}
	}
}

// sees is the smallest change of a metric that a comparison finds.
func (m Metric) sees(margin, information, level, power float64) *float64 {
	effect := stats.Detectable(margin, m.SD/math.Sqrt(information), max(1, m.DF-1), level, power)
	if math.IsInf(effect, 1) {
		return nil
	}
	if m.Mean == 0 {
		effect = math.Expm1(effect)
	}
	return &effect
}

// PowerAt is the probability that the deciding step finds a change (a ratio - 1) of
// the metric, as far as the metric alone decides.
func (s *State) PowerAt(change float64) float64 {
	for _, step := range s.Steps {
		if step.Decides {
			m := s.Design.Metric
			effect := math.Abs(change)
			if m.Mean == 0 {
				effect = math.Abs(math.Log1p(change))
			}
			return stats.PowerOf(effect, math.Log1p(s.Design.Margin), m.SD/math.Sqrt(step.Information),
				max(1, m.DF-1), step.Level)
		}
	}
	return 0
}
