package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/workload"
)

func newExportCmd(env *Env) *cobra.Command {
	var file, out string
	cmd := &cobra.Command{
		Use:   "export [ID...]",
		Short: "Write the runs of past experiments as OpenMetrics, CSV or JSON",
		Long: `Export writes every run that the history kept of the named experiments, all of
them when none is named. Quantities are in base units.`,
		Example: `  wirerate export last --format csv
  wirerate export --format openmetrics -o wirerate.prom`,
	}
	format := formatFlag(cmd, "openmetrics", "csv", "json")
	cmd.Flags().StringVar(&file, "history", "", historyUsage)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of standard output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		form, err := format()
		if err != nil {
			return err
		}
		all, err := exported(cmd.Context(), file, args)
		if err != nil {
			return err
		}
		return env.writeTo(out, func(to *Env) error {
			switch form {
			case "csv":
				return to.exportCSV(all)
			case "json":
				return to.printJSON(map[string]any{"schema": 1, "trials": all})
			}
			return to.exportOpenMetrics(all)
		})
	}
	return cmd
}

// exportedTrial is a trial with its runs.
type exportedTrial struct {
	store.Trial
	Attempts []store.Attempt `json:"attempts"`
}

func exported(ctx context.Context, file string, ids []string) ([]exportedTrial, error) {
	all := []exportedTrial{}
	err := withHistory(ctx, file, func(h *store.Store) error {
		trials, err := named(ctx, h, ids)
		if err != nil {
			return err
		}
		for _, t := range trials {
			attempts, err := h.Attempts(ctx, t.ID)
			if err != nil {
				return failure(err)
			}
			all = append(all, exportedTrial{t, attempts})
		}
		return nil
	})
	return all, err
}

// named are the experiments of that name, all when none is named.
func named(ctx context.Context, h *store.Store, ids []string) ([]store.Trial, error) {
	if len(ids) == 0 {
		trials, err := h.Trials(ctx, 0)
		return trials, failure(err)
	}
	var trials []store.Trial
	for _, id := range ids {
		t, err := findTrial(ctx, h, id)
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	return trials, nil
}

// values are all numbers of a run by name.
func valuesOf(r workload.Run) map[string]float64 {
	values := map[string]float64{}
	for name, v := range r.Metrics {
		values[name] = v
	}
	for _, name := range append(workload.Beside(), workload.Goodput) {
		if v, ok := r.Value(name); ok {
			values[name] = v
		}
	}
	return values
}

func exportNames(all []exportedTrial) []string {
	var runs []workload.Run
	for _, t := range all {
		for _, a := range t.Attempts {
			if a.Lost == "" {
				runs = append(runs, workload.Run{Metrics: valuesOf(a.Run), Retransmits: -1})
			}
		}
	}
	return metricNames(runs)
}

func (e *Env) exportCSV(all []exportedTrial) error {
	names := exportNames(all)
	w := csv.NewWriter(e.Stdout)
	rows := [][]string{append([]string{"trial", "kind", "workload", "seq", "arm", "at", "tool", "lost"}, names...)}
	for _, t := range all {
		for _, a := range t.Attempts {
			row := []string{t.ID, t.Kind, t.Workload, strconv.Itoa(a.Seq), a.Arm, a.At.Format(time.RFC3339Nano), a.Run.Tool, a.Lost}
			values := valuesOf(a.Run)
			for _, name := range names {
				cell := ""
				if v, ok := values[name]; ok && a.Lost == "" {
					cell = strconv.FormatFloat(v, 'g', -1, 64)
				}
				row = append(row, cell)
			}
			for i := range row {
				row[i] = terminal.Escape(row[i])
			}
			rows = append(rows, row)
		}
	}
	return failure(w.WriteAll(rows))
}

// label is a text as OpenMetrics takes it between quotation marks.
func label(s string) string { return labelEscapes.Replace(terminal.Escape(s)) }

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// exportOpenMetrics writes a gauge family for each metric (OpenMetrics 1.0,
// text format): one sample a run with its time.
func (e *Env) exportOpenMetrics(all []exportedTrial) error {
	var b strings.Builder
	for _, name := range exportNames(all) {
		family := "wirerate_run_" + name
		fmt.Fprintf(&b, "# TYPE %s gauge\n# HELP %s %s\n", family, family, label(helpOf(name)))
		for _, t := range all {
			for _, a := range t.Attempts {
				v, ok := valuesOf(a.Run)[name]
				if !ok || a.Lost != "" {
					continue
				}
				fmt.Fprintf(&b, "%s{trial=\"%s\",workload=\"%s\",arm=\"%s\",run=\"%d\"} %s %.3f\n", family, label(t.ID), label(t.Workload),
					label(a.Arm), a.Seq, strconv.FormatFloat(v, 'g', -1, 64), float64(a.At.UnixMilli())/1e3)
			}
		}
	}
	b.WriteString("# EOF\n")
	_, err := e.Stdout.Write([]byte(b.String()))
	return failure(err)
}

func helpOf(name string) string {
	if m := metricOf("", name); m.Means != "" {
		return m.Means
	}
	return "as measured in one run"
}
