package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/live"
	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

func newTrialCmd(env *Env) *cobra.Command {
	var f experimentFlags
	var aa bool
	cmd := &cobra.Command{
		Use:   "trial --arm A --arm B... [HOST [PEER] | --lab LINK]",
		Short: "Compare sets of settings in randomised pairs of runs",
		Long: `Trial compares arms, each a set of settings, with the first one: in randomised
blocks of runs, one log-ratio per pair, with intervals, planned looks, Holm's
procedure over the arms and a margin for what is worthwhile. It says in advance
how small a change it can detect, restores everything, and keeps every run in
the history.

` + below("", "An arm is "+experiment.ArmForms+".") + `
default is what the release ships, for whatever the other arms change; current
is what is running. firewall: switches pf of the BSDs on and off, or loads FILE
as the whole rule set: a pf.conf there, the language of nft on Linux, where off
is no rule at all. --aa compares the first arm with itself and so measures the
noise floor.

` + switchbackHelp + `With --via HOST, a router or firewall between the two ends, or in a lab with
--router, the arms set that host and leave the ends alone; ends:PART sets the
ends. plan is then the plan of a router. The router has a journal and a way back
of its own, and its processors and drops stand beside the others.

` + workloadHelp(),
		Example: `  wirerate trial --arm default --arm plan --lab rate=1gbit,rtt=50ms
  wirerate trial --arm current --arm file:/etc/sysctl.d/99-old.conf \
    --arm cc:bbr --workload rr ns:a --peer ns:b
  wirerate trial --suite host --arm default --arm tuned:network-throughput \
    --lab rate=1gbit,rtt=5ms --for 20m
  wirerate trial --suite router --arm firewall:off --arm firewall:rules.nft \
    --lab rate=1gbit,rtt=5ms --router
  wirerate trial --arm current --arm set:vm.dirty_background_bytes=67108864 \
    --workload disk --dir /srv --metric write_bytes_per_s
  wirerate trial --arm current --arm firewall:off \
    ssh://root@a --peer ssh://root@b --via ssh://root@fw
  wirerate trial --arm current --arm cc:bbr ssh://root@web1 --for 8h \
    --metric-from 'lower:prometheus:http://prom:9090?query=avg(latency_p95)'
  wirerate trial --resume last`,
		Args: cobra.MaximumNArgs(2),
	}
	format := formatFlag(cmd, "text", "json")
	f.addArms(cmd, "an `ARM`; the first one is the reference")
	cmd.Flags().BoolVar(&aa, "aa", false, "compare the first arm with itself: an A/A control")
	cmd.Flags().StringVar(&f.from, "metric-from", "",
		"judge production by this `METRIC` of it, without a load: "+live.Forms)
	cmd.Flags().StringVar(&f.Suite, "suite", "",
		"run a named `suite` instead of one workload: host, or router (through --router or --via)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.resume != "" {
			return f.resumes(cmd, env, *format)
		}
		if aa {
			if err := f.control(); err != nil {
				return usage(err)
			}
		}
		if err := f.checkArms(args, 2); err != nil {
			return usage(err)
		}
		if f.Suite != "" {
			return suiteVerb(cmd.Context(), env, f, *format)
		}
		return trialVerb(cmd.Context(), env, f, *format)
	}
	return cmd
}

// control makes the arms of an A/A control.
func (f *experimentFlags) control() error {
	if len(f.arms) == 0 {
		f.arms = []string{"current"}
	}
	if len(f.arms) == 1 {
		f.arms = append(f.arms, f.arms[0])
	}
	if slices.ContainsFunc(f.arms, func(a string) bool { return a != f.arms[0] }) {
		return errors.New("--aa compares one arm with itself: give a single --arm")
	}
	return nil
}

const switchbackHelp = `With --metric-from the hosts stay in production: the arms alternate over time
in randomised blocks (a switchback), the first --omit of each run is left out
while the other arm washes out, and a metric over the --run decides. The journal
and its timer are the same: when this program is gone, the host goes back to
what it had within --for and ten minutes.

`

// live makes the trial one of production: HOST, and a peer if one is named, switch
// between the arms, and the metric is read over each run.
func (f *experimentFlags) live() error {
	for _, flag := range []string{"workload", "metric", "suite", "lab", "router", "via", "tool", "streams",
		"direction", "address", "port", "dir", "size"} {
		if f.given(flag) {
			return fmt.Errorf("--%s: with --metric-from there is no load to choose or place", flag)
		}
	}
	m, err := live.Parse(f.from)
	if err != nil {
		return fmt.Errorf("--metric-from %w", err)
	}
	f.Spec.Workload, f.Spec.From, f.Metric, f.Live = workload.Live, f.from, m.Name(), m.Measure
	return nil
}

