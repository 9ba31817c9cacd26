package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

const (
	alpha = 0.05
	// assumedSD is how much a pair's log-ratio is taken to scatter where no
	// earlier trial tells.
	assumedSD = 0.05
	// overhead is what a run takes besides its own time: settings, servers,
	// counters.
	overhead = 1500 * time.Millisecond
)

// errTooShort is wrapped where the time does not allow two pairs.
var errTooShort = errors.New("too short")

// Outcome is what an experiment found.
type Outcome struct {
	Result Result
	Sides  []Side // in the order of Result.Hosts
}

// Side is one host: its plan, where one was made, and what the arm in question
// sets on it.
type Side struct {
	Name   string // client, server or router
	Plan   plan.Plan
	Values map[string]string
	// Keep tells of the settings of Plan which ones a tune bears out; nil of
	// another experiment.
	Keep plan.Keep
}

// Compare compares the arms of a Config with the first of them.
func Compare(ctx context.Context, c Config) (Outcome, error) {
	return withArms(ctx, c, kindTrial, func(s *session, arms []*armValues) (Outcome, error) {
		r, err := s.compare(ctx, arms)
		return s.outcome(r, nil), err
	})
}

// outcome adds the hosts' plans and an arm's values to a result.
func (s *session) outcome(r Result, a *armValues) Outcome {
	o := Outcome{Result: r}
	for _, e := range s.hosts() {
		side := Side{Name: e.side, Plan: e.plan}
		if a != nil {
			side.Values = a.of(e.side)
		}
		if s.kind == kindTune {
			side.Keep = s.keeps(r, e)
		}
		o.Sides = append(o.Sides, side)
	}
	return o
}

// arrange plans where an arm asks for it, resolves the arms, and opens the
// journals.
func (s *session) arrange(ctx context.Context) ([]*armValues, error) {
	if slices.ContainsFunc(s.Arms, Arm.Planned) {
		if !s.known {
			return nil, wrongf("the arm plan needs the path's rate and round-trip time, like --lab rate=1gbit,rtt=50ms")
		}
		if err := s.makePlans(ctx, s.toPlan()); err != nil {
			return nil, err
		}
	}
	arms, err := s.resolveArms(ctx)
	if err != nil {
		return nil, wrong(err)
	}
	return arms, s.prepare(ctx, arms, s.Budget+10*time.Minute)
}

// under is an experiment under way.
type under struct {
	*session
	arms    []*armValues
	spec    workload.Spec
	metric  workload.Metric
	design  trial.Design
	trial   trial.Result
	shares  *trial.Attribution
	started time.Time
	record  *record
}

// each is how long a run takes.
func (u *under) each() time.Duration { return u.spec.Duration + u.spec.Omit + overhead }

// compare designs, announces and runs one trial. A trial that ends early with
// pairs in hand is concluded with what there is.
func (s *session) compare(ctx context.Context, arms []*armValues) (Result, error) {
	u, err := s.begin(ctx, arms)
	if err != nil {
		return Result{}, err
	}
	defer u.record.close()
	u.trial, err = trial.Compare(ctx, u.design, u.run, u.progress)
	if err == nil {
		u.noteEnd()
	}
	return u.finish(ctx, err)
}

// run makes one run of an arm, or takes it from the history.
func (u *under) run(ctx context.Context, arm int) (workload.Run, error) {
	a := u.arms[arm]
	return u.record.attempt(ctx, a.name, func() (workload.Run, error) { return u.makeRun(ctx, a.values) })
}

// finish concludes from an experiment that ended, perhaps with err, and keeps
// the result.
func (u *under) finish(ctx context.Context, err error) (Result, error) {
	r := u.conclude()
	if err == nil {
		u.record.finish(ctx, store.Done, string(r.Verdict), r)
		return r, nil
	}
	u.record.finish(ctx, store.Stopped, string(r.Verdict), r)
	err = classified(err)
	runs := len(u.trial.Runs)
	if u.shares != nil {
		runs += u.shares.Runs
	}
	if u.record.id != "" && runs > 0 {
		err = &Interrupted{err, u.record.id, runs, u.trial.Pairs}
	}
	return r, err
}

