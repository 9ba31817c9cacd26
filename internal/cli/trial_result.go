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
	var before []diagnose.Ceiling
	if s.known {
		sender, receiver := &s.client, &s.server
		if o.spec.Direction == workload.Down {
			sender, receiver = receiver, sender
		}
		before = diagnose.Ceilings(s.path, sender.facts, receiver.facts)
	}
	r := s.result(o.started, before, nil, o.result, o.attr)
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
	return r
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
		e.trialText(r, o.metric)
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

// trialText prints what was found: report's own text for goodput, which knows
// ceilings and shares, and a table of the metrics for others.
func (e *Env) trialText(r report.Result, metric workload.Metric) {
	if metric.Name == workload.Goodput {
		report.Text(e.Stdout, r)
	} else {
		e.comparisons(r, metric)
		e.armTable(r)
	}
	if r.Noise != nil {
		fmt.Fprintf(e.Stdout, "\nnoise: pairs scatter by %.1f%%; %d pairs see %.1f%%\n", 100*r.Noise.PairSD, r.Noise.Pairs, 100*r.Noise.MinDetectable)
	}
	for _, b := range r.Beside {
		for _, c := range b.Effects {
			if c.Low > 1 || c.High < 1 {
				fmt.Fprintf(e.Stdout, "beside it, %s: %s is x%.3f (%.3f to %.3f)\n", b.Arm, c.Metric, c.Ratio, c.Low, c.High)
			}
		}
	}
	if metric.Name != workload.Goodput {
		for _, w := range r.Warnings {
			fmt.Fprintf(e.Stdout, "! %s\n", w)
		}
		fmt.Fprintf(e.Stdout, "workload: %s\nagain: %s --seed %d\n", r.Workload, r.Command, r.Seed)
	}
}

func (e *Env) comparisons(r report.Result, metric workload.Metric) {
	all := r.Comparisons
	if all == nil && len(r.Arms) > 1 {
		all = []report.Comparison{{Arm: r.Arms[1].Name, Verdict: r.Verdict, Effect: r.Effect}}
	}
	for _, c := range all {
		fmt.Fprintf(e.Stdout, "%s: %s\n", c.Arm, strings.ReplaceAll(string(c.Verdict), "-", " "))
		if c.Effect != nil {
			fmt.Fprintf(e.Stdout, "  %s x%.3f (%.3f to %.3f at %.1f%%, %d pairs) against %s\n", metric.Name, c.Effect.Ratio, c.Effect.Low, c.Effect.High,
				100*c.Effect.Confidence, c.Effect.Pairs, r.Arms[0].Name)
		}
	}
}

// armTable prints the medians of every metric, an arm a column.
func (e *Env) armTable(r report.Result) {
	names := map[string]bool{}
	for _, a := range r.Arms {
		for name := range a.Median.Values {
			names[name] = true
		}
	}
	fmt.Fprintf(e.Stdout, "\n%-22s", "median of a run")
	for _, a := range r.Arms {
		fmt.Fprintf(e.Stdout, " %18s", report.Clip(a.Name, 18))
	}
	fmt.Fprintln(e.Stdout)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(e.Stdout, "%-22s", name)
		for _, a := range r.Arms {
			v, ok := a.Median.Values[name]
			text := "not known"
			if ok {
				text = amount(metricOf("", name), v)
			}
			fmt.Fprintf(e.Stdout, " %18s", text)
		}
		fmt.Fprintln(e.Stdout)
	}
}

func shellQuoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=.,:/+@%", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
