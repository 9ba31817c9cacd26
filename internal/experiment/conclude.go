package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

const controlText = "an A/A control found a difference between an arm and itself: something other than the arms " +
	"changes from run to run, and no verdict of this set-up can be trusted"

// conclude makes the result of what was measured.
func (u *under) conclude() Result {
	s, t := u.session, u.trial
	r := Result{
		Schema: ResultSchema, ID: u.record.id, Verdict: stats.NotEnough, LinkGoodput: s.path.LinkGoodput(),
		Metric: u.metric.Name, Ceilings: u.ceilings(0),
		Arms: []ArmResult{}, Shares: []Share{}, Warnings: []string{}, Plans: []plan.Plan{},
		Path: Path{RateBPS: int64(s.path.Rate), RTT: 1000 * s.path.RTT.Seconds(), Loss: s.path.Loss, MTU: s.path.MTU,
			Spec: s.path.String(), Measured: s.path.Measured},
		Seed: s.Seed, Margin: s.Margin, Started: u.started.UTC(), Elapsed: time.Since(u.started).Seconds(),
		Command: s.Command,
		Undo:    s.undo(), Workload: describeSpec(u.spec), Design: u.layout(),
	}
	for _, e := range s.hosts() {
		r.Hosts = append(r.Hosts, e.describe())
		if e.plan.Schema != 0 {
			r.Plans = append(r.Plans, e.plan)
		}
	}
	if b, ok := diagnose.Binding(r.Ceilings); ok {
		r.Binding = b.Resource
	}
	if len(t.Design.Arms) == 2 {
		r.After = u.ceilings(1)
	}
	if n := t.Noise; n != nil {
		r.Noise = &Noise{PairSD: n.SD, MinDetectable: n.MinDetectable, Pairs: n.Pairs}
	}
	u.addArms(&r)
	u.addComparisons(&r)
	u.addWarnings(&r)
	u.addEmulator(&r)
	if u.shares != nil {
		u.addShares(&r)
	}
	switch s.kind {
	case kindAttribution:
		u.attributed(&r)
	case kindTune:
		r.Warnings = append(r.Warnings, cpuWarnings(r)...)
		for _, e := range s.hosts() {
			why := s.unproved(r, e)
			for _, ch := range e.plan.Changes {
				if why[ch.Setting] != "" {
					r.Unproved = append(r.Unproved, Unproved{e.plan.Host, ch.Setting, why[ch.Setting]})
				}
			}
		}
		r.Next = s.nextCommands(r)
	}
	return r
}

// addArms adds the runs of each arm and what it sets.
func (u *under) addArms(r *Result) {
	for i, name := range u.trial.Design.Arms {
		a := armResult(name, i, u.trial, u.started)
		if i < len(u.arms) {
			a.Sets = u.sets(u.arms[i])
		}
		r.Arms = append(r.Arms, a)
	}
}

// sets lists what an arm changes, as it was and as it is under the arm.
func (s *session) sets(a *armValues) []Set {
	var out []Set
	for _, e := range s.hosts() {
		if e.tuned.Change == nil {
			continue
		}
		old := e.tuned.Change.Old()
		for _, name := range slices.Sorted(maps.Keys(a.of(e.side))) {
			if to := a.of(e.side)[name]; to != old[name] {
				out = append(out, Set{Side: e.side, Setting: name, From: old[name], To: to})
			}
		}
	}
	return out
}

// ceilings are those of the hosts under an arm; none on a path that is not
// known.
func (u *under) ceilings(arm int) []diagnose.Ceiling {
	if !u.known || u.Alone() {
		return nil
	}
	sender, receiver := u.ends(u.spec.Direction)
	return diagnose.Ceilings(u.path, u.factsWith(sender, arm), u.factsWith(receiver, arm))
}

// factsWith are a host's facts with an arm's values in place.
func (u *under) factsWith(e *end, arm int) *facts.Facts {
	if arm >= len(u.arms) {
		return e.facts
	}
	f := *e.facts
	f.Settings = maps.Clone(e.facts.Settings)
	for name, v := range u.arms[arm].of(e.side) {
		set := f.Settings[name]
		set.Value = v
		f.Settings[name] = set
	}
	return &f
}

