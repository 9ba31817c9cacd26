package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

type tuneOptions struct {
	host, peer, address string
	lab, path, role     string
	out                 string
	budget              time.Duration
	spec                workload.Spec
	pairs               int
	margin              float64
	seed                uint64
	noShares            bool
	command             string
}

func newTuneCmd(env *Env) *cobra.Command {
	var opt tuneOptions
	cmd := &cobra.Command{
		Use:   "tune [HOST --peer HOST --path PATH | --lab LINK] --role ROLE",
		Short: "Inspect, plan, prove by experiment which settings help, and write them down",
		Long: `Tune inspects both ends of a path, states what limits it, plans settings for
both, compares default and plan in randomised pairs of runs, finds each
setting's share of the gain, restores everything, and writes the result.

HOST is local, ns:NAME or ssh://user@name. Data flows from HOST to its peer.
With --lab both ends are namespaces of this machine joined by an emulated path.`,
		Example: `  wirerate tune --lab rate=1gbit,rtt=50ms --role bulk -o out/
  wirerate tune ssh://root@a --peer ssh://root@b --path rate=1gbit,rtt=80ms --role bulk
  wirerate tune local --peer ssh://root@b --path auto --role bulk`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("at most one HOST is expected, %d given; see --help", len(args))
			}
			return nil
		},
	}
	format := formatFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.StringVar(&opt.peer, "peer", "", "the other end: `HOST`")
	f.StringVar(&opt.address, "address", "", "`address` at which HOST reaches the peer (default: the peer's name, or its first address)")
	f.StringVar(&opt.lab, "lab", "", "emulated path between two namespaces: `LINK`, such as rate=1gbit,rtt=50ms")
	f.StringVar(&opt.path, "path", "", "`PATH` between the hosts: rate=,rtt=[,loss=][,mtu=], or auto to measure it")
	f.StringVar(&opt.role, "role", "", "what the hosts are for: "+strings.Join(catalog.Roles(), ", "))
	f.StringVarP(&opt.out, "output", "o", "", "`folder` for the drop-in files, plan.json, result.json and report.html")
	f.DurationVar(&opt.budget, "for", 10*time.Minute, "time for all runs together")
	f.DurationVar(&opt.spec.Duration, "run", 0, "counted time of one run (default: from the round-trip time)")
	f.DurationVar(&opt.spec.Omit, "omit", 0, "time before it that does not count (default: from the round-trip time)")
	f.IntVar(&opt.spec.Streams, "streams", 1, "parallel TCP connections")
	f.StringVar((*string)(&opt.spec.Direction), "direction", "up", "up, down or both, seen from HOST")
	f.StringVar(&opt.spec.Tool, "tool", "", "iperf3 or builtin (default: iperf3 where both hosts have it)")
	f.IntVar(&opt.spec.Port, "port", 5201, "port of the measuring server")
	f.IntVar(&opt.pairs, "pairs", 10, "pairs of runs at most, 2 to 100")
	f.Float64Var(&opt.margin, "margin", 0.02, "smallest relative change that is worthwhile")
	f.Uint64Var(&opt.seed, "seed", 0, "seed of the order of runs (default: random)")
	f.BoolVar(&opt.noShares, "no-shares", false, "do not measure each setting's share")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		form, err := format()
		if err != nil {
			return err
		}
		if len(args) == 1 {
			opt.host = args[0]
		}
		if err := opt.check(); err != nil {
			return usage(err)
		}
		opt.command = "wirerate " + strings.Join(os.Args[1:], " ")
		return tune(cmd.Context(), env, opt, form)
	}
	return cmd
}

// check finds what is wrong with the flags before anything is started.
func (o *tuneOptions) check() error {
	if (o.lab == "") == (o.peer == "") {
		return errors.New("give either --lab LINK, or HOST and --peer HOST")
	}
	if o.lab != "" && (o.host != "" || o.path != "" || o.address != "") {
		return errors.New("--lab brings its own hosts and path: HOST, --path and --address do not go with it")
	}
	if o.peer != "" && o.path == "" {
		return errors.New("--path is missing: declare it (rate=1gbit,rtt=80ms) or let it be measured (auto)")
	}
	if o.path != "" && o.path != "auto" {
		if _, err := facts.ParsePath(o.path); err != nil {
			return err
		}
	}
	if err := checkRole(o.role); err != nil {
		return err
	}
	if o.pairs < 2 || o.pairs > 100 {
		return fmt.Errorf("--pairs %d: 2 to 100 are possible", o.pairs)
	}
	if !(o.margin >= 0 && o.margin < 1) {
		return fmt.Errorf("--margin %g: a fraction from 0 to 1 is expected, like 0.02", o.margin)
	}
	if o.budget < 10*time.Second {
		return fmt.Errorf("--for %s: at least 10s are needed", o.budget)
	}
	spec := o.spec
	if spec.Duration == 0 {
		spec.Duration = time.Second
	}
	if err := spec.Check(); err != nil {
		return err
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1<<32) + 1
	}
	return checkOutput(o.out)
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

// checkOutput makes sure early that the folder can be written.
func checkOutput(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	probe, err := os.CreateTemp(dir, ".probe")
	if err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// tune runs everything and leaves the hosts as they were found.
func tune(ctx context.Context, env *Env, opt tuneOptions, format string) error {
	session, err := openTune(ctx, env, opt)
	if err != nil {
		return err
	}
	defer session.close()
	result, err := session.run(ctx)
	if restored := session.restore(); restored != nil {
		return failure(errors.Join(err, restored))
	}
	if err != nil {
		return err
	}
	if opt.out != "" {
		if err := writeResult(opt.out, result, session); err != nil {
			return failure(err)
		}
		env.note("written: %s", strings.Join([]string{filepath.Join(opt.out, "report.html"), "result.json", "plan.json", "drop-in files"}, ", "))
	}
	if format == "json" {
		err = env.printJSON(result)
	} else {
		report.Text(env.Stdout, result)
	}
	if err == nil && result.Verdict == stats.Hurts {
		return negative()
	}
	return err
}

// labError gives a lab's error its exit status.
func labError(err error) error {
	if errors.Is(err, lab.ErrUnavailable) {
		return missing(err)
	}
	return failure(err)
}
