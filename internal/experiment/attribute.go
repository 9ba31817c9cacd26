package experiment

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// maxAlone is how many settings can be compared one at a time.
const maxAlone = 40

// Attribute tells the settings of the one arm of a Config apart: the same
// setting is switched on all hosts.
func Attribute(ctx context.Context, c Config) (Outcome, error) {
	return withArms(ctx, c, kindAttribution, func(s *session, arms []*armValues) (Outcome, error) {
		r, err := s.attribute(ctx, arms[0])
		return s.outcome(r, arms[0]), err
	})
}

func (s *session) attribute(ctx context.Context, a *armValues) (Result, error) {
	settings := s.changing(a)
	switch {
	case len(settings) == 0:
		return Result{}, wrongf("arm %s changes nothing here: every value that it sets is the running one", a.name)
	case s.OneAtATime && len(settings) > maxAlone, len(settings) > stats.MaxFactors:
		return Result{}, wrongf("arm %s changes %d settings: at most %d can be separated at once", a.name,
			len(settings), stats.MaxFactors)
	}
	if s.OneAtATime {
		return s.compare(ctx, a.oneAtATime(settings))
	}
	u, err := s.begin(ctx, []*armValues{{name: "none"}, a})
	if err != nil {
		return Result{}, err
	}
	defer u.record.close()
	need := stats.MinRuns(len(settings))
	allowed := int(s.Budget / u.each())
	s.note("%d settings: at least %d runs, about %s; --for %s allows %d", len(settings), need,
		units.Duration((time.Duration(need) * u.each()).Round(time.Second)), s.Budget, allowed)
	err = u.findShares(ctx, a, settings, min(max(need, allowed), 8*need), u.design.Deadline)
	u.trial.Design = u.design
	return u.finish(ctx, err)
}

// oneAtATime are arms that each set one setting, behind one that sets none.
func (a *armValues) oneAtATime(settings []string) []*armValues {
	arms := []*armValues{{name: "none"}}
	for i, name := range settings {
		on := make([]bool, len(settings))
		on[i] = true
		arms = append(arms, &armValues{name: name, values: a.switched(settings, on)})
	}
	return arms
}

// changing are the settings whose value in the arm is not the running one.
func (s *session) changing(a *armValues) []string {
	var out []string
	for _, name := range a.union() {
		for _, e := range s.hosts() {
			v, ok := a.of(e.side)[name]
			if ok && e.tuned.Change != nil && strings.Join(strings.Fields(e.tuned.Change.Old()[name]),
				" ") != strings.Join(strings.Fields(v), " ") {
				out = append(out, name)
				break
			}
		}
	}
	return out
}

// union are the settings that the arm changes on any host.
func (a *armValues) union() []string {
	var names []string
	for _, side := range []string{"client", "server", "router"} {
		for _, name := range unionOrder([]*armValues{a}, side) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// findShares switches the settings of an arm on and off.
func (u *under) findShares(ctx context.Context, a *armValues, settings []string, runs int, deadline time.Time) error {
	found, err := trial.Attribute(ctx, trial.AttributionDesign{Settings: settings, MaxRuns: runs, Alpha: alpha,
		Margin: u.Margin, Seed: u.Seed,
		Deadline: deadline, Metric: u.design.Metric, Lower: u.design.Lower, Resumed: u.record.resumed()},
		u.switching(a, settings), u.progress)
	u.shares = &found
	return err
}

// switching makes runs with some settings of an arm on, on all hosts, and the
// others off. A run that was disturbed from outside is made again.
func (u *under) switching(a *armValues, settings []string) trial.MeasureSetup {
	return func(ctx context.Context, on []bool) (run workload.Run, err error) {
		values := a.switched(settings, on)
		for range disturbedAgain {
			run, err = u.record.attempt(ctx, onBits(on), func() (workload.Run, error) { return u.makeRun(ctx, values) })
			if !errors.Is(err, workload.ErrDisturbed) || ctx.Err() != nil {
				break
			}
		}
		return run, err
	}
}

// onBits names a run by the settings that are on in it.
func onBits(on []bool) string {
	bits := make([]byte, len(on))
	for i, v := range on {
		bits[i] = '0'
		if v {
			bits[i] = '1'
		}
	}
	return string(bits)
}

// switched are an arm's values with some settings on.
func (a *armValues) switched(settings []string, on []bool) trial.Values {
	return trial.Values{Client: switched(a.values.Client, settings, on),
		Server: switched(a.values.Server, settings, on),
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
