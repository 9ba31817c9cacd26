package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

const controlText = "an A/A control found a difference between an arm and itself: something other than the arms changes from run to run, and no verdict of this set-up can be trusted"

// toResult is the JSON contract of a trial.
func (o *outcome) toResult(f trialFlags) report.Result {
	s, t := o.session, o.result
	r := report.Result{
		Schema: report.ResultSchema, ID: o.id, Verdict: stats.NotEnough, LinkGoodput: s.path.LinkGoodput(), Metric: o.metric.Name, Ceilings: o.ceilings(0),
		Arms: []report.Arm{}, Shares: []report.Share{}, Warnings: []string{}, Plans: []plan.Plan{},
		Path: report.Path{RateBPS: int64(s.path.Rate), RTT: s.path.RTT.Seconds(), Loss: s.path.Loss, MTU: s.path.MTU,
			Spec: s.path.String(), Measured: s.path.Measured},
		Seed: f.seed, Margin: f.margin, Started: o.started.UTC(), Elapsed: time.Since(o.started).Seconds(), Command: f.command,
		Undo: s.undo(), Workload: describeSpec(o.spec), Design: o.layout(),
	}
	for _, e := range s.hosts() {
		r.Hosts = append(r.Hosts, e.describe())
	}
	if o.command != "" {
		r.Command = o.command
	}
	if b, ok := diagnose.Binding(r.Ceilings); ok {
		r.Binding = b.Resource
	}
	if len(t.Design.Arms) == 2 {
		r.After = o.ceilings(1)
	}
	for _, e := range s.hosts() {
		if e.plan.Schema != 0 {
			r.Plans = append(r.Plans, e.plan)
		}
	}
	for i, name := range t.Design.Arms {
		r.Arms = append(r.Arms, arm(name, i, t, o.started))
	}
	if n := t.Noise; n != nil {
		r.Noise = &report.Noise{PairSD: n.SD, MinDetectable: n.MinDetectable, Pairs: n.Pairs}
	}
	o.addComparisons(&r)
	o.addWarnings(&r)
	o.addEmulator(&r)
	if o.attr != nil {
		addShares(&r, o.attr)
	}
	o.addValues(&r)
	for i := range r.Arms {
		if i < len(o.arms) {
			r.Arms[i].Sets = s.sets(o.arms[i])
		}
	}
	return r
}

// sets lists what an arm changes, as it was and as it is under the arm.
func (s *benchSession) sets(a *armValues) []report.Set {
	var out []report.Set
	for _, e := range s.hosts() {
		if e.tuned.Change == nil {
			continue
		}
		old := e.tuned.Change.Old()
		for _, name := range slices.Sorted(maps.Keys(a.of(e.side))) {
			if to := a.of(e.side)[name]; to != old[name] {
				out = append(out, report.Set{Side: e.side, Setting: name, From: old[name], To: to})
			}
		}
	}
	return out
}

// ceilings are those of the hosts under an arm; none on a path that is not
// known.
func (o *outcome) ceilings(arm int) []diagnose.Ceiling {
	if !o.session.known || o.session.flags.alone() {
		return nil
	}
	sender, receiver := o.session.ends(o.spec.Direction)
	return diagnose.Ceilings(o.session.path, o.factsWith(sender, arm), o.factsWith(receiver, arm))
}

// factsWith are a host's facts with an arm's values in place.
func (o *outcome) factsWith(e *end, arm int) *facts.Facts {
	if arm >= len(o.arms) {
		return e.facts
	}
	f := *e.facts
	f.Settings = maps.Clone(e.facts.Settings)
	for name, v := range o.arms[arm].of(e.side) {
		set := f.Settings[name]
		set.Value = v
		f.Settings[name] = set
	}
	return &f
}

// ends returns the sending and the receiving end.
func (s *benchSession) ends(d workload.Direction) (sender, receiver *end) {
	if d == workload.Down {
		return &s.server, &s.client
	}
	return &s.client, &s.server
}

// addComparisons adds the arms' effects and the first one's as the verdict.
func (o *outcome) addComparisons(r *report.Result) {
	d := o.result.Design
	for i, c := range o.result.Comparisons {
		e := effect(c.Interval)
		if e != nil {
			e.Metric, e.Wilcoxon = o.metric.Name, c.Wilcoxon
			e.Resampled = o.result.Resampled(c.Arm, c.Interval.Confidence)
		}
		if i == 0 {
			r.Verdict, r.Effect = c.Verdict, e
		}
		r.Comparisons = append(r.Comparisons, report.Comparison{Arm: d.Arms[c.Arm], Verdict: c.Verdict, Effect: e})
		r.Beside = append(r.Beside, o.beside(c.Arm))
		if d.Arms[c.Arm] == d.Arms[0] && c.Decided > 0 {
			r.Warnings = append(r.Warnings, controlText)
		}
	}
	if len(r.Comparisons) < 2 {
		r.Comparisons = nil
	}
}

