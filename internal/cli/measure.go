package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/workload"
)

// measured is the JSON of measure.
type measured struct {
	Schema   int                `json:"schema"`
	ID       string             `json:"id,omitempty"` // in the history
	Workload string             `json:"workload"`
	Tool     string             `json:"tool"`
	Where    string             `json:"where,omitempty"`
	Metrics  []workload.Metric  `json:"metrics"`
	Median   map[string]float64 `json:"median"`
	// Intervals of the medians, of six runs or more.
	Intervals map[string]medianInterval `json:"median_interval,omitempty"`
	Runs      []workload.Run            `json:"runs"`
	Warnings  []string                  `json:"warnings"`
}

// medianInterval is bounded by two of the runs themselves.
type medianInterval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

func newMeasureCmd(env *Env) *cobra.Command {
	var flags benchFlags
	var runs int
	var read string
	cmd := &cobra.Command{
		Use:   "measure WORKLOAD [HOST [PEER] | --lab LINK] | --read FILE",
		Short: "Run a workload and show what it and the kernels saw",
		Long: `Measure runs a workload between two hosts and prints its metrics with what the
kernels counted meanwhile. One run is no evidence about a setting: trial
compares settings.

The workload disk measures the storage of one HOST, without a peer, with files
of its own in --dir, which are removed also when it is killed.

` + workloadHelp() + `
` + below("", "With --read it reads what a measuring tool printed before: "+strings.Join(workload.ParsedTools(), ", ")+
			". Of several tests in one file the last one that has a result counts."),
		Example: `  wirerate measure bulk --lab rate=1gbit,rtt=20ms
  wirerate measure rr ns:a ns:b -n 5
  wirerate measure disk ssh://root@nas --dir /tank/test --json >disk.json
  wirerate measure --read wrk.txt --json`,
		Args: cobra.MaximumNArgs(3),
	}
	format := formatFlag(cmd, "text", "json")
	flags.add(cmd)
	flags.addDisk(cmd)
	cmd.Flags().IntVarP(&runs, "runs", "n", 1, "number of runs, 1 to 1000")
	cmd.Flags().StringVar(&read, "read", "", "read a tool's output from `FILE` (- for standard input) instead of measuring")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		form, err := format()
		if err != nil {
			return err
		}
		if read != "" {
			return env.readOutput(read, flags.spec.Tool, form, args)
		}
		if len(args) == 0 {
			return usagef("a WORKLOAD is expected: %s", workloadNames())
		}
		flags.spec.Workload = args[0]
		if len(args) > 1 {
			flags.host = args[1]
		}
		if len(args) > 2 {
			flags.peer = args[2]
		}
		if flags.lab == "" && flags.peer == "" && !flags.alone() {
			return usagef("give either --lab LINK, or HOST and PEER")
		}
		if err := flags.where(); err != nil {
			return usage(err)
		}
		if runs < 1 || runs > 1000 {
			return usagef("--runs %d: 1 to 1000 are possible", runs)
		}
		return env.measure(cmd.Context(), flags, runs, form)
	}
	return cmd
}

func workloadNames() string {
	text := ""
	for i, k := range workload.Kinds() {
		if i > 0 {
			text += ", "
		}
		text += k.Name
	}
	return text
}

func workloadHelp() string {
	text := "Workloads:\n"
	for _, k := range workload.Kinds() {
		text += below(fmt.Sprintf("  %-15s ", k.Name), k.Imitates)
	}
	return text
}

// readOutput prints the metrics of a tool's recorded output.
func (e *Env) readOutput(path, tool, format string, args []string) error {
	if len(args) > 0 {
		return usagef("--read measures nothing: no WORKLOAD or HOST goes with it")
	}
	data, err := e.read(path, textLimit)
	if err != nil {
		return usage(err)
	}
	if tool == "" {
		if tool = workload.DetectTool(data); tool == "" {
			return usagef("%s: no known tool printed this; name it with --tool", path)
		}
	}
	run, err := workload.ParseOutput(tool, data)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", path, err))
	}
	m := measured{Schema: 1, Tool: tool, Runs: []workload.Run{run}, Warnings: []string{}}
	return e.showMeasured(m, format)
}