// addComparisons adds the arms' effects and the first one's as the verdict.
func (u *under) addComparisons(r *Result) {
	d := u.trial.Design
	for i, c := range u.trial.Comparisons {
		e := effect(u.metric.Name, c.Interval)
		if e != nil {
			e.Wilcoxon = c.Wilcoxon
			e.Resampled = u.trial.Resampled(c.Arm, c.Interval.Confidence)
		}
		if i == 0 {
			r.Verdict, r.Effect = c.Verdict, e
		}
		r.Comparisons = append(r.Comparisons, Comparison{Arm: d.Arms[c.Arm], Verdict: c.Verdict, Effect: e})
		r.Beside = append(r.Beside, u.beside(c.Arm))
		if d.Arms[c.Arm] == d.Arms[0] && c.Decided > 0 {
			r.Warnings = append(r.Warnings, controlText)
		}
	}
	if len(r.Comparisons) < 2 {
		r.Comparisons = nil
	}
}

func (u *under) addWarnings(r *Result) {
	r.Warnings = append(r.Warnings, u.warnings...)
	if u.record.trouble != "" {
		r.Warnings = append(r.Warnings, u.record.trouble)
	}
	for _, w := range u.trial.Warnings {
		// How many pairs a smaller effect would take matters only while the
		// question is open.
		if w.Code != stats.CodeTooFew || r.Verdict == stats.NotEnough {
			r.Warnings = append(r.Warnings, w.Text)
		}
	}
}

// layout is how the trial was made.
func (u *under) layout() *Design {
	d := u.trial.Design
	tool := u.spec.Tool
	if len(u.trial.Runs) > 0 {
		tool = u.trial.Runs[0].Tool
	}
	return &Design{Tool: tool, Duration: u.spec.Duration.Seconds(), Omit: u.spec.Omit.Seconds(), MaxPairs: d.MaxPairs,
		Looks: d.Looks, Alpha: d.Alpha}
}

// describeSpec says in words what a run is.
func describeSpec(s workload.Spec) string {
	if s.Workload == "disk" {
		return fmt.Sprintf("disk in %s, %s in all", cmp.Or(s.Dir, workload.DiskDir), s.Duration)
	}
	if s.Workload == workload.Live {
		return fmt.Sprintf("%s, %s counted after %s", s.From, units.Duration(s.Duration), units.Duration(s.Omit))
	}
	streams := "one stream"
	if s.Streams > 1 {
		streams = fmt.Sprintf("%d streams", s.Streams)
	}
	return fmt.Sprintf("%s %s, %s, %s counted after %s", s.Workload, s.Direction, streams, units.Duration(s.Duration),
		units.Duration(s.Omit))
}

// beside are the other metrics of an arm by the same pairs.
func (u *under) beside(arm int) Beside {
	b := Beside{Arm: u.trial.Design.Arms[arm], Effects: []Effect{}}
	names := workload.Beside()
	if u.Routed() {
		names = append(names, workload.RouterMetrics()...)
	}
	if kind, err := workload.FindKind(u.spec.Workload); err == nil {
		for _, m := range kind.Metrics {
			names = append(names, m.Name)
		}
	}
	for _, name := range names {
		if name == u.metric.Name {
			continue
		}
		per, isCPU := map[string]string{workload.ClientCPU: ClientCPUPerGbit,
			workload.ServerCPU: ServerCPUPerGbit}[name]
		if isCPU && u.metric.Name == workload.Goodput {
			// An arm that moves more is busier: what a bit costs is compared.
			if i := u.trial.RatioPer(arm, name, workload.Goodput, 1-alpha); i != nil {
				b.Effects = append(b.Effects, *effect(per, *i))
			}
			continue
		}
		if i := u.trial.Ratio(arm, name, 1-alpha); i != nil {
			b.Effects = append(b.Effects, *effect(name, *i))
		}
	}
	return b
}

func effect(metric string, i stats.Interval) *Effect {
	if i.Pairs == 0 {
		return nil
	}
	return &Effect{Metric: metric, Ratio: i.Ratio, Interval: Interval{i.Low, i.High}, Confidence: i.Confidence,
		Pairs: i.Pairs}
}