// lostShown is how many of the lost runs are told of one by one.
const lostShown = 2

func (o *outcome) addWarnings(r *report.Result) {
	r.Warnings = append(r.Warnings, o.session.warnings...)
	if o.record != nil && o.record.trouble != "" {
		r.Warnings = append(r.Warnings, o.record.trouble)
	}
	for _, w := range o.result.Warnings {
		// How many pairs a smaller effect would take matters only while the
		// question is open.
		if w.Code != stats.CodeTooFew || r.Verdict == stats.NotEnough {
			r.Warnings = append(r.Warnings, w.Text)
		}
	}
	for i, lost := range o.result.Lost {
		if i == lostShown {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%d more runs were lost and repeated", len(o.result.Lost)-i))
			break
		}
		r.Warnings = append(r.Warnings, "a run was lost and repeated: "+strings.Replace(lost, workload.ErrTool.Error()+": "+workload.ErrDisturbed.Error()+": ", "", 1))
	}
}

// layout is how the trial was made.
func (o *outcome) layout() *report.Design {
	d := o.result.Design
	tool := o.spec.Tool
	if len(o.result.Runs) > 0 {
		tool = o.result.Runs[0].Tool
	}
	return &report.Design{Tool: tool, Duration: o.spec.Duration.Seconds(), Omit: o.spec.Omit.Seconds(), MaxPairs: d.MaxPairs, Looks: d.Looks, Alpha: d.Alpha}
}

// describeSpec says in words what a run is.
func describeSpec(s workload.Spec) string {
	if s.Workload == "disk" {
		return fmt.Sprintf("disk in %s, %s in all", cmp.Or(s.Dir, workload.DiskDir), s.Duration)
	}
	streams := "one stream"
	if s.Streams > 1 {
		streams = fmt.Sprintf("%d streams", s.Streams)
	}
	return fmt.Sprintf("%s %s, %s, %s counted after %s", s.Workload, s.Direction, streams, s.Duration, s.Omit)
}

// beside are the other metrics of an arm by the same pairs.
func (o *outcome) beside(arm int) report.Beside {
	b := report.Beside{Arm: o.result.Design.Arms[arm], Effects: []report.Effect{}}
	names := workload.Beside()
	if o.session.flags.routed() {
		names = append(names, workload.RouterMetrics()...)
	}
	if kind, err := workload.FindKind(o.spec.Workload); err == nil {
		for _, m := range kind.Metrics {
			names = append(names, m.Name)
		}
	}
	for _, name := range names {
		if name == o.metric.Name {
			continue
		}
		if i := o.result.Ratio(arm, name, 1-trialAlpha); i != nil {
			e := effect(*i)
			e.Metric = name
			b.Effects = append(b.Effects, *e)
		}
	}
	return b
}

// addValues puts the workload's own metrics beside those of every run.
func (o *outcome) addValues(r *report.Result) {
	byOrder := map[int]trial.Run{}
	for _, run := range o.result.Runs {
		byOrder[run.Order] = run
	}
	for i := range r.Arms {
		values := map[string][]float64{}
		for j := range r.Arms[i].Runs {
			run := &r.Arms[i].Runs[j]
			run.Values = byOrder[run.Order].Metrics
			for name, v := range run.Values {
				values[name] = append(values[name], v)
			}
		}
		if len(values) > 0 {
			r.Arms[i].Median.Values = map[string]float64{}
		}
		for name, v := range values {
			r.Arms[i].Median.Values[name] = stats.Median(v)
		}
	}
}

func effect(i stats.Interval) *report.Effect {
	if i.Pairs == 0 {
		return nil
	}
	return &report.Effect{Metric: "goodput_bps", Ratio: i.Ratio, Low: i.Low, High: i.High, Confidence: i.Confidence, Pairs: i.Pairs}
}

func arm(name string, index int, t trial.Result, started time.Time) report.Arm {
	a := report.Arm{Name: name, Runs: []report.Run{}}
	for _, run := range t.Runs {
		if run.Arm != index {
			continue
		}
		m := report.Metrics{GoodputBPS: run.GoodputBPS, Retransmits: float64(run.Retransmits), MeanRTT: run.MeanRTT}
		if run.Client != nil {
			m.ClientCPU = run.Client.Busy
		}
		if run.Server != nil {
			m.ServerCPU = run.Server.Busy
		}
		a.Runs = append(a.Runs, report.Run{Order: run.Order, Pair: run.Pair, At: run.Start.Sub(started).Seconds(), Metrics: m, IntervalsBPS: run.IntervalsBPS})
	}
	if len(a.Runs) == 0 {
		return a
	}
	median := func(pick func(report.Run) float64) float64 {
		var values []float64
		for _, run := range a.Runs {
			values = append(values, pick(run))
		}
		return stats.Median(values)
	}
	a.Median = report.Metrics{
		GoodputBPS:  median(func(r report.Run) float64 { return r.GoodputBPS }),
		Retransmits: median(func(r report.Run) float64 { return r.Retransmits }),
		MeanRTT:     median(func(r report.Run) float64 { return r.MeanRTT }),
		ClientCPU:   median(func(r report.Run) float64 { return r.ClientCPU }),
		ServerCPU:   median(func(r report.Run) float64 { return r.ServerCPU }),
	}
	return a
}