func (e *Env) measure(ctx context.Context, flags benchFlags, runs int, format string) error {
	session, err := openBench(ctx, e, flags)
	if err != nil {
		return err
	}
	defer session.close()
	spec, err := flags.fullSpec(session.rtt)
	if err != nil {
		return usage(err)
	}
	kind, err := workload.FindKind(spec.Workload)
	if err != nil {
		return usage(err)
	}
	record, err := e.startRecord(ctx, session, store.Trial{Kind: "measure", Workload: spec.Workload, Metric: kind.Primary().Name}, nil)
	if err != nil {
		return err
	}
	defer record.close()
	m := measured{Schema: 1, ID: record.id, Workload: spec.Workload, Where: flags.place(), Warnings: []string{}}
	lost := 0
	for len(m.Runs) < runs {
		run, err := record.attempt(ctx, "current", func() (workload.Run, error) {
			seen := session.watchLab()
			run, err := workload.Measure(ctx, session.pair(), spec)
			if err == nil {
				err = seen(&run)
			}
			return run, err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, workload.ErrMissing) {
			record.finish(ctx, store.Stopped, "", m)
			return missing(err)
		}
		if err != nil {
			if lost++; lost > 3 || !errors.Is(err, workload.ErrTool) {
				record.finish(ctx, store.Stopped, "", m)
				return measuring(err)
			}
			m.Warnings = append(m.Warnings, "a run was lost and made again: "+err.Error())
			e.note("a run was lost and is made again: %v", err)
			continue
		}
		m.Runs, m.Tool = append(m.Runs, run), run.Tool
	}
	record.finish(ctx, store.Done, "", m)
	return e.showMeasured(m, format)
}

// metricOf describes a metric of a workload, or of any other.
func metricOf(kind, name string) workload.Metric { return workload.MetricOf(kind, name) }

func (e *Env) showMeasured(m measured, format string) error {
	m.Median, m.Intervals = map[string]float64{}, map[string]medianInterval{}
	for _, name := range metricNames(m.Runs) {
		var values []float64
		for _, r := range m.Runs {
			if v, ok := r.Value(name); ok {
				values = append(values, v)
			}
		}
		m.Median[name] = stats.Median(values)
		// Six runs are the fewest that have one; whatever their distribution.
		if q, err := stats.QuantileInterval(values, 0.5, 0.95); err == nil {
			m.Intervals[name] = medianInterval{q.Low, q.High, q.Confidence}
		}
		m.Metrics = append(m.Metrics, metricOf(m.Workload, name))
	}
	seen := map[string]bool{}
	for i, r := range m.Runs {
		for _, w := range r.Warnings {
			if !seen[w.Code] {
				m.Warnings = append(m.Warnings, fmt.Sprintf("run %d: %s", i+1, w.Text))
			}
			seen[w.Code] = true
		}
	}
	if format == "json" {
		return e.printJSON(m)
	}
	e.printf("%s by %s, %d run(s)\n", orUnknown(m.Workload), m.Tool, len(m.Runs))
	for _, metric := range m.Metrics {
		low, high := spread(m.Runs, metric.Name)
		line := fmt.Sprintf("  %-22s %14s", metric.Name, amount(metric, m.Median[metric.Name]))
		if len(m.Runs) > 1 {
			line += fmt.Sprintf("   %s to %s", amount(metric, low), amount(metric, high))
			if q := m.Intervals[metric.Name]; q.Confidence > 0 {
				line += fmt.Sprintf("   median: %s to %s (%.0f%%)", amount(metric, q.Low), amount(metric, q.High), 100*q.Confidence)
			}
		}
		e.printf("%s\n", line)
	}
	e.showKernel(m.Runs)
	e.showDiskPlan(m)
	for _, w := range m.Warnings {
		e.wrap("  ! ", "    ", w)
	}
	return nil
}

func orUnknown(name string) string {
	if name == "" {
		return "output"
	}
	return name
}

// showKernel prints what the kernels saw in the last run.
func (e *Env) showKernel(runs []workload.Run) {
	last := runs[len(runs)-1]
	for i, k := range []*workload.Kernel{last.ClientKernel, last.ServerKernel} {
		side := []string{"client", "server"}[i]
		if last.Server == nil {
			side = "host"
		}
		if cpu := []*workload.CPU{last.Client, last.Server}[i]; cpu != nil {
			e.printf("  %s CPU %.0f%% busy, its busiest core %.0f%%, softirq %.0f%%\n", side, 100*cpu.Busy, 100*cpu.Busiest, 100*cpu.SoftIRQ)
		}
		if k == nil {
			continue
		}
		for _, f := range k.Flows {
			if f.Limit != "" {
				e.printf("  %s flow to %s: %s, round trip %s, queue %s, limited by the %s\n", side, f.Peer, f.Congestion,
					amount(workload.Metric{Unit: "s"}, f.RTT), time.Duration(f.Queue()*float64(time.Second)).Round(time.Microsecond), f.Limit)
			}
		}
	}
}
