package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// trialFlags are what trial and attribute are told.
type trialFlags struct {
	benchFlags
	arms      []string
	specs     []armSpec
	aa        bool
	suite     string
	row       suitePlace
	metric    string
	resume    string
	resumeID  string // of the trial that this run goes on with
	oneAtTime bool
	stage     string // trial, attribution or tune
}

const (
	trialAlpha = 0.05
	// assumedSD is how much a pair's log-ratio is taken to scatter where no
	// earlier trial tells.
	assumedSD = 0.05
	// overhead is what a run takes besides its own time: settings, servers,
	// counters.
	overhead = 1500 * time.Millisecond
)

func newTrialCmd(env *Env) *cobra.Command {
	f := trialFlags{stage: "trial"}
	cmd := &cobra.Command{
		Use:   "trial --arm A --arm B... [HOST [--peer HOST] | --lab LINK]",
		Short: "Compare sets of settings in randomised pairs of runs",
		Long: `Trial compares arms, each a set of settings, with the first one: in randomised
blocks of runs, one log-ratio per pair, with intervals, planned looks, Holm's
procedure over the arms and a margin for what is worthwhile. It says beforehand
what it will be able to see, restores everything, and keeps every run in the
history.

` + below("", "An arm is "+armForms+".") + `
default is what the release ships, for whatever the other arms change; current
is what is running. firewall: switches pf of the BSDs on and off, or loads FILE
as the whole rule set: a pf.conf there, the language of nft on Linux, where off
is no rule at all. --aa compares the first arm with itself and so measures the
noise floor.

With --via HOST, a router or firewall between the two ends, or in a lab with
--router, the arms set that host and leave the ends alone; ends:PART sets the
ends. plan is then the plan of a router. The router has a journal and a way back
of its own, and its processors and drops stand beside the others.

` + workloadHelp(),
		Example: `  wirerate trial --arm default --arm plan --lab rate=1gbit,rtt=50ms
  wirerate trial --arm current --arm file:/etc/sysctl.d/99-old.conf \
    --arm cc:bbr --workload rr ns:a --peer ns:b
  wirerate trial --suite host --arm default --arm tuned:network-throughput \
    --lab rate=1gbit,rtt=5ms --for 20m
  wirerate trial --arm current --arm set:vm.dirty_background_bytes=67108864 \
    --workload disk --dir /srv --metric write_bytes_per_s
  wirerate trial --arm current --arm firewall:off \
    ssh://root@a --peer ssh://root@b --via ssh://root@fw
  wirerate trial --resume last`,
		Args: cobra.MaximumNArgs(1),
	}
	format := formatFlag(cmd, "text", "json")
	f.declare(cmd, "an `ARM`; the first one is the reference")
	cmd.Flags().BoolVar(&f.aa, "aa", false, "compare the first arm with itself: an A/A control")
	cmd.Flags().StringVar(&f.suite, "suite", "", "run a named `suite` instead of one workload: host")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		form, err := format()
		if err != nil {
			return err
		}
		if f.resume != "" {
			return env.resume(cmd, f.benchFlags, f.resume, form)
		}
		f.command = env.typed()
		if err := f.check(args, 2); err != nil {
			return usage(err)
		}
		return env.trial(cmd.Context(), f, form)
	}
	return cmd
}

// declare adds the flags that trial and attribute share; arm says what theirs is.
func (f *trialFlags) declare(cmd *cobra.Command, arm string) {
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.arms, "arm", nil, arm)
	f.addDisk(cmd)
	f.addPlanned(cmd)
	f.addRouter(cmd)
	flags.StringVar(&f.workload, "workload", "bulk", "`workload` to run: "+workloadNames())
	flags.StringVar(&f.peer, "peer", "", "the `HOST` at the other end")
	flags.StringVar(&f.path, "path", "", "`PATH` between the hosts, for the arm plan: rate=,rtt=[,loss=][,mtu=], or auto")
	flags.StringVar(&f.role, "role", "bulk", "`role` of the hosts, for the arm plan")
	flags.DurationVar(&f.budget, "for", 10*time.Minute, "time for all runs together")
	flags.IntVar(&f.pairs, "pairs", 0, "pairs of runs at most, 2 to 200 (default: what --for allows, up to 40)")
	flags.Float64Var(&f.margin, "margin", 0.02, "smallest relative change that is worthwhile")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the order of runs (default: random)")
	flags.StringVar(&f.metric, "metric", "", "`METRIC` of the workload that decides (default: its first)")
	f.out.declare(cmd, "result.json, report.html and the files")
	f.addResume(cmd)
}