// armResult is an arm's runs and their medians.
func armResult(name string, index int, t trial.Result, started time.Time) ArmResult {
	a := ArmResult{Name: name, Runs: []Run{}}
	values := map[string][]float64{}
	for _, run := range t.Runs {
		if run.Arm != index {
			continue
		}
		m := Metrics{GoodputBPS: run.GoodputBPS, Retransmits: float64(run.Retransmits), MeanRTT: run.MeanRTT,
			Values: run.Metrics}
		if run.Client != nil {
			m.ClientCPU = run.Client.Busy
		}
		if run.Server != nil {
			m.ServerCPU = run.Server.Busy
		}
		for name, v := range run.Metrics {
			values[name] = append(values[name], v)
		}
		a.Runs = append(a.Runs, Run{Order: run.Order, Pair: run.Pair, At: run.Start.Sub(started).Seconds(), Metrics: m,
			IntervalsBPS: run.IntervalsBPS})
	}
	if len(a.Runs) == 0 {
		return a
	}
	a.Limit = usualLimit(t, index)
	median := func(pick func(Run) float64) float64 {
		var values []float64
		for _, run := range a.Runs {
			values = append(values, pick(run))
		}
		return stats.Median(values)
	}
	a.Median = Metrics{
		GoodputBPS:  median(func(r Run) float64 { return r.GoodputBPS }),
		Retransmits: median(func(r Run) float64 { return r.Retransmits }),
		MeanRTT:     median(func(r Run) float64 { return r.MeanRTT }),
		ClientCPU:   median(func(r Run) float64 { return r.ClientCPU }),
		ServerCPU:   median(func(r Run) float64 { return r.ServerCPU }),
	}
	if len(values) > 0 {
		a.Median.Values = map[string]float64{}
	}
	for name, v := range values {
		a.Median.Values[name] = stats.Median(v)
	}
	return a
}

// usualLimit is what bounded most runs of an arm, as its last such run says it.
func usualLimit(t trial.Result, arm int) *workload.Limit {
	var most *workload.Limit
	times := map[string]int{}
	for _, run := range t.Runs {
		if l := run.Limit; run.Arm == arm && l != nil {
			if times[l.Code]++; most == nil || times[l.Code] >= times[most.Code] {
				most = l
			}
		}
	}
	return most
}

// cpuBound is the busy part from which the processors count as the limit.
const cpuBound = 0.95

// cpuWarnings says when the tuned arm ran out of processor rather than path.
func cpuWarnings(r Result) []string {
	if len(r.Arms) < 2 || r.Arms[1].Median.GoodputBPS > 0.95*r.LinkGoodput {
		return nil
	}
	m := r.Arms[1].Median
	if max(m.ClientCPU, m.ServerCPU) < cpuBound {
		return nil
	}
	return []string{fmt.Sprintf("the processors were %.0f%% busy with the plan in place: they bind here, not the path",
		100*max(m.ClientCPU, m.ServerCPU))}
}

// addEmulator says how faithful the emulated path was in the runs that stand.
func (u *under) addEmulator(r *Result) {
	if u.lab == nil {
		return
	}
	r.Emulator = &Emulator{Link: u.Link.String()}
	if awake := u.lab.Awake(); awake.On {
		r.Emulator.Awake = &awake
	}
	if u.Link.Backend == link.Netem {
		return // whose lateness nobody knows
	}
	worst := u.watch.worst.Seconds()
	r.Emulator.KeptUp, r.Emulator.WorstLateness = lab.Yes, &worst
	var runs, behind int
	count := func(run workload.Run) {
		runs++
		if slices.ContainsFunc(run.Warnings, func(w workload.Warning) bool { return w.Code == workload.CodeEmulator }) {
			behind++
		}
	}
	for _, run := range u.trial.Runs {
		count(run.Run)
	}
	if u.shares != nil {
		for _, run := range u.shares.Order {
			count(run.Run)
		}
	}
	if behind > 0 {
		r.Emulator.KeptUp = lab.No
		r.Warnings = append(r.Warnings, fmt.Sprintf("the link emulator did not keep up in %d of %d runs: this "+
			"machine, not only the path, limits these numbers", behind, runs))
	}
}

