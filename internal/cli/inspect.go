package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/transcript"
	"github.com/wirerate/wirerate/internal/units"
)

type inspectOptions struct {
	from                             []string
	peer, path, role, window, failOn string
	capture                          string
	all                              bool
}

func newInspectCmd(env *Env) *cobra.Command {
	var opt inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect [HOST...] [FILTER]",
		Args:  cobra.ArbitraryArgs,
		Short: "Show what limits a host on its path, and any problems",
		Long: `Read a host's network state (settings, interfaces, counters, sockets),
compute the ceiling that each resource sets, and apply the rules. The first
line says what the limit is, where, and how certain that is; then come the lines
that prove it and what to do. Nothing is changed.

HOST is local (the default), ns:NAME, ssh://[user@]name[:port] or a capture; see
wirerate help hosts, also for sudo and doas. --from also takes an unpacked
sosreport, a folder of outputs in files named after their commands, such as
netstat_-m.txt, or a file with a session as somebody pasted it: with prompts or
without, outputs cut by grep, lines of a log; lines of configuration files among
them are judged as lint does. A post without any output is answered where its
sentences decide, and refused where they do not. Several hosts or captures give
one table, and then each. With --peer the two ends are compared as well.

A packet capture (pcap or pcapng, also in gzip, zstd or bzip2) of either end or
between tells which limit bound each of its connections, when, and what would
help: docs/packets.md says how. With --peer, a capture of the other end, losses
are located, delays are told one way, and what a box between changed.`,
		Example: `  wirerate inspect
  wirerate inspect ssh://root@web1 --path rate=1gbit,rtt=80ms --role web
  wirerate inspect --for 5s --json
  wirerate inspect --from web1.tar.gz
  wirerate inspect --from - <post.txt
  wirerate inspect --from slow.pcapng
  wirerate inspect --from here.pcap --peer there.pcap
  wirerate inspect ssh://web1 --capture eth0 --for 10s tcp port 443
  wirerate inspect ssh://web1 ssh://web2
  wirerate inspect ssh://web1 --peer ssh://backup --for 5s
  wirerate inspect --from post.txt --format html >post.html`,
	}
	format := formatFlag(cmd, "text", "json", "svg", "html")
	f := cmd.Flags()
	f.StringArrayVar(&opt.from, "from", nil,
		"`capture`, sosreport, folder of outputs, pasted session (- is standard input) or packet capture to read instead of a host")
	f.StringVar(&opt.peer, "peer", "", "`host` or capture at the other end: its ceilings, its problems, and mismatches; for a packet "+
		"capture, the other end's")
	f.StringVar(&opt.capture, "capture", "", "capture packets on this `interface` with the host's tcpdump, for 10s or "+
		"--for; further words are its filter")
	f.StringVar(&opt.path, "path", "", "the `path`: rate=1gbit,rtt=80ms[,loss=1e-5][,mtu=1500]")
	roleVar(f, &opt.role, "", "`role` of the host: "+strings.Join(catalog.Roles(), ", "))
	f.StringVar(&opt.window, "for", "", "observe the counters for this `time`, such as 5s: totals become rates")
	f.StringVar(&opt.failOn, "fail-on", "",
		"exit with status 1 if there are problems of this `severity` or above: error, warning, info")
	f.BoolVar(&opt.all, "all", false, "show why ceilings are not known and which rules were not evaluated")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("capture") {
			return inspectLive(cmd.Context(), env, opt, args, *format)
		}
		names, err := opt.names(args)
		if err != nil {
			return err
		}
		return inspect(cmd.Context(), env, opt, names, *format)
	}
	return cmd
}

// names are the hosts to inspect. A shell makes several arguments of --from *.tar.gz, of which only the first one
// stands behind the flag.
func (opt inspectOptions) names(args []string) ([]string, error) {
	for _, name := range args {
		if len(opt.from) > 0 && !recorded(name) {
			return nil, usagef("give HOST or --from, not both")
		}
	}
	names := append(slices.Clone(opt.from), args...)
	if len(names) == 0 {
		names = []string{"local"}
	}
	return names, nil
}