// begin fixes a trial before its first run and says what it will see.
func (s *session) begin(ctx context.Context, arms []*armValues) (*under, error) {
	spec, err := s.fullSpec(s.rtt)
	if err != nil {
		return nil, wrong(err)
	}
	kind, err := workload.FindKind(spec.Workload)
	if err != nil {
		return nil, wrong(err)
	}
	u := &under{session: s, arms: arms, spec: spec, metric: kind.Primary(), started: time.Now()}
	if m, ok := kind.Metric(s.Metric); ok {
		u.metric = m
	}
	s.bench.Spec = spec
	pairs := s.Pairs
	if pairs == 0 {
		pairs = min(40, int(s.Budget/(u.each()*time.Duration(len(arms)))))
	}
	if need := 2 * u.each() * time.Duration(len(arms)); pairs < 2 || need > s.Budget {
		return nil, wrong(fmt.Errorf("--for %s is %w: two pairs of %d arms take about %s", s.Budget.Round(time.Second),
			errTooShort, len(arms), units.Duration(need)))
	}
	u.design = trial.Design{MaxPairs: pairs, Looks: looksFor(pairs), Alpha: alpha, Margin: s.Margin,
		Metric: u.metric.Name, Lower: u.metric.Lower, Seed: s.Seed}
	for _, a := range arms {
		u.design.Arms = append(u.design.Arms, a.name)
	}
	if s.kind == kindTrial || s.OneAtATime {
		if err := u.announce(ctx); err != nil {
			return nil, err
		}
	}
	return u, u.startOrResume(ctx)
}

// startOrResume opens the record of the experiment.
func (u *under) startOrResume(ctx context.Context) error {
	now := u.setup()
	before, err := u.resumable(ctx, now)
	if err != nil {
		return err
	}
	data, err := json.Marshal(now)
	if err != nil {
		return failed(err)
	}
	u.record, err = u.startRecord(ctx, store.Trial{Workload: u.spec.Workload, Metric: u.metric.Name, Seed: u.Seed,
		Setup: data}, before)
	if err != nil {
		return err
	}
	u.design.Resumed = u.record.resumed()
	// What was measured before an interruption had its part of the time.
	u.design.Deadline = time.Now().Add(u.Budget - time.Duration(u.design.Resumed)*u.each())
	return nil
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

// announce says what the trial will be able to see, from how much earlier
// trials of this workload here scattered.
func (u *under) announce(ctx context.Context) error {
	d := u.design
	looks, err := stats.NewLooks(d.MaxPairs, d.Looks, d.Alpha/float64(max(1, len(d.Arms)-1)))
	if err != nil {
		return wrong(err)
	}
	sd, from := assumedSD, "if pairs scatter by 5%"
	if known, ok := u.scatter(ctx); ok {
		sd, from = known, fmt.Sprintf("as pairs varied by %.1f%% here before", 100*known)
	}
	level := looks.Plan[len(looks.Plan)-1].Level
	sees := stats.MinWorthwhile(d.MaxPairs, sd, level, 0.8, d.Margin)
	whole := min(u.Budget, u.each()*time.Duration(d.MaxPairs*len(d.Arms)))
	u.note("%s: at most %d pairs of %d arms, about %s; detects %.1f%% %s; margin %.1f%%, seed %d",
		u.spec.Workload, d.MaxPairs, len(d.Arms), units.Duration(whole.Round(time.Second)), 100*sees, from,
		100*d.Margin, d.Seed)
	return nil
}

// scatter is how much pairs scattered in the last trial of this workload at
// this place.
func (u *under) scatter(ctx context.Context) (float64, bool) {
	if u.NoHistory {
		return 0, false
	}
	history, err := OpenHistory(ctx, u.History)
	if err != nil {
		return 0, false
	}
	defer history.Close()
	all, err := history.Trials(ctx, 50)
	if err != nil {
		return 0, false
	}
	for _, t := range all {
		var r struct{ Noise *trial.Noise }
		if t.Kind == kindTrial && t.Workload == u.spec.Workload && t.Where == u.Place() && t.State == store.Done &&
			json.Unmarshal(t.Result, &r) == nil && r.Noise != nil && r.Noise.SD > 0 && r.Noise.Pairs >= 4 {
			return r.Noise.SD, true
		}
	}
	return 0, false
}