// addShares turns an attribution into shares, largest first.
func (u *under) addShares(r *Result) {
	a := u.shares
	for i, e := range a.Effects {
		share := Share{Setting: a.Settings[i], Ratio: 1, Verdict: e.Verdict, Stage: "none",
			Kept: slices.Contains(a.Keep, i)}
		interval := e.Share
		switch {
		case e.Share != nil:
			share.Stage = "factorial"
		case e.Screened != nil:
			share.Stage, interval = "screen", e.Screened
		}
		if interval != nil {
			share.Ratio, share.Low, share.High = interval.Ratio, interval.Low, interval.High
		}
		share.Because = u.shareBecause(e.Verdict)
		r.Shares = append(r.Shares, share)
	}
	slices.SortStableFunc(r.Shares, func(a, b Share) int {
		if a.Kept != b.Kept {
			return map[bool]int{true: -1, false: 1}[a.Kept]
		}
		return cmp.Compare(b.Ratio, a.Ratio)
	})
	u.keepTogether(r)
	r.Attribution = &Attribution{Runs: a.Runs, Lost: a.Lost, Stopped: a.Stopped, Interactions: interactions(a), FitP: 1}
	if a.Fit != nil {
		r.Attribution.SumOfShares, r.Attribution.Measured, r.Attribution.FitP = effect(u.metric.Name, a.Fit.Sum),
			effect(u.metric.Name, a.Fit.Measured), a.Fit.P
	}
	for _, f := range a.Failures {
		r.Warnings = append(r.Warnings, "shares: a run was lost: "+f)
	}
	for _, w := range a.Warnings {
		r.Warnings = append(r.Warnings, "shares: "+w.Text)
	}
	if a.Stopped {
		r.Warnings = append(r.Warnings, "shares: the time of --for was up before all runs were made")
	}
}

// keepTogether keeps what was not told apart of a plan that helps as a whole,
// where no setting by itself was shown to.
func (u *under) keepTogether(r *Result) {
	if u.kind != kindTune || r.Verdict != stats.Helps ||
		slices.ContainsFunc(r.Shares, func(s Share) bool { return s.Kept }) {
		return
	}
	for i, s := range r.Shares {
		if s.Verdict == stats.NotEnough {
			r.Shares[i].Kept, r.Shares[i].Because = true,
				"kept with the plan, which helps as a whole; its own share stayed open"
		}
	}
}

// attributed makes the result of an attribution by itself of that of its runs:
// what counts is the whole arm, or each setting that was alone an arm.
func (u *under) attributed(r *Result) {
	if u.shares != nil {
		r.Arms = []ArmResult{}
		if total := u.shares.Total; total != nil {
			r.Effect, r.Verdict = effect(u.metric.Name, *total), stats.Judge(*total, u.Margin, !u.metric.Lower)
		}
		return
	}
	for _, c := range u.trial.Comparisons {
		r.Shares = append(r.Shares, Share{Setting: u.trial.Design.Arms[c.Arm], Ratio: c.Interval.Ratio,
			Interval: Interval{c.Interval.Low, c.Interval.High},
			Verdict:  c.Verdict, Kept: c.Verdict == stats.Helps, Stage: "one-at-a-time",
			Because: u.shareBecause(c.Verdict)})
	}
	r.Effect, r.Comparisons, r.Verdict = nil, nil, stats.NotEnough
}

// shareBecause says why a setting is kept or dropped.
func (u *under) shareBecause(v stats.Verdict) string {
	switch {
	case v == stats.Helps:
		return "earns its place"
	case v == stats.Hurts && u.metric.Name == workload.Goodput:
		return "it costs goodput here"
	case v == stats.Hurts:
		return "it makes " + u.metric.Name + " worse here"
	case v == stats.NoDifference:
		return "no worthwhile difference"
	}
	return "no evidence that it helps"
}

func interactions(a *trial.Attribution) []string {
	out := []string{}
	for _, i := range a.Interactions {
		how := map[stats.Kind]string{stats.OnlyTogether: "help only together", stats.Reinforce: "reinforce each other",
			stats.Overlap: "overlap"}[i.Kind]
		out = append(out, fmt.Sprintf("%s and %s %s", a.Settings[i.A], a.Settings[i.B], how))
	}
	return out
}

func (e *end) describe() Host {
	return Host{Name: e.conn.Name(), Side: e.side, System: string(e.facts.System), Release: e.facts.Release,
		Processor: e.facts.Processor,
		Cores:     e.facts.Cores, Memory: int64(e.facts.Memory)}
}

func (s *session) undo() string {
	if s.lab != nil {
		return "nothing to undo: the lab's hosts are gone, and this machine's own settings were not touched"
	}
	has := "the hosts have"
	if s.Alone() {
		has = "the host has"
	}
	return "nothing to undo: " + has + " the values from before again; the files written here take effect only when " +
		"you install them"
}
