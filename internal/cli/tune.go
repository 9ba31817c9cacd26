package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
)

// tuneFlags are those of a trial of two arms, the default and the plan.
type tuneFlags struct {
	trialFlags
	noShares bool
}

func newTuneCmd(env *Env) *cobra.Command {
	opt := tuneFlags{trialFlags: trialFlags{stage: "tune"}}
	cmd := &cobra.Command{
		Use:   "tune [HOST --peer HOST --path PATH | --lab LINK] --role ROLE",
		Short: "Inspect, plan, prove which settings help, write them down",
		Long: `Tune inspects both ends of a path, states what limits it, plans settings for
both, compares default and plan in randomised pairs of runs, finds each
setting's share of the gain, restores everything, and writes the result. Every
run is kept in the history, so that --resume goes on after an interruption.

HOST is local, ns:NAME or ssh://user@name. Data flows from HOST to its peer.
With --lab both ends are namespaces of this machine joined by an emulated path.`,
		Example: `  wirerate tune --lab rate=1gbit,rtt=50ms --role bulk -o out/
  wirerate tune ssh://root@a --peer ssh://root@b --role bulk \
    --path rate=1gbit,rtt=80ms
  wirerate tune local --peer ssh://root@b --path auto --role bulk
  wirerate tune --resume last`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("at most one HOST is expected, %d given; see --help", len(args))
			}
			return nil
		},
	}
	format := formatFlag(cmd, "text", "json")
	opt.add(cmd)
	opt.addResume(cmd)
	opt.addPlanned(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.peer, "peer", "", "the `HOST` at the other end")
	f.StringVar(&opt.path, "path", "", "`PATH` between the hosts: rate=,rtt=[,loss=][,mtu=], or auto to measure it")
	f.StringVar(&opt.role, "role", "", "`role` of the hosts: "+strings.Join(catalog.Roles(), ", "))
	opt.out.declare(cmd, "the drop-in files, plan.json, result.json and report.html")
	f.DurationVar(&opt.budget, "for", 10*time.Minute, "time for all runs together")
	f.IntVar(&opt.pairs, "pairs", 10, "pairs of runs at most, 2 to 100")
	f.Float64Var(&opt.margin, "margin", 0.02, "smallest relative change that is worthwhile")
	f.Uint64Var(&opt.seed, "seed", 0, "seed of the order of runs (default: random)")
	f.BoolVar(&opt.noShares, "no-shares", false, "do not measure each setting's share")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		form, err := format()
		if err != nil {
			return err
		}
		if opt.resume != "" {
			return env.resume(cmd, opt.benchFlags, opt.resume, form)
		}
		if len(args) == 1 {
			opt.host = args[0]
		}
		if err := opt.check(); err != nil {
			return usage(err)
		}
		return env.tune(cmd.Context(), opt, form)
	}
	return cmd
}

// check finds what is wrong with the flags before anything is started.
func (f *tuneFlags) check() error {
	f.spec.Workload = "bulk"
	if err := f.where(); err != nil {
		return err
	}
	if f.lab != "" {
		link, err := link.Parse(f.lab)
		if err == nil {
			_, err = pathOf(link)
		}
		if err != nil {
			return err
		}
	}
	if f.peer != "" && f.path == "" {
		return errors.New("--path is missing: declare it (rate=1gbit,rtt=80ms) or let it be measured (auto)")
	}
	if f.peer != "" && (f.peer == f.host || f.host == "" && f.peer == "local") {
		return fmt.Errorf("--peer %s is HOST itself: a path has two ends; --lab LINK makes both on this machine", f.peer)
	}
	if err := checkRole(f.role); err != nil {
		return err
	}
	if f.pairs < 2 || f.pairs > 100 {
		return fmt.Errorf("--pairs %d: 2 to 100 are possible", f.pairs)
	}
	f.specs = []armSpec{{name: "default"}, {name: "plan", parts: []armPart{{kind: "plan"}}}}
	return f.checkDesign()
}

func checkRole(role string) error {
	roles := strings.Join(catalog.Roles(), ", ")
	if role == "" {
		return errors.New("--role is missing: one of " + roles)
	}
	for _, r := range catalog.Roles() {
		if r == role {
			return nil
		}
	}
	return fmt.Errorf("role %q: one of %s is expected", role, roles)
}

// tune runs everything and leaves the hosts as they were found.
func (e *Env) tune(ctx context.Context, f tuneFlags, format string) error {
	s, err := openBench(ctx, e, f.benchFlags)
	if err != nil {
		return err
	}
	defer s.close()
	result, err := s.tune(ctx, f)
	if restored := s.restore(); restored != nil {
		return failure(errors.Join(err, restored))
	}
	if err != nil {
		return err
	}
	if f.out.dir != "" {
		if err := writeResult(f.out, result, s); err != nil {
			return failure(err)
		}
		e.note("written: %s", strings.Join([]string{filepath.Join(f.out.dir, "report.html"), "result.json", "plan.json", "drop-in files"}, ", "))
	}
	if result.ID != "" {
		e.note("kept in the history as %s", result.ID)
	}
	if format == "json" {
		err = e.printJSON(result)
	} else {
		report.Text(e.Stdout, result)
	}
	if err == nil && result.Verdict == stats.Hurts {
		return negative()
	}
	return err
}

// labError gives a lab's error its exit status.
func labError(err error) error {
	var ended *lab.Ended
	if errors.As(err, &ended) {
		return &exitError{ended.Status, nil}
	}
	if errors.Is(err, lab.ErrUnavailable) {
		return missing(err)
	}
	return failure(err)
}
