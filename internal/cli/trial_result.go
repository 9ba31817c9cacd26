package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

const controlText = "an A/A control found a difference between an arm and itself: something other than the arms changes from run to run, and no verdict of this set-up can be trusted"

// toResult is the JSON contract of a trial.
func (o *outcome) toResult(f trialFlags) report.Result {
	s := o.session
	var before, after []diagnose.Ceiling
	if s.known {
		sender, receiver := &s.client, &s.server
		if o.spec.Direction == workload.Down {
			sender, receiver = receiver, sender
		}
		before = diagnose.Ceilings(s.path, o.factsWith(sender, 0), o.factsWith(receiver, 0))
		if len(o.result.Design.Arms) == 2 {
			after = diagnose.Ceilings(s.path, o.factsWith(sender, 1), o.factsWith(receiver, 1))
		}
	}
	r := s.result(o.started, before, after, o.result, o.attr)
	r.ID, r.Seed, r.Command, r.Margin = o.id, f.seed, f.command, f.margin
	if o.command != "" {
		r.Command = o.command
	}
	// That one speaks of a plan; the runs' own warnings tell of each arm.
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w string) bool { return slices.Contains(cpuWarnings(r), w) })
	r.Workload = fmt.Sprintf("%s %s, %d stream(s), %s counted after %s", o.spec.Workload, o.spec.Direction, o.spec.Streams, o.spec.Duration, o.spec.Omit)
	r.Plans = slices.DeleteFunc(r.Plans, func(p plan.Plan) bool { return p.Schema == 0 })
	if r.Plans == nil {
		r.Plans = []plan.Plan{}
	}
	d := o.result.Design
	tool := o.spec.Tool
	if len(o.result.Runs) > 0 {
		tool = o.result.Runs[0].Tool
	}
	r.Design = &report.Design{Tool: tool, Duration: o.spec.Duration.Seconds(), Omit: o.spec.Omit.Seconds(), MaxPairs: d.MaxPairs, Looks: d.Looks, Alpha: d.Alpha}
	r.Metric = o.metric.Name
	if n := o.result.Noise; n != nil {
		r.Noise = &report.Noise{PairSD: n.SD, MinDetectable: n.MinDetectable, Pairs: n.Pairs}
	}
	for i, c := range o.result.Comparisons {
		e := effect(c.Interval)
		if e != nil {
			e.Metric, e.Wilcoxon = o.metric.Name, c.Wilcoxon
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
	o.addValues(&r)
	for i := range r.Arms {
		if i < len(o.arms) {
			r.Arms[i].Sets = o.session.sets(o.arms[i])
		}
	}
	return r
}

// sets lists what an arm changes, as it was and as it is under the arm.
func (s *benchSession) sets(a *armValues) []report.Set {
	var out []report.Set
	for _, e := range []*end{&s.client, &s.server} {
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

// factsWith are a host's facts with an arm's values in place.
func (o *outcome) factsWith(e *end, arm int) *facts.Facts {
	f := *e.facts
	f.Settings = map[string]facts.Setting{}
	maps.Copy(f.Settings, e.facts.Settings)
	if arm < len(o.arms) {
		for name, v := range o.arms[arm].of(e.side) {
			set := f.Settings[name]
			set.Value = v
			f.Settings[name] = set
		}
	}
	return &f
}

// beside are the other metrics of an arm by the same pairs.
func (o *outcome) beside(arm int) report.Beside {
	b := report.Beside{Arm: o.result.Design.Arms[arm], Effects: []report.Effect{}}
	names := workload.Beside()
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

// showTrial prints a result and writes its files.
func (e *Env) showTrial(f trialFlags, o outcome, format string) error {
	r := o.toResult(f)
	if f.out != "" {
		if err := writeTrial(f.out, r); err != nil {
			return failure(err)
		}
		e.note("written: %s and result.json", filepath.Join(f.out, "report.html"))
	}
	if r.ID != "" {
		e.note("kept in the history as %s", r.ID)
	}
	if format == "json" {
		if err := e.printJSON(r); err != nil {
			return err
		}
	} else {
		report.Text(e.Stdout, r)
	}
	if r.Verdict == stats.Hurts {
		return negative()
	}
	return nil
}

func writeTrial(dir string, r report.Result) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := report.HTML(&page, r); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "result.json"), append(data, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, "report.html"), page.Bytes(), 0o644))
}

func shellQuoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=.,:/+@%", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
