package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/store"
)

const historyUsage = "`file` of the history (default: ~/.local/state/wirerate/history.db)"

func newHistoryCmd(env *Env) *cobra.Command {
	var file string
	var n int
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List past experiments, or compare two of them",
		Long: `History lists what tune, trial, attribute and measure kept: newest first, with
the verdict and the effect. Runs of different sessions are not compared by their
absolute numbers: history compare sets the effects side by side.`,
		Args: cobra.NoArgs,
	}
	format := formatFlag(cmd, "text", "json")
	cmd.PersistentFlags().StringVar(&file, "history", "", historyUsage)
	cmd.Flags().IntVarP(&n, "number", "n", 20, "how many; 0 for all")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		form, err := format()
		if err != nil {
			return err
		}
		return withHistory(cmd.Context(), file, func(h *store.Store) error {
			all, err := h.Trials(cmd.Context(), n)
			if err != nil && !errors.Is(err, store.ErrDamaged) {
				return failure(err)
			}
			if len(all) == 0 && err != nil {
				return failure(err)
			}
			return cmp.Or(env.showHistory(all, form), failure(cmp.Or(err, h.Check(cmd.Context()))))
		})
	}
	compare := &cobra.Command{
		Use:   "compare A B",
		Short: "Set the effects of two past trials side by side",
		Args:  exactArgs(2, "two IDs are"),
	}
	compareFormat := formatFlag(compare, "text", "json")
	compare.RunE = func(cmd *cobra.Command, args []string) error {
		form, err := compareFormat()
		if err != nil {
			return err
		}
		return withHistory(cmd.Context(), file, func(h *store.Store) error {
			return env.compareHistory(cmd.Context(), h, args[0], args[1], form)
		})
	}
	cmd.AddCommand(compare)
	return cmd
}

func (e *Env) showHistory(all []store.Trial, format string) error {
	if format == "json" {
		return e.printJSON(map[string]any{"schema": 1, "trials": all})
	}
	if len(all) == 0 {
		e.note("the history is empty: tune, trial, attribute and measure fill it")
		return nil
	}
	e.printf("%-21s %-12s %-14s %-8s %5s  %s\n", "id", "kind", "workload", "state", "runs", "result")
	for _, t := range all {
		result := t.Verdict
		if r, ok := resultOf(t); ok && r.Effect != nil {
			result += fmt.Sprintf(" x%.3f (%.3f to %.3f)", r.Effect.Ratio, r.Effect.Low, r.Effect.High)
		}
		e.wrap(fmt.Sprintf("%-21s %-12s %-14s %-8s %5d  ", t.ID, t.Kind, t.Workload, t.State, t.Runs), "    ", strings.TrimSpace(result)+"  "+t.Where)
	}
	return nil
}

// resultOf reads the result that a trial ended with.
func resultOf(t store.Trial) (report.Result, bool) {
	r, err := report.ReadJSON(t.Result)
	return r, err == nil
}

// comparedTrials is the JSON of history compare.
type comparedTrials struct {
	Schema int           `json:"schema"`
	Trials []store.Trial `json:"trials"`
	// Ratio is the effect of the second over that of the first, with limits at
	// about the confidence of the two; 0 when one of them has none.
	Ratio   float64  `json:"ratio"`
	Low     float64  `json:"low"`
	High    float64  `json:"high"`
	Differs []string `json:"differs"` // what else was not the same
}

func (e *Env) compareHistory(ctx context.Context, h *store.Store, a, b, format string) error {
	c := comparedTrials{Schema: 1, Differs: []string{}}
	var effects []*report.Effect
	for _, id := range []string{a, b} {
		t, err := findTrial(ctx, h, id)
		if err != nil {
			return err
		}
		r, ok := resultOf(t)
		if !ok {
			return usagef("%s has no result to compare: it is a %s, %s", t.ID, t.Kind, t.State)
		}
		effects = append(effects, r.Effect)
		c.Trials = append(c.Trials, t)
	}
	c.Differs = differences(c.Trials[0], c.Trials[1])
	if x, y := effects[0], effects[1]; x != nil && y != nil && x.Metric == y.Metric {
		// Half widths of independent intervals add in squares on the log scale.
		d := math.Log(y.Ratio / x.Ratio)
		half := math.Hypot(math.Log(x.High/x.Low)/2, math.Log(y.High/y.Low)/2)
		if !math.IsNaN(d) && !math.IsNaN(half) {
			exp := func(v float64) float64 { return math.Exp(min(max(v, -690), 690)) } // what JSON holds
			c.Ratio, c.Low, c.High = exp(d), exp(d-half), exp(d+half)
		}
	}
	if format == "json" {
		return e.printJSON(c)
	}
	for i, t := range c.Trials {
		e.printf("%s  %s %s, %s: %s", t.ID, t.Kind, t.Workload, t.Where, t.Verdict)
		if x := effects[i]; x != nil {
			e.printf(", %s x%.3f (%.3f to %.3f, %d pairs)", x.Metric, x.Ratio, x.Low, x.High, x.Pairs)
		}
		e.printf("\n")
	}
	switch {
	case c.Ratio == 0:
		e.printf("the effects cannot be compared: one is missing, or they are of different metrics\n")
	case c.Low <= 1 && c.High >= 1:
		e.printf("the effects agree: second over first x%.3f (%.3f to %.3f)\n", c.Ratio, c.Low, c.High)
	default:
		e.printf("the effects differ: second over first x%.3f (%.3f to %.3f)\n", c.Ratio, c.Low, c.High)
	}
	for _, d := range c.Differs {
		e.printf("not the same: %s\n", d)
	}
	return nil
}

