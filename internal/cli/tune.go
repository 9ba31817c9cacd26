package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/report"
)

func newTuneCmd(env *Env) *cobra.Command {
	var opt experimentFlags
	cmd := &cobra.Command{
		Use:   "tune [HOST PEER --path PATH | --lab LINK] --role ROLE",
		Short: "Inspect, plan, prove which settings help, and save them",
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
			if len(args) > 2 {
				return usagef("at most HOST and PEER are expected, %d given; see --help", len(args))
			}
			return nil
		},
	}
	format := formatFlag(cmd, "text", "json")
	opt.add(cmd)
	opt.addResume(cmd)
	opt.addPlanned(cmd)
	opt.addDesign(cmd)
	f := cmd.Flags()
	f.StringVar(&opt.Peer, "peer", "", peerUsage)
	f.StringVar(&opt.path, "path", "", "`PATH` between the hosts: rate=,rtt=[,loss=][,mtu=], a profile of wirerate lab "+
		"profiles, or auto to measure it")
	roleVar(f, &opt.Role, "", "`role` of the hosts: "+strings.Join(catalog.Roles(), ", "))
	opt.out.declare(cmd, "the drop-in files, plan.json, result.json and report.html")
	f.IntVar(&opt.Pairs, "pairs", 10, "maximum number of pairs of runs, 2 to 100")
	f.BoolVar(&opt.NoShares, "no-shares", false, "do not measure each setting's share")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if opt.resume != "" {
			return opt.resumes(cmd, env, *format)
		}
		if err := opt.hostAndPeer(args); err != nil {
			return usage(err)
		}
		if err := opt.checkTune(); err != nil {
			return usage(err)
		}
		return tuneVerb(cmd.Context(), env, opt, *format)
	}
	return cmd
}

// checkTune finds what is wrong with the flags before anything is started.
func (f *experimentFlags) checkTune() error {
	f.Spec.Workload = "bulk"
	if err := f.where(); err != nil {
		return err
	}
	if f.Lab != "" {
		if _, err := experiment.PathOf(f.Link); err != nil {
			return err
		}
	}
	if f.Peer != "" && f.path == "" {
		return errors.New("--path is missing: declare it (rate=1gbit,rtt=80ms) or let it be measured (auto)")
	}
	if f.Peer != "" && (f.Peer == f.Host || f.Host == "" && f.Peer == "local") {
		return fmt.Errorf("--peer %s is HOST itself: a path has two ends; --lab LINK makes both on this machine", f.Peer)
	}
	if err := checkRole(f.Role); err != nil {
		return err
	}
	if f.Pairs == 0 {
		return errors.New("--pairs 0: 2 to 100 are possible")
	}
	return f.checkDesign(100)
}

// tuneVerb runs everything and leaves the hosts as they were found.
func tuneVerb(ctx context.Context, env *Env, f experimentFlags, format string) error {
	o, err := run(ctx, env, &f, experiment.Tune)
	if err != nil {
		return err
	}
	r := o.Result
	if f.out.dir != "" {
		if err := writeResult(f.out, r, o.Sides); err != nil {
			return failure(err)
		}
		env.note("written: %s", strings.Join([]string{filepath.Join(f.out.dir, "report.html"), "result.json", "plan.json",
			"drop-in files"}, ", "))
	}
	if err := env.show(r, format, func() { report.Text(env.Stdout, r) }); err != nil {
		return err
	}
	return judged(r.Verdict)
}
