package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/workload"
)

func newMeasureCmd(env *Env) *cobra.Command {
	var f experimentFlags
	var runs int
	var read string
	cmd := &cobra.Command{
		Use:   "measure WORKLOAD [HOST [--peer HOST] | --lab LINK]",
		Short: "Run a workload and show what it and the kernels saw",
		Long: `Measure runs a workload between two hosts and prints its metrics together with
the kernels' counters during the run. One run is not evidence about a setting:
use trial to compare settings.

The workload disk measures the storage of one HOST, without a peer, with its
own files in --dir, which are removed even if it is killed.

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
	f.add(cmd)
	f.addDisk(cmd)
	cmd.Flags().StringVar(&f.Peer, "peer", "", peerUsage)
	cmd.Flags().IntVarP(&runs, "runs", "n", 1, "number of runs, 1 to 1000")
	cmd.Flags().StringVar(&read, "read", "",
		"read a tool's output from `FILE` (- for standard input) instead of measuring")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if read != "" {
			return env.readOutput(read, f.Spec.Tool, *format, args)
		}
		if len(args) == 0 {
			return usagef("a WORKLOAD is expected: %s", strings.Join(kindsOfWorkload(), ", "))
		}
		f.Spec.Workload = args[0]
		if err := f.hostAndPeer(args[1:]); err != nil {
			return usage(err)
		}
		if f.Lab == "" && f.Peer == "" && !f.Alone() {
			return usagef("give either --lab LINK, or HOST and --peer HOST")
		}
		if err := f.where(); err != nil {
			return usage(err)
		}
		if runs < 1 || runs > 1000 {
			return usagef("--runs %d: 1 to 1000 are possible", runs)
		}
		return measureVerb(cmd.Context(), env, f, runs, *format)
	}
	return cmd
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
	m, err := experiment.ReadOutput(tool, data)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", path, err))
	}
	return e.showMeasured(m, format)
}

func measureVerb(ctx context.Context, env *Env, f experimentFlags, runs int, format string) error {
	m, err := run(ctx, env, &f, func(ctx context.Context, c experiment.Config) (experiment.Measured, error) {
		return experiment.Measure(ctx, c, runs)
	})
	if err != nil {
		return err
	}
	return env.showMeasured(m, format)
}

func (e *Env) showMeasured(m experiment.Measured, format string) error {
	if format == "json" {
		return e.printJSON(m)
	}
	report.Measured(e.screen(), m)
	return nil
}
