package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

const (
	tuneAlpha = 0.05
	// trialShare is the part of the time budget for the comparison; the rest
	// is for the settings' shares.
	trialShare = 0.4
)

// run does everything between opening and restoring.
func (s *tuneSession) run(ctx context.Context) (report.Result, error) {
	started := time.Now()
	if err := s.inspect(ctx); err != nil {
		return report.Result{}, err
	}
	if err := s.makePlans(); err != nil {
		return report.Result{}, err
	}
	sender, receiver := s.ends()
	before := diagnose.Ceilings(s.path, sender.facts, receiver.facts)
	s.announce(before)
	settings := s.triedSettings()
	if len(settings) == 0 {
		r := s.result(started, before, nil, trial.Result{}, nil)
		r.Verdict = stats.NoDifference
		r.Warnings = append(r.Warnings, "the plan changes nothing on these hosts: what runs already suits the path, and nothing was measured")
		return r, nil
	}
	if err := s.begin(ctx); err != nil {
		return report.Result{}, err
	}
	bench := &trial.Bench{Client: s.client.tuned, Server: s.server.tuned, Addr: s.address, Spec: s.spec()}
	notes, err := bench.Probe(ctx, &trial.Values{Client: s.client.tried, Server: s.server.tried})
	s.warnings = append(s.warnings, notes...)
	if err != nil {
		return report.Result{}, environment(err)
	}
	if len(s.triedSettings()) == 0 {
		return report.Result{}, missing(fmt.Errorf("none of the %d planned settings can be written: %s", len(settings), notes[0]))
	}
	after := diagnose.Ceilings(s.path, sender.withPlan(), receiver.withPlan())
	compared, err := s.compare(ctx, bench)
	if err != nil {
		return report.Result{}, measuring(err)
	}
	var shares *trial.Attribution
	if verdict := compared.Comparisons[0].Verdict; !s.opt.noShares && (verdict == stats.Helps || verdict == stats.Hurts) {
		a, err := s.attribute(ctx, bench, s.triedSettings(), started)
		if err != nil {
			return report.Result{}, measuring(err)
		}
		shares = a
	}
	return s.result(started, before, after, compared, shares), nil
}

// ends returns the sending and the receiving end.
func (s *tuneSession) ends() (sender, receiver *end) {
	if s.opt.spec.Direction == workload.Down {
		return &s.server, &s.client
	}
	return &s.client, &s.server
}

// measuring classifies an error of the runs.
func measuring(err error) error {
	if errors.Is(err, workload.ErrTool) {
		return failure(err)
	}
	return environment(err)
}

// spec fills in the lengths of a run from the round-trip time: the start that
// does not count leaves slow start its doublings.
func (s *tuneSession) spec() workload.Spec {
	spec := s.opt.spec
	if spec.Duration == 0 {
		spec.Duration = min(max(40*s.path.RTT, 2*time.Second), 15*time.Second).Round(time.Second)
	}
	if spec.Omit == 0 {
		spec.Omit = min(max(20*s.path.RTT, time.Second), 5*time.Second).Round(time.Second)
	}
	return spec
}

// announce says what is known before anything is measured.
func (s *tuneSession) announce(ceilings []diagnose.Ceiling) {
	s.env.note("path %s, BDP %s, link goodput %s", s.path, s.path.BDP(), units.Rate(s.path.LinkGoodput()))
	if b, ok := diagnose.Binding(ceilings); ok {
		s.env.note("the lowest ceiling is %s, %s", b.Resource, units.Rate(b.Value))
	}
	s.env.note("%d settings to try: %d on %s, %d on %s", len(s.triedSettings()), len(s.client.tried), s.client.conn.Name(), len(s.server.tried), s.server.conn.Name())
}

// triedSettings are the settings that are switched, on either end, in the
// order of the plans.
func (s *tuneSession) triedSettings() []string {
	var all []string
	for _, e := range []*end{&s.client, &s.server} {
		for _, name := range e.tuned.Order {
			if _, ok := e.tried[name]; ok && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func (s *tuneSession) compare(ctx context.Context, bench *trial.Bench) (trial.Result, error) {
	values := []trial.Values{{}, {Client: s.client.tried, Server: s.server.tried}}
	d := trial.Design{Arms: []string{"default", "plan"}, MaxPairs: s.opt.pairs, Looks: looksFor(s.opt.pairs), Alpha: tuneAlpha,
		Margin: s.opt.margin, Seed: s.opt.seed, Deadline: s.deadline()}
	bar := newProgress(s.env)
	defer bar.done()
	return trial.Compare(ctx, d, func(ctx context.Context, arm int) (workload.Run, error) {
		return bench.Run(ctx, values[arm])
	}, bar.show)
}

// looksFor plans when a trial may stop.
func looksFor(pairs int) []int {
	var looks []int
	for _, n := range []int{4, 6, 8, 12, 16, 24, 36, 50, 70} {
		if n < pairs {
			looks = append(looks, n)
		}
	}
	return looks
}

func (s *tuneSession) deadline() time.Time {
	part := trialShare
	if s.opt.noShares {
		part = 1
	}
	return time.Now().Add(time.Duration(part * float64(s.opt.budget)))
}

// attribute switches the settings on and off, each on both ends at once.
func (s *tuneSession) attribute(ctx context.Context, bench *trial.Bench, settings []string, started time.Time) (*trial.Attribution, error) {
	d := trial.AttributionDesign{Settings: settings, MaxRuns: 2 * stats.MinRuns(len(settings)), Alpha: tuneAlpha, Margin: s.opt.margin, Seed: s.opt.seed,
		Deadline: started.Add(s.opt.budget)}
	if len(settings) > 40 {
		s.warnings = append(s.warnings, fmt.Sprintf("the shares of %d settings are not measured: at most 40 can be at once", len(settings)))
		return nil, nil
	}
	if need := time.Duration(stats.MinRuns(len(settings))) * (bench.Spec.Duration + bench.Spec.Omit); time.Now().Add(need).After(d.Deadline) {
		s.warnings = append(s.warnings, fmt.Sprintf("the shares of %d settings take %s more than --for allows and may stay open", len(settings), units.Duration(time.Until(d.Deadline)-need)))
	}
	bar := newProgress(s.env)
	defer bar.done()
	a, err := trial.Attribute(ctx, d, func(ctx context.Context, on []bool) (workload.Run, error) {
		return bench.Run(ctx, trial.Values{Client: switched(s.client.tried, settings, on), Server: switched(s.server.tried, settings, on)})
	}, bar.show)
	return &a, err
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
