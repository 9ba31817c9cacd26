package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
)

// result puts together what was found.
func (s *tuneSession) result(started time.Time, before, after []diagnose.Ceiling, t trial.Result, a *trial.Attribution) report.Result {
	r := report.Result{
		Schema: report.ResultSchema, Verdict: stats.NotEnough, LinkGoodput: s.path.LinkGoodput(), Ceilings: before, After: after,
		Arms: []report.Arm{}, Shares: []report.Share{}, Seed: s.opt.seed, Warnings: []string{}, Started: started.UTC(),
		Elapsed: time.Since(started).Seconds(), Command: s.opt.command, Undo: s.undo(), Workload: s.workload(),
		Plans: []plan.Plan{s.client.plan, s.server.plan}, Hosts: []report.Host{s.client.describe(), s.server.describe()},
		Path: report.Path{RateBPS: int64(s.path.Rate), RTT: s.path.RTT.Seconds(), Loss: s.path.Loss, MTU: s.path.MTU,
			Spec: s.path.String(), Measured: s.path.Measured},
		Margin: s.opt.margin, Design: s.design(t),
	}
	if b, ok := diagnose.Binding(before); ok {
		r.Binding = b.Resource
	}
	if len(t.Comparisons) > 0 {
		c := t.Comparisons[0]
		r.Verdict, r.Effect = c.Verdict, effect(c.Interval)
		if r.Effect != nil {
			r.Effect.Wilcoxon = c.Wilcoxon
		}
	}
	for i, name := range t.Design.Arms {
		r.Arms = append(r.Arms, arm(name, i, t, started))
	}
	r.Warnings = append(r.Warnings, s.warnings...)
	for _, w := range t.Warnings {
		// How many pairs a smaller effect would take matters only while the
		// question is open.
		if w.Code != stats.CodeTooFew || r.Verdict == stats.NotEnough {
			r.Warnings = append(r.Warnings, w.Text)
		}
	}
	for _, lost := range t.Lost {
		r.Warnings = append(r.Warnings, "a run was lost and repeated: "+lost)
	}
	r.Warnings = append(r.Warnings, cpuWarnings(r)...)
	s.addEmulator(&r)
	if a != nil {
		addShares(&r, a)
	}
	return r
}

func effect(i stats.Interval) *report.Effect {
	if i.Pairs == 0 {
		return nil
	}
	return &report.Effect{Metric: "goodput_bps", Ratio: i.Ratio, Low: i.Low, High: i.High, Confidence: i.Confidence, Pairs: i.Pairs, Wilcoxon: 1}
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

func (s *tuneSession) addEmulator(r *report.Result) {
	if s.lab == nil {
		return
	}
	up, down := s.lab.Stats()
	e := &report.Emulator{KeptUp: up.KeptUp() && down.KeptUp(), WorstLateness: max(up.WorstLate, down.WorstLate).Seconds(), Link: s.link.String()}
	r.Emulator = e
	if !e.KeptUp {
		r.Warnings = append(r.Warnings, "the link emulator did not keep up with what was asked of it: this machine, not only the path, limits these numbers")
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
	return report.Host{Name: e.conn.Name(), Side: e.side, System: e.facts.System, Release: e.facts.Release, Processor: e.facts.Processor,
		Cores: e.facts.Cores, Memory: int64(e.facts.Memory)}
}

func (s *tuneSession) workload() string {
	spec := s.spec()
	streams := "one stream"
	if spec.Streams > 1 {
		streams = fmt.Sprintf("%d streams", spec.Streams)
	}
	return fmt.Sprintf("bulk transfer %s, %s, %s counted after %s", spec.Direction, streams, spec.Duration, spec.Omit)
}

// design is how the trial was made; nil when nothing was compared.
func (s *tuneSession) design(t trial.Result) *report.Design {
	if len(t.Runs) == 0 {
		return nil
	}
	spec := s.spec()
	return &report.Design{Tool: t.Runs[0].Tool, Duration: spec.Duration.Seconds(), Omit: spec.Omit.Seconds(), MaxPairs: t.Design.MaxPairs,
		Looks: t.Design.Looks, Alpha: t.Design.Alpha}
}

func (s *tuneSession) undo() string {
	if s.lab != nil {
		return "nothing to undo: the lab's hosts are gone, and this machine's own settings were not touched"
	}
	return "nothing to undo: both hosts have the values from before again; the files written here take effect only when you install them"
}

// writeResult fills the output folder.
func writeResult(dir string, r report.Result, s *tuneSession) error {
	var page bytes.Buffer
	if err := report.HTML(&page, r); err != nil {
		return err
	}
	files := map[string][]byte{"report.html": page.Bytes()}
	for name, v := range map[string]any{"result.json": r, "plan.json": r.Plans} {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		files[name] = append(data, '\n')
	}
	var picture bytes.Buffer
	if err := report.SVG(&picture, r); err != nil {
		return err
	}
	files["result.svg"] = picture.Bytes()
	for _, e := range []*end{&s.client, &s.server} {
		for _, f := range plan.NativeFiles(e.plan, keepers(r)) {
			files[e.side+"-"+f.Name] = []byte(f.Content)
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}

// keepers tells of each setting that was tried whether it earned its place;
// without shares every planned change is kept.
func keepers(r report.Result) func(setting string) (keep bool, why string) {
	dropped := map[string]string{}
	for _, share := range r.Shares {
		if !share.Kept {
			dropped[share.Setting] = fmt.Sprintf("%s (%.3f, %.3f to %.3f)", strings.TrimPrefix(share.Because, "dropped: "), share.Ratio, share.Low, share.High)
		}
	}
	return func(setting string) (bool, string) {
		why, ok := dropped[setting]
		return !ok, why
	}
}
