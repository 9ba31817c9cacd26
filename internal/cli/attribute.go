package cli

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

func newAttributeCmd(env *Env) *cobra.Command {
	f := trialFlags{stage: "attribution"}
	cmd := &cobra.Command{
		Use:   "attribute --arm A [HOST [--peer HOST] | --lab LINK]",
		Short: "Find which settings of an arm make the difference",
		Long: `Attribute switches every setting of an arm on and off by a design that clears
single effects of pairwise ones (folded Plackett-Burman), confirms those that
seem to matter in all combinations on fresh runs, and divides the gain among
them (Shapley). What is off has the value from before. It ends in a minimal
file: the lines that earn their place, and the others with their intervals.

With --via HOST, or in a lab with --router, the settings are those of the host
between the two ends; see wirerate trial --help.

--one-at-a-time compares each setting alone with none instead: easier to
follow, but it needs more runs and does not see settings that help only
together.`,
		Example: `  wirerate attribute --arm file:99-tuning.conf --lab rate=1gbit,rtt=50ms -o out/
  wirerate attribute --arm plan --workload rr ns:a --peer ns:b \
    --path rate=1gbit,rtt=5ms --for 40m`,
		Args: cobra.MaximumNArgs(1),
	}
	format := formatFlag(cmd, "text", "json")
	f.declare(cmd, "the `ARM` whose settings are told apart")
	cmd.Flags().BoolVar(&f.oneAtTime, "one-at-a-time", false, "compare each setting alone with none")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		form, err := format()
		if err != nil {
			return err
		}
		if f.resume != "" {
			return env.resume(cmd, f.benchFlags, f.resume, form)
		}
		if len(f.arms) != 1 {
			return usagef("one --arm is expected, whose settings are told apart: %s", armForms)
		}
		f.command = env.typed()
		if err := f.check(args, 1); err != nil {
			return usage(err)
		}
		return env.attribute(cmd.Context(), f, form)
	}
	return cmd
}

