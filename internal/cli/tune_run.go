package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// trialShare is the part of the time budget for the comparison; the rest is
// for the settings' shares.
const trialShare = 0.4

// tune does everything between opening and restoring.
func (s *benchSession) tune(ctx context.Context, f tuneFlags) (report.Result, error) {
	started := time.Now()
	if err := s.makePlans(s.hosts()); err != nil {
		return report.Result{}, err
	}
	s.announcePlans(f.spec.Direction)
	if len(s.client.tried)+len(s.server.tried) == 0 {
		return s.nothingToTry(f, started)
	}
	arms, bench, err := s.arrange(ctx, f.trialFlags)
	if err != nil {
		return report.Result{}, err
	}
	o, d, err := s.design(ctx, f.trialFlags, arms, bench)
	if err != nil {
		return report.Result{}, err
	}
	defer o.record.close()
	if !f.noShares {
		d.Deadline = time.Now().Add(time.Duration(trialShare * float64(f.budget)))
	}
	err = o.compareDefault(ctx, d, arms, bench)
	if err == nil && !f.noShares && o.differs() {
		err = o.findShares(ctx, f, arms[1], bench)
	}
	final := o.toResult(f.trialFlags)
	final.Warnings = append(final.Warnings, cpuWarnings(final)...)
	state := store.Done
	if err != nil {
		state = store.Stopped
	}
	o.record.finish(ctx, state, string(final.Verdict), final)
	if err != nil && o.id != "" && len(o.result.Runs) > 0 {
		s.env.note("%d runs are kept; go on with: wirerate tune --resume %s", len(o.result.Runs), o.id)
	}
	return final, measuring(err)
}

// nothingToTry is the result where the plan changes nothing that can be
// switched.
func (s *benchSession) nothingToTry(f tuneFlags, started time.Time) (report.Result, error) {
	spec, err := f.fullSpec(s.rtt)
	if err != nil {
		return report.Result{}, usage(err)
	}
	o := outcome{session: s, spec: spec, metric: metricOf(spec.Workload, workload.Goodput), started: started}
	r := o.toResult(f.trialFlags)
	r.Verdict, r.Design = stats.NoDifference, nil
	r.Warnings = append(r.Warnings, "the plan changes nothing on these hosts: what runs already suits the path, and nothing was measured")
	return r, nil
}

// measuring classifies an error of the runs.
func measuring(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workload.ErrMissing):
		return missing(err)
	case errors.Is(err, workload.ErrTool):
		return failure(err)
	}
	return environment(err)
}

// announcePlans says what is known before anything is measured.
func (s *benchSession) announcePlans(d workload.Direction) {
	s.env.note("path %s, BDP %s, link goodput %s", s.path, s.path.BDP(), units.Rate(s.path.LinkGoodput()))
	sender, receiver := s.ends(d)
	if b, ok := diagnose.Binding(diagnose.Ceilings(s.path, sender.facts, receiver.facts)); ok {
		s.env.note("the lowest ceiling is %s, %s", b.Resource, units.Rate(b.Value))
	}
	s.env.note("settings to try: %d on %s, %d on %s", len(s.client.tried), s.client.conn.Name(), len(s.server.tried), s.server.conn.Name())
}

// errCompared ends a resumed comparison that was over before the interruption.
var errCompared = errors.New("the comparison was over")

// compareDefault compares the plan with the default.
func (o *outcome) compareDefault(ctx context.Context, d trial.Design, arms []*armValues, bench *trial.Bench) (err error) {
	bar := newProgress(o.session.env)
	defer bar.done()
	o.result, err = trial.Compare(ctx, d, func(ctx context.Context, i int) (workload.Run, error) {
		if past, ok := o.record.upcoming(); ok && past != arms[0].name && past != arms[1].name {
			return workload.Run{}, errCompared
		}
		return o.record.attempt(ctx, arms[i].name, func() (workload.Run, error) { return bench.Run(ctx, arms[i].values) })
	}, bar.show)
	if errors.Is(err, errCompared) {
		return nil
	}
	return err
}

// differs tells whether there is something to be shared among the settings:
// the plan made a difference, or its shares were begun before an interruption.
func (o *outcome) differs() bool {
	if _, begun := o.record.upcoming(); begun {
		return true
	}
	c := o.result.Comparisons
	return len(c) > 0 && (c[0].Verdict == stats.Helps || c[0].Verdict == stats.Hurts)
}

// findShares switches the settings on and off, each on both ends at once.
func (o *outcome) findShares(ctx context.Context, f tuneFlags, plan *armValues, bench *trial.Bench) error {
	s, settings := o.session, plan.union()
	need := stats.MinRuns(len(settings))
	d := trial.AttributionDesign{Settings: settings, MaxRuns: 2 * need, Alpha: trialAlpha, Margin: f.margin, Seed: f.seed,
		Deadline: o.started.Add(f.budget), Resumed: o.record.resumed()}
	if len(settings) > stats.MaxFactors {
		s.warnings = append(s.warnings, fmt.Sprintf("the shares of %d settings are not measured: at most %d can be at once", len(settings), stats.MaxFactors))
		return nil
	}
	if short := time.Duration(need)*(o.spec.Duration+o.spec.Omit+overhead) - time.Until(d.Deadline); short > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("the shares of %d settings take %s more than --for allows and may stay open", len(settings), units.Duration(short.Round(time.Second))))
	}
	bar := newProgress(s.env)
	defer bar.done()
	a, err := trial.Attribute(ctx, d, o.switching(plan, settings, bench), bar.show)
	o.attr = &a
	return err
}

// switching makes runs with some settings of an arm on, on all hosts, and the
// others off. A run that was disturbed from outside is made again.
func (o *outcome) switching(a *armValues, settings []string, bench *trial.Bench) trial.MeasureSetup {
	return func(ctx context.Context, on []bool) (run workload.Run, err error) {
		values := a.switched(settings, on)
		for range disturbedAgain {
			run, err = o.record.attempt(ctx, onBits(on), func() (workload.Run, error) { return bench.Run(ctx, values) })
			if !errors.Is(err, workload.ErrDisturbed) || ctx.Err() != nil {
				break
			}
		}
		return run, err
	}
}

// switched are an arm's values with some settings on.
func (a *armValues) switched(settings []string, on []bool) trial.Values {
	return trial.Values{Client: switched(a.values.Client, settings, on), Server: switched(a.values.Server, settings, on),
		Router: switched(a.values.Router, settings, on)}
}

// switched are the values of the settings that are on.
func switched(values map[string]string, settings []string, on []bool) map[string]string {
	out := maps.Clone(values)
	for i, name := range settings {
		if !on[i] {
			delete(out, name)
		}
	}
	return out
}