// checkArms finds what is wrong with the flags before anything is started.
func (f *experimentFlags) checkArms(args []string, least int) error {
	if err := f.hostAndPeer(args); err != nil {
		return err
	}
	if f.from != "" {
		if err := f.live(); err != nil {
			return err
		}
	}
	if len(f.arms) < least || len(f.arms) > 12 {
		return fmt.Errorf("%d arms: %d to 12 are possible, each with --arm: %s", len(f.arms), least, experiment.ArmForms)
	}
	f.Arms = nil
	for _, text := range f.arms {
		arm, err := experiment.ParseArm(text)
		if err != nil {
			return err
		}
		f.Arms = append(f.Arms, arm)
	}
	if f.Suite != "" {
		if _, err := workload.Suite(f.Suite); err != nil {
			return err
		}
		if f.Suite == workload.SuiteRouter && !f.Routed() {
			return errors.New("--suite router is for a host between two others: --via HOST, or --lab LINK --router")
		}
	}
	if err := f.where(); err != nil {
		return err
	}
	if kind, err := workload.FindKind(f.Spec.Workload); err == nil && f.Metric != "" {
		if _, ok := kind.Metric(f.Metric); !ok {
			known := namesOf(kind.Metrics, func(m workload.Metric) string { return m.Name })
			return fmt.Errorf("--metric %q: %s measures %s", f.Metric, kind.Name, strings.Join(known, ", "))
		}
	}
	if i := slices.IndexFunc(f.Arms, experiment.Arm.ForEnds); i >= 0 && !f.Routed() {
		return fmt.Errorf("arm %q: ends: is for trials with a router (--via HOST, or --lab LINK --router): without one an "+
			"arm sets the ends anyway", f.Arms[i].Name)
	}
	if slices.ContainsFunc(f.Arms, experiment.Arm.Planned) {
		if err := checkRole(f.Role); err != nil {
			return err
		}
		if f.Lab == "" && f.path == "" {
			return errors.New("the arm plan needs --path: declare it (rate=1gbit,rtt=80ms) or let it be measured (auto)")
		}
	}
	return f.checkDesign(200)
}

func trialVerb(ctx context.Context, env *Env, f experimentFlags, format string) error {
	o, err := run(ctx, env, &f, experiment.Compare)
	if err != nil {
		return err
	}
	r := o.Result
	if f.out.dir != "" {
		files, err := trialFiles(r)
		if err != nil {
			return failure(err)
		}
		if err := f.out.write(files...); err != nil {
			return err
		}
		env.note("written: %s and result.json", filepath.Join(f.out.dir, "report.html"))
	}
	if err := env.show(r, format, func() { report.Text(env.Stdout, r) }); err != nil {
		return err
	}
	return judged(r.Verdict)
}

func suiteVerb(ctx context.Context, env *Env, f experimentFlags, format string) error {
	rows, err := run(ctx, env, &f, experiment.CompareSuite)
	if err != nil {
		return err
	}
	if f.out.dir != "" {
		if err := f.writeSuite(rows); err != nil {
			return failure(err)
		}
		env.note("written: %s, suite.html, suite.txt and a report.html for each row", filepath.Join(f.out.dir, "suite.json"))
	}
	if format != "json" {
		report.Suite(env.screen(), rows, f.again())
	} else if err := env.printJSON(f.suiteJSON(rows)); err != nil {
		return err
	}
	if slices.ContainsFunc(rows,
		func(r experiment.Row) bool { return r.Result != nil && r.Result.Verdict == stats.Hurts }) {
		return negative()
	}
	return nil
}

// again is the command that makes the experiment again.
func (f *experimentFlags) again() string { return fmt.Sprintf("%s --seed %d", f.Command, f.Seed) }

func (f *experimentFlags) suiteJSON(rows []experiment.Row) suiteResult {
	return suiteResult{2, f.Suite, f.Seed, f.Command, rows}
}

// writeSuite writes the table, and each row's own result and report in a
// folder of its name.
func (f *experimentFlags) writeSuite(rows []experiment.Row) error {
	data, err := indentedJSON(f.suiteJSON(rows))
	if err != nil {
		return err
	}
	var table bytes.Buffer
	report.Suite(report.Screen{Writer: &table}, rows, f.again())
	var page bytes.Buffer
	if err := report.SuiteHTML(&page, f.Suite, rows, f.again()); err != nil {
		return err
	}
	files := []outdir.File{{Name: "suite.json", Data: data}, {Name: "suite.txt", Data: table.Bytes()},
		{Name: "suite.html", Data: page.Bytes()}}
	for _, row := range rows {
		if row.Result == nil {
			continue
		}
		own, err := trialFiles(*row.Result)
		if err != nil {
			return err
		}
		for _, file := range own {
			file.Name = report.SuiteFolder(row) + "/" + file.Name
			files = append(files, file)
		}
	}
	return f.out.write(files...)
}