func (e *Env) attribute(ctx context.Context, f trialFlags, format string) error {
	var o *outcome
	var s *benchSession
	var a *armValues
	err := e.underArms(ctx, f, func(session *benchSession, arms []*armValues, bench *trial.Bench) (err error) {
		s, a = session, arms[0]
		o, err = s.attributeArm(ctx, f, a, bench)
		return err
	})
	if err != nil {
		return err
	}
	r := o.final
	if f.out.dir != "" {
		if err := s.writeAttribution(f.out, r, a); err != nil {
			return failure(err)
		}
		e.note("written: %s, report.html and result.json", filepath.Join(f.out.dir, minimalName(s.armSide())))
	}
	if r.ID != "" {
		e.note("kept in the history as %s", r.ID)
	}
	if format == "json" {
		return e.printJSON(r)
	}
	e.shareText(r)
	for _, side := range s.sides() {
		if text := s.minimal(r, a, side); text != "" {
			e.printf("\n# %s\n%s", minimalName(side), text)
		}
	}
	return nil
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

// attributeArm runs the design; the same setting is switched on all hosts.
func (s *benchSession) attributeArm(ctx context.Context, f trialFlags, a *armValues, bench *trial.Bench) (*outcome, error) {
	settings := s.changing(a)
	switch {
	case len(settings) == 0:
		return nil, usagef("arm %s changes nothing here: every value that it sets is the running one", a.name)
	case f.oneAtTime && len(settings) > 40, len(settings) > stats.MaxFactors:
		return nil, usagef("arm %s changes %d settings: at most %d can be told apart at once", a.name, len(settings), stats.MaxFactors)
	}
	setups := []*armValues{{name: "none"}}
	for i, name := range settings {
		on := make([]bool, len(settings))
		on[i] = true
		setups = append(setups, &armValues{name: name, values: a.switched(settings, on)})
	}
	if f.oneAtTime {
		return s.compareArms(ctx, f, setups, bench)
	}
	o, d, err := s.design(ctx, f, []*armValues{{name: "none"}, a}, bench)
	if err != nil {
		return nil, err
	}
	defer o.record.close()
	need := stats.MinRuns(len(settings))
	each := o.spec.Duration + o.spec.Omit + overhead
	runs := max(need, int(f.budget/each))
	s.env.note("%d settings: at least %d runs, about %s; --for %s allows %d", len(settings), need, units.Duration((time.Duration(need) * each).Round(time.Second)), f.budget, int(f.budget/each))
	bar := newProgress(s.env)
	defer bar.done()
	result, err := trial.Attribute(ctx, trial.AttributionDesign{Settings: settings, MaxRuns: min(runs, 8*need), Alpha: trialAlpha, Margin: f.margin,
		Seed: f.seed, Deadline: d.Deadline, Metric: d.Metric, Lower: d.Lower, Resumed: d.Resumed},
		o.switching(a, settings, bench), bar.show)
	o.attr = &result
	o.result.Design = d
	state := store.Done
	if err != nil {
		state = store.Stopped
	}
	o.final = o.attributed(f)
	o.record.finish(ctx, state, "", o.final)
	if err != nil {
		if o.record.id != "" {
			s.env.note("%d runs are kept; go on with: wirerate attribute --resume %s", result.Runs, o.record.id)
		}
		return nil, measuring(err)
	}
	return o, nil
}

// changing are the settings whose value in the arm is not the running one.
func (s *benchSession) changing(a *armValues) []string {
	var out []string
	for _, name := range a.union() {
		for _, e := range s.hosts() {
			v, ok := a.of(e.side)[name]
			if ok && e.tuned.Change != nil && strings.Join(strings.Fields(e.tuned.Change.Old()[name]), " ") != strings.Join(strings.Fields(v), " ") {
				out = append(out, name)
				break
			}
		}
	}
	return out
}

func onBits(on []bool) string {
	var b bytes.Buffer
	for _, v := range on {
		b.WriteByte(map[bool]byte{true: '1', false: '0'}[v])
	}
	return b.String()
}

// attributed is the result with the shares, also those of one at a time.
func (o *outcome) attributed(f trialFlags) report.Result {
	r := o.toResult(f)
	if o.metric.Name != workload.Goodput {
		for i := range r.Shares {
			r.Shares[i].Because = strings.Replace(r.Shares[i].Because, "costs goodput", "makes "+o.metric.Name+" worse", 1)
		}
	}
	if o.attr != nil {
		for _, e := range []*report.Effect{r.Attribution.SumOfShares, r.Attribution.Measured} {
			if e != nil {
				e.Metric = o.metric.Name
			}
		}
		r.Arms = []report.Arm{}
		if o.attr.Total != nil {
			r.Effect = effect(*o.attr.Total)
			r.Effect.Metric = o.metric.Name
			r.Verdict = stats.Judge(*o.attr.Total, f.margin, !o.metric.Lower)
		}
		return r
	}
	for _, c := range o.result.Comparisons {
		share := report.Share{Setting: o.result.Design.Arms[c.Arm], Ratio: c.Interval.Ratio, Low: c.Interval.Low, High: c.Interval.High,
			Verdict: c.Verdict, Kept: c.Verdict == stats.Helps, Stage: "one-at-a-time"}
		share.Because = shareBecause(share)
		r.Shares = append(r.Shares, share)
	}
	r.Effect, r.Comparisons, r.Verdict = nil, nil, stats.NotEnough
	return r
}

func (e *Env) shareText(r report.Result) {
	if r.Effect != nil {
		e.printf("all of it: %s x%.3f (%.3f to %.3f)\n", r.Effect.Metric, r.Effect.Ratio, r.Effect.Low, r.Effect.High)
	}
	e.printf("%-44s %8s  %-18s %s\n", "setting", "share", "interval", "verdict")
	for _, s := range r.Shares {
		interval := "not measured"
		if s.Low > 0 {
			interval = fmt.Sprintf("%.3f to %.3f", s.Low, s.High)
		}
		e.wrap(fmt.Sprintf("%-44s %8.3f  %-18s ", s.Setting, s.Ratio, interval), "    ", s.Because)
	}
	if a := r.Attribution; a != nil {
		for _, i := range a.Interactions {
			e.wrap("together: ", "  ", i)
		}
		if a.SumOfShares != nil && a.Measured != nil {
			e.printf("lack of fit: the single effects make x%.3f, measured was x%.3f (p %.2g)\n", a.SumOfShares.Ratio, a.Measured.Ratio, a.FitP)
		}
		e.printf("%d runs, %d lost\n", a.Runs, a.Lost)
	}
	for _, w := range r.Warnings {
		e.wrap("! ", "  ", w)
	}
}

func minimalName(side string) string { return side + "-minimal.conf" }

// minimal writes the settings of one host: those that earn their place as
// lines, the others as comments with their intervals.
func (s *benchSession) minimal(r report.Result, a *armValues, side string) string {
	shares := map[string]report.Share{}
	for _, share := range r.Shares {
		shares[share.Setting] = share
	}
	var kept, dropped strings.Builder
	values := a.of(side)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		share, tried := shares[name]
		line := name + " = " + values[name]
		if strings.HasPrefix(name, "firewall:") {
			line = "# " + name + ": not a line of this file; see the arm's firewall:"
		}
		switch {
		case !tried:
			fmt.Fprintf(&dropped, "# the same value as before\n#%s\n", line)
		case share.Kept:
			fmt.Fprintf(&kept, "# x%.3f (%.3f to %.3f)\n%s\n", share.Ratio, share.Low, share.High, line)
		default:
			fmt.Fprintf(&dropped, "# %s (%.3f, %.3f to %.3f)\n#%s\n", strings.TrimPrefix(share.Because, "dropped: "), share.Ratio, share.Low, share.High, line)
		}
	}
	if kept.Len()+dropped.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("# what of %s earns its place for %s\n# made again by: %s --seed %d\n%s%s", a.name, r.Workload, r.Command, r.Seed, kept.String(), dropped.String())
}

// writeAttribution writes the result, the shares, and for each side what earned
// its place.
func (s *benchSession) writeAttribution(out outputFolder, r report.Result, a *armValues) error {
	files, err := trialFiles(r)
	if err != nil {
		return err
	}
	for _, side := range s.sides() {
		if text := s.minimal(r, a, side); text != "" {
			files = append(files, outdir.File{Name: minimalName(side), Data: []byte(text)})
		}
	}
	data, err := indentedJSON(r.Shares)
	if err != nil {
		return err
	}
	return out.write(append(files, outdir.File{Name: "shares.json", Data: data})...)
}