// differences says what of two trials' circumstances was not the same.
func differences(a, b store.Trial) []string {
	out := []string{}
	for _, f := range []struct{ what, a, b string }{{"workload", a.Workload, b.Workload}, {"where", a.Where, b.Where}, {"metric", a.Metric, b.Metric}} {
		if f.a != f.b {
			out = append(out, fmt.Sprintf("%s: %s, then %s", f.what, f.a, f.b))
		}
	}
	type side struct {
		Host     report.Host       `json:"host"`
		Settings map[string]string `json:"settings"`
	}
	var x, y map[string]side
	if json.Unmarshal(a.Environment, &x) != nil || json.Unmarshal(b.Environment, &y) != nil {
		return append(out, "the environment of one is not known")
	}
	for _, name := range []string{"client", "server"} {
		if x[name].Host.Release != y[name].Host.Release {
			out = append(out, fmt.Sprintf("%s release: %s, then %s", name, x[name].Host.Release, y[name].Host.Release))
		}
		n := 0
		for setting, v := range x[name].Settings {
			if w, ok := y[name].Settings[setting]; ok && w != v && strings.HasPrefix(setting, "net.") {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%s: %d running net settings", name, n))
		}
	}
	return out
}

func newReportCmd(env *Env) *cobra.Command {
	var file, out string
	cmd := &cobra.Command{
		Use:   "report ID | FILE",
		Short: "Show a past experiment or a result.json in any format",
		Args:  exactArgs(1, "the ID of an experiment (see wirerate history; last is the newest) or a result.json is"),
		Example: `  wirerate report last
  wirerate report 20260101-120000-ab12 --format html -o report.html`,
	}
	format := formatFlag(cmd, "text", "html", "markdown", "json")
	cmd.Flags().StringVar(&file, "history", "", historyUsage)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of standard output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		form, err := format()
		if err != nil {
			return err
		}
		r, err := findResult(cmd.Context(), file, args[0])
		if err != nil {
			return err
		}
		return env.writeTo(out, func(to *Env) error { return to.showResult(r, form) })
	}
	return cmd
}

// findResult reads a result by the ID of its experiment or from a file.
func findResult(ctx context.Context, history, name string) (report.Result, error) {
	if _, err := os.Stat(name); err == nil {
		data, err := input.File(name, jsonLimit)
		if err != nil {
			return report.Result{}, usage(err)
		}
		r, err := report.ReadJSON(data)
		return r, usage(err)
	}
	var r report.Result
	err := withHistory(ctx, history, func(h *store.Store) error {
		t, err := findTrial(ctx, h, name)
		if err != nil {
			return err
		}
		var ok bool
		if r, ok = resultOf(t); ok && t.Kind != "measure" {
			return nil
		}
		return usagef("%s has no result to show: it is a %s of %d runs, %s; wirerate export %s has the runs", t.ID, t.Kind, t.Runs, t.State, t.ID)
	})
	return r, err
}

// findTrial finds an experiment by its ID.
func findTrial(ctx context.Context, h *store.Store, id string) (store.Trial, error) {
	t, err := h.Trial(ctx, id)
	if errors.Is(err, store.ErrUnknown) {
		return t, usage(err)
	}
	return t, failure(err)
}

func (e *Env) showResult(r report.Result, format string) error {
	switch format {
	case "json":
		return e.printJSON(r)
	case "html":
		return failure(report.HTML(e.Stdout, r))
	case "markdown":
		return failure(report.Markdown(e.Stdout, r))
	}
	if r.Attribution != nil && len(r.Arms) == 0 {
		e.shareText(r)
		return nil
	}
	report.Text(e.Stdout, r)
	return nil
}
