package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// experimentFlags are what measure, trial, attribute and tune share: what an
// experiment is to be, and the flags whose words it is read from.
type experimentFlags struct {
	experiment.Config
	path, size, diskFrom string
	from                 string // of a metric of production
	out                  outputFolder
	arms                 []string
	resume               string
	verb                 string
	given                func(flag string) bool
}

// add declares the flags that all of them have.
func (f *experimentFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.verb, f.given = cmd.Name(), flags.Changed
	flags.StringVar(&f.Address, "address", "",
		"`address` at which HOST reaches the peer (default: the peer's name, or its first address)")
	flags.StringVar(&f.Lab, "lab", "", "emulated path between two namespaces: `LINK`, such as rate=1gbit,rtt=50ms")
	flags.DurationVar(&f.Spec.Duration, "run", 0, "counted time of one run (default: the workload's, or "+
		"from the round-trip time)")
	flags.DurationVar(&f.Spec.Omit, "omit", 0, "time at the start of a run that is not counted (default: the workload's)")
	flags.IntVar(&f.Spec.Streams, "streams", 0, "parallel connections or flows (default: the workload's)")
	flags.StringVar((*string)(&f.Spec.Direction), "direction", "", "`direction` of the data: up, down or both, seen "+
		"from HOST (default: the workload's)")
	flags.StringVar(&f.Spec.Tool, "tool", "",
		"measuring `tool` (default: the first of the workload's that both hosts have)")
	flags.IntVar(&f.Spec.Port, "port", 5201, "port of the measuring server; some tools also use the next one")
	flags.StringVar(&f.History, "history", "", historyUsage)
	flags.BoolVar(&f.Verbose, "verbose", false, "list every omitted setting, even if many share one reason")
	flags.BoolVar(&f.NoHistory, "no-history", false, "do not record the experiment in the history")
}

// addPlanned declares what plans are told beside the path and the role.
func (f *experimentFlags) addPlanned(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.diskFrom, "disk-from", "", "for the arm plan, take the hosts' disks' figures from `FILE`, "+
		"the output of wirerate measure disk --json")
}

// addDisk declares what the workload disk is told.
func (f *experimentFlags) addDisk(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Spec.Dir, "dir", "",
		"for disk: `folder` on the file system to measure, on HOST (default "+workload.DiskDir+")")
	cmd.Flags().StringVar(&f.size, "size", "",
		"for disk: `size` of its file (default: 512MiB, at most a quarter of the free space)")
}

// addRouter declares the flags that name a host between the two ends.
func (f *experimentFlags) addRouter(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Via, "via", "",
		"router or firewall between the two: the `HOST` that the arms then set, instead of the ends")
	cmd.Flags().BoolVar(&f.Router, "router", false, "with --lab: put a router between the two, which the arms "+
		"then set instead of the ends")
}

// addResume declares what goes on with an interrupted experiment.
func (f *experimentFlags) addResume(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.resume, "resume", "", "continue the interrupted experiment with this `ID`, or the last one")
	flags.StringVar(&f.Resumed, "resumed", "", "")
	// What --resume adds to the recorded command line.
	_ = flags.MarkHidden("resumed")
}

// addArms declares the flags that trial and attribute share; arm says what their
// arms are.
func (f *experimentFlags) addArms(cmd *cobra.Command, arm string) {
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.arms, "arm", nil, arm)
	f.addDisk(cmd)
	f.addPlanned(cmd)
	f.addRouter(cmd)
	flags.StringVar(&f.Spec.Workload, "workload", "bulk", "`workload` to run: "+strings.Join(kindsOfWorkload(), ", "))
	flags.StringVar(&f.Peer, "peer", "", peerUsage)
	flags.StringVar(&f.path, "path", "", "`PATH` between the hosts, for the arm plan: rate=,rtt=[,loss=][,mtu=], a "+
		"profile of wirerate lab profiles, or auto")
	roleVar(flags, &f.Role, "bulk", "`role` of the hosts, for the arm plan")
	flags.IntVar(&f.Pairs, "pairs", 0, "maximum number of pairs of runs, 2 to 200 (default: what --for allows, up to 40)")
	flags.StringVar(&f.Metric, "metric", "", "`METRIC` of the workload that decides (default: the first)")
	f.out.declare(cmd, "result.json, report.html and the files")
	f.addDesign(cmd)
	f.addResume(cmd)
}

const peerUsage = "the `HOST` at the other end, also the second word"