// outputs are the files that the experiment writes whatever comes of it.
func (f *trialFlags) outputs() []string {
	switch {
	case f.suite != "":
		return []string{"suite.json", "suite.txt"}
	case f.stage == "attribution":
		return []string{"report.html", "result.json", "shares.json"}
	case f.stage == "trial":
		return []string{"report.html", "result.json"}
	}
	return []string{"report.html", "result.json", "plan.json", "result.svg"}
}

// verb is the verb that runs the experiment.
func (f *trialFlags) verb() string {
	if f.stage == "attribution" {
		return "attribute"
	}
	return f.stage
}

// addResume declares what goes on with an interrupted experiment.
func (f *trialFlags) addResume(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.resume, "resume", "", "go on with the interrupted experiment of this `ID`, or with the last")
	flags.StringVar(&f.resumeID, "resumed", "", "")
	// What --resume adds to the recorded command line.
	_ = flags.MarkHidden("resumed")
}

// check finds what is wrong with the flags before anything is started.
func (f *trialFlags) check(args []string, least int) error {
	if len(args) == 1 {
		f.host = args[0]
	}
	if f.aa && len(f.arms) == 0 {
		f.arms = []string{"current"}
	}
	if f.aa && len(f.arms) == 1 {
		f.arms = append(f.arms, f.arms[0])
	}
	if len(f.arms) < least || len(f.arms) > 12 {
		return fmt.Errorf("%d arms: %d to 12 are possible, each with --arm: %s", len(f.arms), least, armForms)
	}
	f.specs = nil
	for _, text := range f.arms {
		spec, err := parseArm(text)
		if err != nil {
			return err
		}
		f.specs = append(f.specs, spec)
	}
	if f.aa && slices.ContainsFunc(f.arms, func(a string) bool { return a != f.arms[0] }) {
		return errors.New("--aa compares one arm with itself: give a single --arm")
	}
	f.spec.Workload = f.workload
	if f.suite != "" {
		if _, err := workload.Suite(f.suite); err != nil {
			return err
		}
	}
	if err := f.where(); err != nil {
		return err
	}
	if kind, err := workload.FindKind(f.workload); err == nil && f.metric != "" {
		if _, ok := kind.Metric(f.metric); !ok {
			return fmt.Errorf("--metric %q: %s measures %s", f.metric, kind.Name, namesOf(kind.Metrics))
		}
	}
	if err := checkEnds(f.specs, f.routed()); err != nil {
		return err
	}
	return f.checkDesign()
}

func (f *trialFlags) checkDesign() error {
	if slices.ContainsFunc(f.specs, func(a armSpec) bool { return a.has("plan") }) {
		if err := checkRole(f.role); err != nil {
			return err
		}
		if f.lab == "" && f.path == "" {
			return errors.New("the arm plan needs --path: declare it (rate=1gbit,rtt=80ms) or let it be measured (auto)")
		}
	}
	switch {
	case f.pairs != 0 && (f.pairs < 2 || f.pairs > 200):
		return fmt.Errorf("--pairs %d: 2 to 200 are possible", f.pairs)
	case !(f.margin >= 0 && f.margin < 1):
		return fmt.Errorf("--margin %g: a fraction from 0 to 1 is expected, like 0.02", f.margin)
	case f.budget < 10*time.Second:
		return fmt.Errorf("--for %s: at least 10s are needed", f.budget)
	}
	if f.seed == 0 {
		f.seed = rand.Uint64N(1<<32) + 1
	}
	return f.out.check(f.outputs()...)
}