// cpuBound is the busy part from which the processors count as the limit.
const cpuBound = 0.95

// cpuWarnings says when the tuned arm ran out of processor rather than path.
func cpuWarnings(r report.Result) []string {
	if len(r.Arms) < 2 || r.Arms[1].Median.GoodputBPS > 0.95*r.LinkGoodput {
		return nil
	}
	m := r.Arms[1].Median
	if max(m.ClientCPU, m.ServerCPU) < cpuBound {
		return nil
	}
	return []string{fmt.Sprintf("the processors were %.0f%% busy with the plan in place: they bind here, not the path", 100*max(m.ClientCPU, m.ServerCPU))}
}

// addEmulator says how faithful the emulated path was in the runs that stand.
func (o *outcome) addEmulator(r *report.Result) {
	s := o.session
	if s.lab == nil {
		return
	}
	r.Emulator = &report.Emulator{Link: s.link.String()}
	if s.link.Backend == lab.Netem {
		return // whose lateness nobody knows
	}
	worst := s.watch.worst.Seconds()
	r.Emulator.KeptUp, r.Emulator.WorstLateness = lab.Yes, &worst
	var runs, behind int
	count := func(run workload.Run) {
		runs++
		if slices.ContainsFunc(run.Warnings, func(w workload.Warning) bool { return w.Code == workload.CodeEmulator }) {
			behind++
		}
	}
	for _, run := range o.result.Runs {
		count(run.Run)
	}
	if o.attr != nil {
		for _, run := range o.attr.Order {
			count(run.Run)
		}
	}
	if behind > 0 {
		r.Emulator.KeptUp = lab.No
		r.Warnings = append(r.Warnings, fmt.Sprintf("the link emulator did not keep up in %d of %d runs: this machine, not only the path, limits these numbers", behind, runs))
	}
}

// addShares turns an attribution into shares, largest first.
func addShares(r *report.Result, a *trial.Attribution) {
	for i, e := range a.Effects {
		share := report.Share{Setting: a.Settings[i], Ratio: 1, Verdict: e.Verdict, Stage: "none", Kept: slices.Contains(a.Keep, i)}
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
		share.Because = shareBecause(share)
		r.Shares = append(r.Shares, share)
	}
	slices.SortStableFunc(r.Shares, func(a, b report.Share) int {
		switch {
		case a.Kept != b.Kept && a.Kept, a.Kept == b.Kept && a.Ratio > b.Ratio:
			return -1
		case a.Kept == b.Kept && a.Ratio == b.Ratio:
			return 0
		}
		return 1
	})
	r.Attribution = &report.Attribution{Runs: a.Runs, Lost: a.Lost, Stopped: a.Stopped, Interactions: interactions(a), FitP: 1}
	if a.Fit != nil {
		r.Attribution.SumOfShares, r.Attribution.Measured, r.Attribution.FitP = effect(a.Fit.Sum), effect(a.Fit.Measured), a.Fit.P
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

func shareBecause(s report.Share) string {
	switch s.Verdict {
	case stats.Helps:
		return "earns its place"
	case stats.Hurts:
		return "dropped: it costs goodput here"
	case stats.NoDifference:
		return "dropped: no worthwhile difference"
	}
	return "dropped: no evidence that it helps"
}

func interactions(a *trial.Attribution) []string {
	out := []string{}
	for _, i := range a.Interactions {
		how := map[stats.Kind]string{stats.OnlyTogether: "help only together", stats.Reinforce: "reinforce each other", stats.Overlap: "overlap"}[i.Kind]
		out = append(out, fmt.Sprintf("%s and %s %s", a.Settings[i.A], a.Settings[i.B], how))
	}
	return out
}

func (e *end) describe() report.Host {
	return report.Host{Name: e.conn.Name(), Side: e.side, System: string(e.facts.System), Release: e.facts.Release, Processor: e.facts.Processor,
		Cores: e.facts.Cores, Memory: int64(e.facts.Memory)}
}

func (s *benchSession) undo() string {
	if s.lab != nil {
		return "nothing to undo: the lab's hosts are gone, and this machine's own settings were not touched"
	}
	has := "the hosts have"
	if s.flags.alone() {
		has = "the host has"
	}
	return "nothing to undo: " + has + " the values from before again; the files written here take effect only when you install them"
}