// addDesign declares how pairs of runs are laid out.
func (f *experimentFlags) addDesign(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.Budget, "for", 10*time.Minute, "time for all runs together")
	f.Margin = 0.02
	flags.Var((*share)(&f.Margin), "margin", "smallest relative change that is worthwhile, a `share` such as 5% or 0.05")
	flags.Uint64Var(&f.Seed, "seed", 0, "seed of the order of runs (default: random)")
}

// where reads which hosts are meant, and what a run is.
func (f *experimentFlags) where() (err error) {
	if f.size != "" {
		size, err := units.ParseBytes(f.size)
		if err != nil {
			return fmt.Errorf("--size: %w", err)
		}
		f.Spec.Size = int64(size)
	}
	if f.diskFrom != "" {
		if f.Disk, err = readDisk(f.diskFrom); err != nil {
			return err
		}
	}
	f.KeepOmit = f.given("omit")
	if err := f.whereRouter(); err != nil {
		return err
	}
	if f.MeasurePath = f.path == "auto"; f.path != "" && !f.MeasurePath {
		if f.Path, err = parsePath(f.path); err != nil {
			return err
		}
	}
	if f.Alone() {
		return f.whereAlone()
	}
	if (f.Lab == "") == (f.Peer == "") {
		return errors.New("give either --lab LINK, or HOST and --peer HOST")
	}
	if f.Lab != "" && (f.Host != "" || f.path != "" || f.Address != "") {
		return errors.New("--lab brings its own hosts and path: HOST, --path and --address do not go with it")
	}
	if f.Lab != "" {
		if f.Link, err = link.Parse(f.Lab); err != nil {
			return err
		}
	}
	if f.given("streams") && f.Spec.Streams == 0 {
		return errors.New("streams 0: 1 to 128 are possible")
	}
	_, err = f.Spec.WithDefaults(0)
	return err
}

// whereRouter checks what goes with a router.
func (f *experimentFlags) whereRouter() error {
	switch {
	case !f.Routed():
		return nil
	case f.Alone():
		return fmt.Errorf("%s runs on one HOST: no router is in its way", f.Spec.Workload)
	case f.Via != "" && f.Lab != "":
		return errors.New("--lab brings its own hosts: --router puts a router among them, --via does not go with it")
	case f.Router && f.Lab == "":
		return errors.New("--router is for --lab; a router that is there is named with --via HOST")
	case f.Via != "" && (f.Via == f.Peer || f.Via == f.Host || f.Host == "" && f.Via == "local"):
		return fmt.Errorf("--via %s is one of the two ends: a router is a third host, which forwards between them", f.Via)
	}
	return nil
}

// whereAlone checks what goes with a workload of one host. A relative folder
// is one of this machine.
func (f *experimentFlags) whereAlone() error {
	name := f.Spec.Workload
	switch {
	case f.Lab != "":
		return fmt.Errorf("%s measures a host's own disk: --lab, whose hosts share this machine's, does not go with it", name)
	case f.Peer != "":
		return fmt.Errorf("%s runs on one HOST: a peer does not go with it", name)
	case f.Address != "" || f.given("port"):
		return fmt.Errorf("%s sends nothing over the network: --address and --port do not go with it", name)
	case f.MeasurePath:
		return fmt.Errorf("--path auto: %s has no peer to which it could be measured; declare it, like "+
			"--path rate=1gbit,rtt=80ms", name)
	case f.given("streams") && f.Spec.Streams == 0:
		return errors.New("streams 0: disk has none to choose")
	}
	if f.Spec.Dir != "" && !path.IsAbs(f.Spec.Dir) && (f.Host == "" || f.Host == "local") {
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		f.Spec.Dir = path.Join(here, f.Spec.Dir)
	}
	_, err := f.Spec.WithDefaults(0)
	return err
}

// checkDesign finds what is wrong with the layout before anything is started.
func (f *experimentFlags) checkDesign(maxPairs int) error {
	switch {
	case f.Pairs != 0 && (f.Pairs < 2 || f.Pairs > maxPairs):
		return fmt.Errorf("--pairs %d: 2 to %d are possible", f.Pairs, maxPairs)
	case f.Budget < 10*time.Second:
		return fmt.Errorf("--for %s: at least 10s are needed", f.Budget)
	}
	if f.Seed == 0 {
		f.Seed = rand.Uint64N(1<<32) + 1
	}
	return f.out.check(f.outputs()...)
}

// roleVar is a flag for a role, in letters of any case.
func roleVar(flags *pflag.FlagSet, to *string, value, usage string) {
	*to = value
	flags.Func("role", usage, func(role string) error { *to = strings.ToLower(role); return nil })
	flags.Lookup("role").DefValue = value
}