func namesOf(metrics []workload.Metric) string {
	var names []string
	for _, m := range metrics {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// trial opens the hosts, compares, restores and prints.
func (e *Env) trial(ctx context.Context, f trialFlags, format string) error {
	var outcome *outcome
	var rows []suiteRow
	err := e.underArms(ctx, f, func(s *benchSession, arms []*armValues, bench *trial.Bench) (err error) {
		if f.suite != "" {
			rows, err = s.runSuite(ctx, f, arms, bench)
			return err
		}
		outcome, err = s.compareArms(ctx, f, arms, bench)
		return err
	})
	switch {
	case err != nil:
		return err
	case f.suite != "":
		return e.showSuite(f, rows, format)
	}
	return e.showTrial(f, *outcome, format)
}

// underArms opens the hosts and the journals for what the arms change, runs an
// experiment and restores the hosts, however it ends.
func (e *Env) underArms(ctx context.Context, f trialFlags, run func(*benchSession, []*armValues, *trial.Bench) error) error {
	s, err := openBench(ctx, e, f.benchFlags)
	if err != nil {
		return err
	}
	defer s.close()
	arms, bench, err := s.arrange(ctx, f)
	if err == nil {
		err = run(s, arms, bench)
	}
	if restored := s.restore(); restored != nil {
		return failure(errors.Join(err, restored))
	}
	return err
}

// arrange resolves the arms and opens the journals.
func (s *benchSession) arrange(ctx context.Context, f trialFlags) ([]*armValues, *trial.Bench, error) {
	if slices.ContainsFunc(f.specs, func(a armSpec) bool { return a.has("plan") }) {
		if !s.known {
			return nil, nil, usagef("the arm plan needs the path's rate and round-trip time, like --lab rate=1gbit,rtt=50ms")
		}
		if err := s.makePlans(s.toPlan(f.specs)); err != nil {
			return nil, nil, err
		}
	}
	arms, err := s.resolveArms(ctx, f.specs)
	if err != nil {
		return nil, nil, usage(err)
	}
	for _, end := range s.hosts() {
		end.tuned.Order = nil
	}
	bench, err := s.prepare(ctx, arms, f.budget+10*time.Minute)
	return arms, bench, err
}

// outcome is a finished comparison with what is needed to show it.
type outcome struct {
	id      string
	session *benchSession
	arms    []*armValues
	spec    workload.Spec
	metric  workload.Metric
	result  trial.Result
	attr    *trial.Attribution
	started time.Time
	record  *record
	command string // of the trial that this one goes on with
	// final is what was found, made while the journals still know what the
	// settings were.
	final report.Result
}

// compareArms designs, announces and runs one trial. A trial that ends early
// with pairs in hand is concluded with what there is.
func (s *benchSession) compareArms(ctx context.Context, f trialFlags, arms []*armValues, bench *trial.Bench) (*outcome, error) {
	o, d, err := s.design(ctx, f, arms, bench)
	if err != nil {
		return nil, err
	}
	defer o.record.close()
	bar := newProgress(s.env)
	defer bar.done()
	o.result, err = trial.Compare(ctx, d, func(ctx context.Context, i int) (workload.Run, error) {
		return o.record.attempt(ctx, arms[i].name, func() (workload.Run, error) { return bench.Run(ctx, arms[i].values) })
	}, bar.show)
	state := store.Done
	if err != nil {
		state = store.Stopped
	}
	o.final = o.toResult(f)
	if f.oneAtTime {
		o.final = o.attributed(f)
	}
	o.record.finish(ctx, state, string(o.final.Verdict), o.final)
	if err != nil {
		if o.record.id != "" && o.result.Pairs > 0 {
			s.env.note("%d pairs are kept: wirerate report %s shows what they say; go on with: wirerate %s --resume %s", o.result.Pairs, o.record.id, f.verb(), o.record.id)
		}
		if errors.Is(err, workload.ErrMissing) {
			return nil, missing(err)
		}
		return nil, measuring(err)
	}
	return o, nil
}

// design fixes a trial before its first run and says what it will see.
func (s *benchSession) design(ctx context.Context, f trialFlags, arms []*armValues, bench *trial.Bench) (*outcome, trial.Design, error) {
	spec, err := f.fullSpec(s.rtt)
	if err != nil {
		return nil, trial.Design{}, usage(err)
	}
	kind, err := workload.FindKind(spec.Workload)
	if err != nil {
		return nil, trial.Design{}, usage(err)
	}
	metric := kind.Primary()
	if m, ok := kind.Metric(f.metric); ok {
		metric = m
	}
	bench.Spec = spec
	each := spec.Duration + spec.Omit + overhead
	pairs := f.pairs
	if pairs == 0 {
		pairs = min(40, int(f.budget/(each*time.Duration(len(arms)))))
	}
	if need := 2 * each * time.Duration(len(arms)); pairs < 2 || need > f.budget {
		return nil, trial.Design{}, usagef("--for %s is too short: two pairs of %d arms take about %s", f.budget, len(arms), units.Duration(need))
	}
	d := trial.Design{MaxPairs: pairs, Looks: looksFor(pairs), Alpha: trialAlpha, Margin: f.margin, Metric: metric.Name, Lower: metric.Lower,
		Seed: f.seed}
	for _, a := range arms {
		d.Arms = append(d.Arms, a.name)
	}
	if f.stage == "trial" || f.oneAtTime {
		if err := s.announceDesign(ctx, f, d, spec, each); err != nil {
			return nil, d, err
		}
	}
	o := &outcome{session: s, arms: arms, spec: spec, metric: metric, started: time.Now()}
	saved := setup{Args: s.env.args, Seed: f.seed, Pairs: pairs, Digest: digest(arms), Spec: fmt.Sprintf("%+v", spec),
		Run: spec.Duration, Omit: spec.Omit}
	if f.suite != "" {
		saved.Suite, saved.Row = f.row.group, f.row.number
	}
	before, err := f.recorded(ctx, saved)
	if err != nil {
		return nil, d, err
	}
	data, err := json.Marshal(saved)
	if err != nil {
		return nil, d, failure(err)
	}
	o.record, err = s.env.startRecord(ctx, s, store.Trial{Kind: f.stage, Workload: spec.Workload, Metric: metric.Name, Seed: f.seed, Setup: data}, before)
	if err != nil {
		return nil, d, err
	}
	d.Resumed = o.record.resumed()
	// What was measured before an interruption had its part of the time.
	d.Deadline = time.Now().Add(f.budget - time.Duration(d.Resumed)*each)
	if before != nil {
		o.command = before.Command
	}
	o.id = o.record.id
	return o, d, nil
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

func digest(arms []*armValues) string {
	data, err := json.Marshal(slices.Collect(func(yield func(any) bool) {
		for _, a := range arms {
			one := []any{a.name, a.values.Client, a.values.Server}
			if len(a.values.Router) > 0 {
				one = append(one, a.values.Router)
			}
			if !yield(one) {
				return
			}
		}
	}))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// announceDesign says what the trial will be able to see, from how much
// earlier trials of this workload here scattered.
func (s *benchSession) announceDesign(ctx context.Context, f trialFlags, d trial.Design, spec workload.Spec, each time.Duration) error {
	looks, err := stats.NewLooks(d.MaxPairs, d.Looks, d.Alpha/float64(max(1, len(d.Arms)-1)))
	if err != nil {
		return usage(err)
	}
	sd, from := assumedSD, "if pairs scatter by 5%"
	if known, ok := s.scatter(ctx, f, spec.Workload); ok {
		sd, from = known, fmt.Sprintf("as pairs scattered by %.1f%% here before", 100*known)
	}
	level := looks.Plan[len(looks.Plan)-1].Level
	sees := stats.MinWorthwhile(d.MaxPairs, sd, level, 0.8, d.Margin)
	whole := min(f.budget, each*time.Duration(d.MaxPairs*len(d.Arms)))
	s.env.note("%s: at most %d pairs of %d arms, about %s; will see %.1f%% %s; margin %.1f%%, seed %d",
		spec.Workload, d.MaxPairs, len(d.Arms), units.Duration(whole.Round(time.Second)), 100*sees, from, 100*d.Margin, d.Seed)
	return nil
}

// scatter is the pooled scatter of the last trials of this workload at this
// place.
func (s *benchSession) scatter(ctx context.Context, f trialFlags, name string) (float64, bool) {
	if f.noStore {
		return 0, false
	}
	history, err := f.openStore(ctx)
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
		if t.Kind == "trial" && t.Workload == name && t.Where == f.place() && t.State == store.Done &&
			json.Unmarshal(t.Result, &r) == nil && r.Noise != nil && r.Noise.SD > 0 && r.Noise.Pairs >= 4 {
			return r.Noise.SD, true
		}
	}
	return 0, false
}