func inspect(ctx context.Context, env *Env, opt inspectOptions, names []string, how string) error {
	path, window, err := opt.check()
	if err != nil {
		return usage(err)
	}
	if live := func(name string) bool { return name != "-" && !recorded(name) }; !slices.ContainsFunc(names, live) &&
		(opt.peer == "" || !live(opt.peer)) {
		defer env.stopAtOnce()()
	}
	if opt.peer != "" && isPackets(opt.peer) && !slices.ContainsFunc(names, isPackets) {
		return usagef("--peer %s is a packet capture: one of this end is expected, with --from", opt.peer)
	}
	if slices.ContainsFunc(names, isPackets) {
		if len(names) > 1 {
			return usagef("a packet capture is inspected by itself; give one --from")
		}
		return inspectPackets(env, opt, names[0], how)
	}
	read, peer, err := collectNamed(ctx, env, opt, names, window)
	if err != nil {
		return err
	}
	var all []diagnose.Diagnosis
	for i, h := range read {
		q := diagnose.Question{Facts: h.facts, Peer: peer, Beside: besides(read, i), Path: path, Role: opt.role,
			Recorded: h.from == "-" || recorded(h.from), Written: written(h.facts)}
		q.Proposed, q.ProposedFor = valuesFor(h.facts, path, opt.role)
		d := q.Answer()
		if h.facts.NoOutput != nil && len(d.Findings) == 0 {
			return usage(fmt.Errorf("%s: %w", h.facts.Host, h.facts.NoOutput))
		}
		if h.ofSeveral {
			d.Host = h.facts.Node + " (" + h.from + ")"
		}
		all = append(all, d)
	}
	if len(all) > 1 && how == "svg" {
		return usagef("--format svg shows one host, and here are %d; give one HOST", len(all))
	}
	switch {
	case how == "json" && len(all) > 1:
		err = env.printJSON(inspections{2, all})
	case how == "json":
		err = env.printJSON(all[0])
	case how == "text":
		err = inspectText(env.Stdout, all, opt.all)
	default:
		err = inspectPicture(env.Stdout, all, peer, opt.path, how)
	}
	if err != nil {
		return failure(err)
	}
	for _, d := range all {
		if opt.failOn != "" && slices.ContainsFunc(d.Findings,
			func(f diagnose.Finding) bool { return f.Severity.AtLeast(diagnose.Severity(opt.failOn)) }) {
			return negative()
		}
	}
	return nil
}

// inspected is a host that was read.
type inspected struct {
	facts     *facts.Facts
	from      string
	ofSeveral bool // what it was read from shows other hosts too
}

// collectNamed reads the hosts that are named, and the peer.
func collectNamed(ctx context.Context, env *Env, opt inspectOptions, names []string, window time.Duration) (read []inspected,
	peer *facts.Facts, err error) {
	for _, name := range names {
		var hosts []*facts.Facts
		if opt.peer == "" {
			hosts, err = collectEach(ctx, env, name, window)
		} else {
			hosts = make([]*facts.Facts, 1)
			hosts[0], peer, err = collectEnds(ctx, env, name, opt.peer, window)
		}
		if err != nil {
			return nil, nil, err
		}
		for _, f := range hosts {
			read = append(read, inspected{f, name, len(hosts) > 1})
		}
	}
	return read, peer, nil
}

// besides are the other hosts; of many none, of which every two would be compared.
func besides(read []inspected, of int) (others []*facts.Facts) {
	const many = 32
	for i, h := range read {
		if i != of && len(read) < many {
			others = append(others, h.facts)
		}
	}
	return others
}

// inspections are several hosts in JSON.
type inspections struct {
	Schema int                  `json:"schema"`
	Hosts  []diagnose.Diagnosis `json:"hosts"`
}

// inspectText writes one host, or a table of several and then each.
func inspectText(w io.Writer, all []diagnose.Diagnosis, everything bool) error {
	if len(all) == 1 {
		return all[0].Text(w, everything)
	}
	if err := diagnose.Table(w, all); err != nil {
		return err
	}
	for _, d := range all {
		if _, err := fmt.Fprintf(w, "\n=== %s\n", terminal.Clip(d.Host, terminal.Columns-4)); err != nil {
			return err
		}
		if err := d.Text(w, everything); err != nil {
			return err
		}
	}
	return nil
}

func inspectPicture(w io.Writer, all []diagnose.Diagnosis, peer *facts.Facts, path, how string) error {
	var each []report.Inspection
	for _, d := range all {
		in := report.Inspection{Host: d.Host, Hosts: []*facts.Facts{d.Facts}, Path: path, Verdict: d.Verdict, Ceilings: d.Ceilings,
			Findings: d.Findings, Missing: d.NotEvaluated, Negligible: d.Negligible, Unread: d.Unread}
		if peer != nil {
			in.Hosts = append(in.Hosts, peer)
		}
		each = append(each, in)
	}
	if how == "svg" {
		return report.InspectSVG(w, each[0], all[0].Measured)
	}
	return report.InspectHTML(w, each...)
}

// collectEnds reads a host and its peer, at the same time where both are observed over a window.
func collectEnds(ctx context.Context, env *Env, name, peerName string, window time.Duration) (f, peer *facts.Facts,
	err error) {
	if peerName == "" {
		f, err = collect(ctx, env, name, window)
		return f, nil, err
	}
	var peerErr error
	var wait sync.WaitGroup
	wait.Go(func() { peer, peerErr = collect(ctx, env, peerName, window) })
	f, err = collect(ctx, env, name, window)
	wait.Wait()
	return f, peer, cmp.Or(err, peerErr)
}