func checkRole(role string) error {
	roles := strings.Join(catalog.Roles(), ", ")
	if role == "" {
		return errors.New("--role is missing: one of " + roles)
	}
	if !slices.Contains(catalog.Roles(), role) {
		return fmt.Errorf("role %q: one of %s is expected", role, roles)
	}
	return nil
}

// readDisk reads the figures of a disk from the JSON of measure.
func readDisk(file string) (*experiment.DiskFigures, error) {
	data, err := input.File(file, jsonLimit)
	if err != nil {
		return nil, fmt.Errorf("--disk-from: %w", err)
	}
	figures, err := experiment.ReadDisk(data)
	if err != nil {
		return nil, fmt.Errorf("--disk-from %s: %w", file, err)
	}
	return figures, nil
}

// run carries an experiment out, with messages and progress on standard error.
func run[T any](ctx context.Context, env *Env, f *experimentFlags,
	do func(context.Context, experiment.Config) (T, error)) (T, error) {
	sink := &sink{env: env}
	f.Open, f.Sink, f.Args, f.Command = env.open, sink, env.args, "wirerate "+shell.Join(env.args...)
	f.Out = f.out.dir
	f.CommandFor = func(host string) change.Command { return env.commandFor(host, "") }
	found, err := do(ctx, f.Config)
	sink.clear()
	var ended *lab.Ended
	if errors.As(err, &ended) {
		return found, &exitError{ended.Status, nil}
	}
	var cut *experiment.Interrupted
	switch {
	case !errors.As(err, &cut):
	case cut.Pairs > 0 && f.verb == "trial":
		env.note("%d pairs are kept: wirerate report %s shows what they say; go on with: wirerate trial --resume %s",
			cut.Pairs, cut.ID, cut.ID)
	default:
		env.note("%d runs are kept; go on with: wirerate %s --resume %s", cut.Runs, f.verb, cut.ID)
	}
	return found, err
}

// resumes runs the recorded command line of an unfinished experiment again,
// whose runs are then answered from the history.
func (f *experimentFlags) resumes(cmd *cobra.Command, env *Env, format string) error {
	root, flags := newRootCmd(env), cmd.Flags()
	u, err := f.FindUnfinished(cmd.Context(), f.resume, cmd.Name(),
		func(args []string) string { return verbOf(root, args) })
	if err != nil {
		return err
	}
	env.note("going on with %s after %d runs", u.ID, u.Runs)
	args := append(slices.Clone(u.Args), fmt.Sprintf("--seed=%d", u.Seed), "--resumed="+u.First)
	if flags.Changed("for") {
		args = append(args, "--for="+flags.Lookup("for").Value.String())
	}
	if u.Pairs > 0 {
		args = append(args, fmt.Sprintf("--pairs=%d", u.Pairs), "--run="+u.Run.String(), "--omit="+u.Omit.String())
	}
	if f.History != "" {
		args = append(args, "--history="+f.History)
	}
	if flags.Changed("json") || flags.Changed("format") {
		args = append(args, "--json=false", "--format="+format)
	}
	if ssh := cmd.Flag("ssh-config"); ssh != nil && ssh.Changed {
		args = append(args, "--ssh-config="+ssh.Value.String())
	}
	env.args = u.Args
	root.SetArgs(args)
	return root.ExecuteContext(cmd.Context())
}

// verbOf is the verb of a command line, which may begin with flags.
func verbOf(root *cobra.Command, args []string) string {
	cmd, _, err := root.Find(args)
	if err != nil {
		return ""
	}
	return cmd.Name()
}

// show prints what an experiment found.
func (e *Env) show(r experiment.Result, format string, text func()) error {
	if r.ID != "" {
		e.note("kept in the history as %s", r.ID)
	}
	if format == "json" {
		return e.printJSON(r)
	}
	text()
	return nil
}

// judged ends a verb by its verdict.
func judged(v stats.Verdict) error {
	if v == stats.Hurts {
		return negative()
	}
	return nil
}

// outputs are the files that the experiment writes whatever comes of it.
func (f *experimentFlags) outputs() []string {
	switch {
	case f.Suite != "":
		return []string{"suite.json", "suite.txt"}
	case f.verb == "attribute":
		return []string{"report.html", "result.json", "shares.json"}
	case f.verb == "trial":
		return []string{"report.html", "result.json"}
	}
	return []string{"report.html", "result.json", "plan.json", "result.svg"}
}

// trialFiles are a result as JSON and as a page.
func trialFiles(r experiment.Result) ([]outdir.File, error) {
	data, err := indentedJSON(r)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := report.HTML(&page, r); err != nil {
		return nil, err
	}
	return []outdir.File{{Name: "result.json", Data: data}, {Name: "report.html", Data: page.Bytes()}}, nil
}
