package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/transcript"
	"github.com/wirerate/wirerate/internal/units"
)

type inspectOptions struct {
	from, peer, path, role, window, failOn string
}

func newInspectCmd(env *Env) *cobra.Command {
	var opt inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect [HOST]",
		Short: "Say what limits a host on its path, and what is wrong with it",
		Long: `Read what a host shows of its network (settings, interfaces, counters, sockets),
compute the ceiling that each resource sets, and judge it by rules. Every
finding quotes the lines that prove it; one sentence says where to look first,
or that no setting will help. Nothing is changed.

HOST is local (the default), ns:NAME, ssh://[user@]name or a capture. --from
also takes an unpacked sosreport, a folder of outputs in files named after their
commands, such as netstat_-m.txt, or a file with a session as somebody pasted
it: with prompts or without, outputs cut by grep, lines of a log.`,
		Example: `  wirerate inspect
  wirerate inspect ssh://root@web1 --path rate=1gbit,rtt=80ms --role web
  wirerate inspect --for 5s --json
  wirerate inspect --from web1.tar.gz
  wirerate inspect --from post.txt --format html >post.html`,
		Args: cobra.MaximumNArgs(1),
	}
	format := formatFlag(cmd, "text", "json", "svg", "html")
	f := cmd.Flags()
	f.StringVar(&opt.from, "from", "",
		"`capture`, sosreport, folder of outputs or pasted session to read instead of a host")
	f.StringVar(&opt.peer, "peer", "", "`host` or capture at the other end, for its ceilings")
	f.StringVar(&opt.path, "path", "", "the `path`: rate=1gbit,rtt=80ms[,loss=1e-5][,mtu=1500]")
	f.StringVar(&opt.role, "role", "", "`role` of the host: "+strings.Join(catalog.Roles(), ", "))
	f.StringVar(&opt.window, "for", "", "observe the counters for this `time`, such as 5s: totals become rates")
	f.StringVar(&opt.failOn, "fail-on", "", "exit with 1 at findings of this `severity` or above: error, warning, info")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		how, err := format()
		if err != nil {
			return err
		}
		name := opt.from
		if len(args) == 1 {
			if name != "" {
				return usagef("give HOST or --from, not both")
			}
			name = args[0]
		}
		return inspect(cmd.Context(), env, opt, name, how)
	}
	return cmd
}

func inspect(ctx context.Context, env *Env, opt inspectOptions, name, how string) error {
	path, window, err := opt.check()
	if err != nil {
		return usage(err)
	}
	if isPackets(name) {
		return inspectPackets(env, name, how)
	}
	f, err := collect(ctx, env, name, window)
	if err != nil {
		return err
	}
	var peer *facts.Facts
	if opt.peer != "" {
		if peer, err = collect(ctx, env, opt.peer, 0); err != nil {
			return err
		}
	}
	d := diagnose.Diagnose(f, peer, path, opt.role)
	d.Recorded = recorded(name)
	in := report.Inspection{Hosts: []*facts.Facts{f}, Path: opt.path, Verdict: d.Verdict, Ceilings: d.Ceilings,
		Findings: d.Findings, Missing: d.NotEvaluated}
	if peer != nil {
		in.Hosts = append(in.Hosts, peer)
	}
	switch how {
	case "json":
		err = env.printJSON(d)
	case "svg":
		err = report.InspectSVG(env.Stdout, in, d.Measured)
	case "html":
		err = report.InspectHTML(env.Stdout, in)
	default:
		err = d.Text(env.Stdout)
	}
	if err != nil {
		return failure(err)
	}
	if opt.failOn != "" && slices.ContainsFunc(d.Findings,
		func(f diagnose.Finding) bool { return f.Severity.AtLeast(diagnose.Severity(opt.failOn)) }) {
		return negative()
	}
	return nil
}

// maxWindow bounds the observation.
const maxWindow = 10 * time.Minute

func (opt inspectOptions) check() (path netpath.Path, window time.Duration, err error) {
	if opt.path != "" {
		if path, err = parsePath(opt.path, "inspect"); err != nil {
			return path, 0, err
		}
	}
	if opt.role != "" && !slices.Contains(catalog.Roles(), opt.role) {
		return path, 0, fmt.Errorf("role %q: one of %s is expected", opt.role, strings.Join(catalog.Roles(), ", "))
	}
	if opt.failOn != "" && !slices.Contains([]string{"error", "warning", "info"}, opt.failOn) {
		return path, 0, fmt.Errorf("severity %q: error, warning or info is expected", opt.failOn)
	}
	window, err = parseWindow(opt.window)
	return path, window, err
}

func parseWindow(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	window, err := units.ParseDuration(s)
	if err != nil {
		return 0, err
	}
	if window < 100*time.Millisecond || window > maxWindow {
		return 0, fmt.Errorf("--for %s: between 100ms and %s is expected", s, units.Duration(maxWindow))
	}
	return window, nil
}

// collect reads the facts of a host, a capture, or a folder of outputs.
func collect(ctx context.Context, env *Env, name string, window time.Duration) (*facts.Facts, error) {
	if recorded(name) {
		info, err := os.Stat(name)
		if _, noManifest := os.Stat(filepath.Join(name, "manifest.json")); err == nil && info.IsDir() && noManifest != nil {
			return collectPosted(name, nil)
		}
		c, err := host.LoadCapture(name)
		if err != nil {
			return collectPosted(name, err)
		}
		if window == 0 {
			window = facts.RecordedWindow(c)
		}
		f, err := facts.Collect(ctx, host.NewReplay(c), facts.Options{Window: window, Thorough: true})
		return f, usage(err)
	}
	c, err := env.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	f, err := facts.Collect(ctx, c, facts.Options{Window: window})
	switch {
	case errors.Is(err, host.ErrUnreachable), errors.Is(err, facts.ErrSystem), errors.Is(err, facts.ErrNoIdentity):
		return nil, missing(err)
	case err != nil:
		return nil, failure(err)
	}
	return f, nil
}

// recorded reports whether a HOST is a file or folder.
func recorded(name string) bool {
	_, err := os.Stat(name)
	return err == nil && name != "" && name != "local"
}

// collectPosted reads what somebody saved or posted; noCapture says why it is no
// capture.
func collectPosted(name string, noCapture error) (*facts.Facts, error) {
	posted, err := transcript.Load(name)
	switch hidden := strings.HasSuffix(name, "gz"); {
	case noCapture != nil && (errors.Is(err, transcript.ErrNotText) || errors.Is(err, transcript.ErrNoOutputs) && hidden):
		return nil, usage(noCapture)
	case err != nil:
		return nil, usage(fmt.Errorf("%s: %w", name, err))
	}
	f, err := posted.Facts(name)
	return f, usage(err)
}
