package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/workload"
)

// ExportedTrial is a trial with its runs.
type ExportedTrial struct {
	store.Trial
	Attempts []store.Attempt `json:"attempts"`
}

// valuesOf are all numbers of a run by name.
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

func exportNames(all []ExportedTrial) []string {
	var runs []workload.Run
	for _, t := range all {
		for _, a := range t.Attempts {
			if a.Lost == "" {
				runs = append(runs, workload.Run{Metrics: valuesOf(a.Run), Retransmits: -1})
			}
		}
	}
	return experiment.MetricNames(runs)
}

// CSV writes the runs of trials, one a line.
func CSV(to io.Writer, all []ExportedTrial) error {
	names := exportNames(all)
	rows := [][]string{append([]string{"trial", "kind", "workload", "seq", "arm", "at", "tool", "lost"}, names...)}
	for _, t := range all {
		for _, a := range t.Attempts {
			row := []string{t.ID, t.Kind, t.Workload, strconv.Itoa(a.Seq), a.Arm, a.At.Format(time.RFC3339Nano),
				a.Run.Tool, a.Lost}
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
	return csv.NewWriter(to).WriteAll(rows)
}

// label is a text as OpenMetrics takes it between quotation marks.
func label(s string) string { return labelEscapes.Replace(terminal.Escape(s)) }

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// OpenMetrics writes a gauge family for each metric (OpenMetrics 1.0, text
// format): one sample a run with its time.
func OpenMetrics(to io.Writer, all []ExportedTrial) error {
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
				fmt.Fprintf(&b, "%s{trial=\"%s\",workload=\"%s\",arm=\"%s\",run=\"%d\"} %s %.3f\n",
					family, label(t.ID), label(t.Workload),
					label(a.Arm), a.Seq, strconv.FormatFloat(v, 'g', -1, 64), float64(a.At.UnixMilli())/1e3)
			}
		}
	}
	b.WriteString("# EOF\n")
	_, err := io.WriteString(to, b.String())
	return err
}

func helpOf(name string) string {
	if m := workload.MetricOf("", name); m.Means != "" {
		return m.Means
	}
	return "as measured in one run"
}
