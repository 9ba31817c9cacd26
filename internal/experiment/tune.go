package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// trialShare is the part of the time budget for the comparison; the rest is
// for the settings' shares.
const trialShare = 0.4

// Tune plans for both ends, compares the plan with what runs, and finds the
// shares of the plan's settings. The arms of the Config are the default and the
// plan.
func Tune(ctx context.Context, c Config) (Outcome, error) {
	c.Arms = []Arm{{Name: "default"}, {Name: "plan", parts: []part{{kind: "plan"}}}}
	return within(ctx, c, kindTune, func(s *session) (Outcome, error) {
		if err := s.makePlans(ctx, s.hosts()); err != nil {
			return Outcome{}, err
		}
		s.announcePlans()
		tune := s.tune
		if len(s.client.tried)+len(s.server.tried) == 0 {
			tune = s.nothingToTry
		}
		r, err := tune(ctx)
		return s.outcome(r, nil), err
	})
}

func (s *session) tune(ctx context.Context) (Result, error) {
	arms, err := s.arrange(ctx)
	if err != nil {
		return Result{}, err
	}
	return s.tuneArms(ctx, arms)
}

// tuneArms compares, and tells the settings apart where there is something to be
// shared among them.
func (s *session) tuneArms(ctx context.Context, arms []*armValues) (Result, error) {
	u, err := s.begin(ctx, arms)
	if err != nil {
		return Result{}, err
	}
	defer u.record.close()
	if !s.NoShares {
		u.design.Deadline = time.Now().Add(time.Duration(trialShare * float64(s.Budget)))
	}
	u.trial, err = trial.Compare(ctx, u.design, u.runCompared, u.progress)
	if errors.Is(err, errCompared) {
		err = nil
	}
	if err == nil {
		u.noteEnd()
	}
	if err == nil && !s.NoShares && u.differs() {
		err = u.tuneShares(ctx, arms[1])
	}
	return u.finish(ctx, err)
}

// nothingToTry is the result where the plan changes nothing that can be
// switched.
func (s *session) nothingToTry(context.Context) (Result, error) {
	spec, err := s.fullSpec(s.rtt)
	if err != nil {
		return Result{}, wrong(err)
	}
	u := under{session: s, spec: spec, metric: workload.MetricOf(spec.Workload, workload.Goodput), started: time.Now(),
		record: &record{}}
	r := u.conclude()
	r.Verdict, r.Design = stats.NoDifference, nil
	r.Warnings = append(r.Warnings, "the plan changes nothing on these hosts: what runs already suits the path, and "+
		"nothing was measured")
	return r, nil
}

// announcePlans says what is known before anything is measured.
func (s *session) announcePlans() {
	s.note("path %s, BDP %s, link goodput %s", s.path, s.path.BDP(), units.Rate(s.path.LinkGoodput()))
	sender, receiver := s.ends(s.Spec.Direction)
	if b, ok := diagnose.Binding(diagnose.Ceilings(s.path, sender.facts, receiver.facts)); ok {
		s.note("the lowest ceiling is %s, %s", b.Resource, units.Rate(b.Value))
	}
	s.note("settings to try: %d on %s, %d on %s", len(s.client.tried), s.client.conn.Name(), len(s.server.tried),
		s.server.conn.Name())
}

// errCompared ends a resumed comparison that was over before the interruption.
var errCompared = errors.New("the comparison was over")

// runCompared is run, until the history goes on with runs of an attribution.
func (u *under) runCompared(ctx context.Context, arm int) (workload.Run, error) {
	if past, ok := u.record.upcoming(); ok && past != u.arms[0].name && past != u.arms[1].name {
		return workload.Run{}, errCompared
	}
	return u.run(ctx, arm)
}

// differs tells whether there is something to be shared among the settings:
// the plan made a difference, or its shares were begun before an interruption.
func (u *under) differs() bool {
	if _, begun := u.record.upcoming(); begun {
		return true
	}
	c := u.trial.Comparisons
	return len(c) > 0 && c[0].Verdict.Decided()
}

// tuneShares finds the shares of the plan's settings, each switched on both ends
// at once.
func (u *under) tuneShares(ctx context.Context, plan *armValues) error {
	settings := plan.union()
	if len(settings) > stats.MaxFactors {
		u.warnings = append(u.warnings, fmt.Sprintf("the shares of %d settings are not measured: at most %d can be "+
			"at once", len(settings), stats.MaxFactors))
		return nil
	}
	need, deadline := stats.MinRuns(len(settings)), u.started.Add(u.Budget)
	if short := time.Duration(need)*u.each() - time.Until(deadline); short > 0 {
		u.warnings = append(u.warnings, fmt.Sprintf("the shares of %d settings take %s more than --for allows and "+
			"may stay open", len(settings), units.Duration(short.Round(time.Second))))
	}
	return u.findShares(ctx, plan, settings, 2*need, deadline)
}