// valuesFor are the proposed values; where path or role were not declared they are estimated, and from says of what.
func valuesFor(f *facts.Facts, path netpath.Path, role string) (values map[string]string, from string) {
	if path.Rate > 0 && role != "" {
		return proposed(f, path, role), ""
	}
	guess := diagnose.EstimatePath(f, path, role)
	if guess.From == "" {
		return nil, ""
	}
	if f.Memory == 0 {
		f = &facts.Facts{System: f.System, Release: f.Release, Settings: f.Settings, NICs: f.NICs, Routes: f.Routes,
			Memory: leastMemory, PageSize: f.PageSize, Cores: f.Cores}
		guess.From += fmt.Sprintf(", %s of memory", leastMemory)
	}
	return proposed(f, guess.Path, guess.Role), guess.From
}

// fewSettings are less than any host has.
const fewSettings = 100

// leastMemory is what a machine is taken to have where nothing says it.
const leastMemory = 4 * units.GiB

// proposed are the values that a plan for the path and the role would set, by setting and by setting@interface; nil
// where path or role are not declared, or no plan can be made.
func proposed(f *facts.Facts, path netpath.Path, role string) map[string]string {
	if path.Rate == 0 || role == "" {
		return nil
	}
	c, err := catalog.Load()
	if err != nil {
		return nil
	}
	machine := plan.MachineOf(f)
	machine.Page = cmp.Or(machine.Page, 4096)
	if len(f.Settings) < fewSettings {
		machine.Running = nil // what was not pasted is there all the same
	}
	p, err := plan.Make(c, plan.Request{Path: path, Role: role, Machine: machine})
	if err != nil {
		return nil
	}
	values := map[string]string{}
	for _, change := range p.Changes {
		values[change.Setting] = change.To
	}
	return values
}

// maxWindow bounds the observation.
const maxWindow = 10 * time.Minute

func (opt inspectOptions) check() (path netpath.Path, window time.Duration, err error) {
	if opt.path != "" {
		if path, err = parsePath(opt.path); err != nil {
			return path, 0, err
		}
	}
	if opt.role != "" {
		if err := checkRole(opt.role); err != nil {
			return path, 0, err
		}
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

// collect reads the facts of a host, a capture, a folder of outputs, or the host of which a post shows the most.
func collect(ctx context.Context, env *Env, name string, window time.Duration) (*facts.Facts, error) {
	all, err := collectAll(ctx, env, name, window, func(name string) ([]transcript.Posted, error) {
		one, err := transcript.Load(name)
		return []transcript.Posted{one}, err
	})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// collectEach reads what collect reads, each host of a post, and a post from standard input, "-".
func collectEach(ctx context.Context, env *Env, name string, window time.Duration) ([]*facts.Facts, error) {
	if name == "-" {
		data, err := env.read(name, transcript.SessionLimit)
		if err != nil {
			return nil, usage(err)
		}
		posted, err := transcript.ReadEach(data)
		return postedFacts(facts.StandardInput, posted, err)
	}
	return collectAll(ctx, env, name, window, transcript.LoadEach)
}

// loadPosts reads the hosts of what somebody saved or posted.
type loadPosts func(name string) ([]transcript.Posted, error)

func collectAll(ctx context.Context, env *Env, name string, window time.Duration,
	load loadPosts) ([]*facts.Facts, error) {
	if recorded(name) {
		info, err := os.Stat(name)
		if _, noManifest := os.Stat(filepath.Join(name, "manifest.json")); err == nil && info.IsDir() && noManifest != nil {
			return collectPosted(name, nil, load)
		}
		c, err := host.LoadCapture(name)
		if err != nil {
			return collectPosted(name, err, load)
		}
		if window == 0 {
			window = facts.RecordedWindow(c)
		}
		f, err := facts.Collect(ctx, host.NewReplay(c), facts.Options{Window: window, Thorough: true})
		return []*facts.Facts{f}, usage(err)
	}
	c, err := env.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	f, err := collectLive(ctx, c, window)
	return []*facts.Facts{f}, err
}

// collectLive reads the facts of a host that is connected.
func collectLive(ctx context.Context, c host.Conn, window time.Duration) (*facts.Facts, error) {
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
func collectPosted(name string, noCapture error, load loadPosts) ([]*facts.Facts, error) {
	posted, err := load(name)
	if noCapture != nil && errors.Is(err, transcript.ErrNotText) {
		return nil, usage(noCapture)
	}
	return postedFacts(name, posted, err)
}

// postedFacts are the facts of each host of a post.
func postedFacts(name string, posted []transcript.Posted, err error) (all []*facts.Facts, _ error) {
	if err != nil {
		return nil, usage(fmt.Errorf("%s: %w", name, err))
	}
	for i := range posted {
		f, err := posted[i].Facts(name)
		if err != nil {
			return nil, usage(err)
		}
		all = append(all, f)
	}
	return all, nil
}
