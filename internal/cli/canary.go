package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/canary"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lock"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/units"
)

const inventoryLimit = 256 * input.MiB

func newCanaryCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "canary",
		Short: "Roll a change out over many hosts, judged on production metrics",
		Long: `Canary assigns hosts to steps at random within blocks, and judges each step on
Prometheus metrics: changed hosts against unchanged ones, each relative to its
own past. Hosts are the units, not samples. The change itself is
carried out by something else, such as the Ansible playbook in contrib/ansible.

  design   says what each step can detect, and writes FILE
  begin    lists the hosts of the next step, to be changed now
  judge    says proceed, promote, stop or undecided
  status   says what to do next

Harm stops the rollout at any step: in the metric, in a guard, on the hosts of
one block, in a quarter of the day, in one half of the window, or hosts that are
missing or were restarted. All looks together stop a change without any effect
in at most --alpha of all canaries. FILE keeps everything, so that an
interrupted rollout can continue.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newCanaryDesignCmd(env), newCanaryBeginCmd(env), newCanaryJudgeCmd(env), newCanaryStatusCmd(env))
	return cmd
}

// canaryOptions are the flags of canary design.
type canaryOptions struct {
	prometheus, metric, label, steps, out string
	weblogs                               string
	boot, before, window, resolution      string
	promote                               string
	guards, blocks                        []string
	margin, guardMargin, alpha, power     share
	seed                                  uint64
}

func newCanaryDesignCmd(env *Env) *cobra.Command {
	opt := canaryOptions{margin: 0.01, guardMargin: 0.05, alpha: 0.05, power: 0.8}
	cmd := &cobra.Command{
		Use:   "design INVENTORY",
		Short: "Assign hosts to steps, and say in advance what each can detect",
		Long: `Design reads the hosts (what ansible-inventory --list prints, or lines of HOST
KEY=VALUE...; - is standard input) and the metric's history, assigns the hosts
to steps at random within blocks, and says which change each step will be able
to see. A query gives one series for each host, told by a label (with or without
a port).`,
		Args: exactArgs(1, "one inventory is"),
		Example: `  ansible-inventory --list | wirerate canary design - --block rack,hardware \
    --prometheus http://prometheus:9090 -o canary.json \
    --metric 'higher:rate(node_netstat_Tcp_OutSegs[5m])' \
    --guard 'lower:rate(node_netstat_Tcp_RetransSegs[5m])'`,
	}
	format := formatFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.StringVar(&opt.prometheus, "prometheus", "", "`address` of Prometheus, such as http://prometheus:9090")
	f.StringVar(&opt.weblogs, "weblogs", "", "`folder` of HOST/TIME.wrl (weblog --save) instead of Prometheus; a query "+
		"is then a percentile, such as p95")
	f.StringVar(&opt.metric, "metric", "",
		"lower:`QUERY` or higher:QUERY, that decides: the direction that is better, and PromQL")
	f.StringArrayVar(&opt.guards, "guard", nil, "lower:`QUERY` or higher:QUERY that must not get worse")
	f.StringVar(&opt.boot, "boot", "",
		"`query` of the time in seconds at which a host was started, such as node_boot_time_seconds")
	f.StringVar(&opt.label, "label", "instance", "`label` that names the host")
	f.StringSliceVar(&opt.blocks, "block", nil, "inventory `keys` that define the blocks, such as rack,role,hardware")
	f.StringVar(&opt.steps, "steps", "1,1%,10%,50%,100%", "`hosts` changed by the end of each step")
	f.StringVar(&opt.before, "before", "7d", "`time` before the change with which hosts are compared")
	f.StringVar(&opt.window, "window", "24h", "`time` for which each step is observed")
	f.StringVar(&opt.resolution, "resolution", "5m", "`time` between samples")
	f.Var(&opt.margin, "margin", "smallest `change` that is worthwhile")
	f.Var(&opt.guardMargin, "guard-margin", "largest tolerated `worsening` of a guard")
	f.Var(&opt.alpha, "alpha", "probability of a false alarm, over all looks")
	f.Var(&opt.power, "power", "probability that the announced change is detected")
	f.StringVar(&opt.promote, "promote-on", string(canary.OnHelps), "what is promoted: helps, or no-harm (not worse "+
		"by more than the margin)")
	f.Uint64Var(&opt.seed, "seed", 0, "seed of the assignment (default: at random)")
	f.StringVarP(&opt.out, "output", "o", "", "`file` for the canary")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := opt.design(cmd.Context(), env, args[0])
		if err != nil {
			return err
		}
		if *format == "json" {
			return env.printJSON(s)
		}
		report.CanaryDesign(env.screen(), s)
		return nil
	}
	return cmd
}

func (opt *canaryOptions) design(ctx context.Context, env *Env, inventory string) (_ *canary.State, err error) {
	if opt.out == "" || opt.metric == "" || (opt.prometheus == "") == (opt.weblogs == "") {
		return nil, usagef("--metric, --prometheus or --weblogs, and -o FILE are needed; see wirerate canary design --help")
	}
	if opt.weblogs != "" {
		opt.label = canary.SketchLabel
		if opt.weblogs, err = filepath.Abs(opt.weblogs); err != nil {
			return nil, failure(err)
		}
	}
	if opt.weblogs != "" && opt.boot != "" {
		return nil, usagef("--boot is a query of Prometheus: --weblogs has no time of start")
	}
	d, err := opt.parse()
	if err != nil {
		return nil, usage(err)
	}
	if _, err := os.Lstat(opt.out); err == nil {
		return nil, usagef("%s is there already; a canary that has begun must not be lost: name another file, or remove it",
			opt.out)
	}
	src, err := sourceOf(opt.prometheus, opt.weblogs)
	if err != nil {
		return nil, usage(err)
	}
	data, err := env.read(inventory, inventoryLimit)
	if err != nil {
		return nil, usage(err)
	}
	hosts, err := canary.Inventory(data, d.Blocks)
	if err != nil {
		return nil, usage(err)
	}
	s, err := canary.New(ctx, src, d, opt.label, hosts, opt.steps)
	if err != nil {
		return nil, canaryError(err)
	}
	s.Prometheus, s.Weblogs = opt.prometheus, opt.weblogs
	return s, failure(s.Save(opt.out))
}

// sourceOf is where the metrics are: Prometheus, or a folder.
func sourceOf(prometheus, weblogs string) (canary.Source, error) {
	if weblogs != "" {
		return &canary.Sketches{Dir: weblogs}, nil
	}
	return canary.NewPrometheus(prometheus)
}

func (opt *canaryOptions) parse() (d canary.Design, err error) {
	if d.Metric, err = canary.ParseMetric(opt.metric); err != nil {
		return d, err
	}
	d.Guards = []canary.Metric{}
	for _, text := range opt.guards {
		g, err := canary.ParseMetric(text)
		if err != nil {
			return d, err
		}
		d.Guards = append(d.Guards, g)
	}
	for text, to := range map[string]*float64{opt.before: &d.Before, opt.window: &d.Window,
		opt.resolution: &d.Resolution} {
		v, err := canaryTime(text)
		if err != nil {
			return d, err
		}
		*to = v.Seconds()
	}
	d.Boot, d.Blocks, d.Promote = opt.boot, append([]string{}, opt.blocks...), canary.Promise(opt.promote)
	d.Margin, d.GuardMargin, d.Alpha, d.Power = float64(opt.margin), float64(opt.guardMargin), float64(opt.alpha), float64(opt.power)
	if d.Seed = opt.seed; d.Seed == 0 {
		d.Seed = rand.Uint64()>>12 + 1 // exact in JSON's numbers
	}
	return d, nil
}

// canaryTime reads a time, also of days.
func canaryTime(text string) (time.Duration, error) {
	days, found := strings.CutSuffix(text, "d")
	hours, factor := text, time.Duration(1)
	if found {
		hours, factor = days+"h", 24
	}
	v, err := units.ParseDuration(hours)
	if err != nil || v > 366*24*time.Hour/factor {
		return 0, fmt.Errorf("%q: a time such as 7d, 24h or 5m is expected, of at most a year", text)
	}
	return factor * v, nil
}

// canaryError classifies what ends a canary's verb.
func canaryError(err error) error {
	var early *canary.Early
	switch {
	case errors.As(err, &early), errors.Is(err, canary.ErrSource):
		return missing(err)
	case errors.Is(err, context.Canceled):
		return failure(err)
	}
	return usage(err)
}

// withCanary works on a canary's file, which nobody else does meanwhile; what use
// changes is saved, also where it fails.
func withCanary(file string, use func(*canary.State) error) error {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return usagef("%s is not there; wirerate canary design writes it", file)
	}
	held, err := lock.Hold(file + ".lock")
	if errors.Is(err, lock.ErrHeld) {
		return missing(fmt.Errorf("%s: another wirerate canary works on it; try again when it is done", file))
	} else if err != nil {
		return failure(err)
	}
	defer held.Release()
	s, err := canary.Load(file)
	if err != nil {
		return usage(err)
	}
	err = use(s)
	return errors.Join(err, failure(s.Save(file)))
}

// begunStep is the step that begins.
type begunStep struct {
	Schema int       `json:"schema"`
	Step   int       `json:"step"` // from 1
	Steps  int       `json:"steps"`
	Begun  time.Time `json:"begun"`
	Hosts  []string  `json:"hosts"`   // to be changed now
	All    []string  `json:"changed"` // by the end of the step
}

func newCanaryBeginCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "begin FILE",
		Short: "List the hosts that the next step changes",
		Long: `Begin lists the hosts of the next step. Until the step is judged it can be run
again, with the same answer. After a stop it refuses.`,
		Args: exactArgs(1, "the file of a canary is"),
	}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return withCanary(args[0], func(s *canary.State) error {
			step, err := s.Begin(time.Now().UTC())
			if errors.Is(err, canary.ErrOrder) {
				env.note("%v", err)
				return negative()
			}
			b := begunStep{1, step + 1, len(s.Steps), *s.Steps[step].Begun, []string{}, s.ChangedBy(step)}
			for _, h := range s.Hosts {
				if h.Step == step {
					b.Hosts = append(b.Hosts, h.Name)
				}
			}
			if *format == "json" {
				return env.printJSON(b)
			}
			for _, name := range b.Hosts {
				env.printf("%s\n", name)
			}
			return nil
		})
	}
	return cmd
}

// judgedStep is the judgement of a step.
type judgedStep struct {
	Schema  int          `json:"schema"`
	Step    int          `json:"step"` // from 1
	Steps   int          `json:"steps"`
	Action  string       `json:"action"`
	Changed []string     `json:"changed"` // hosts, to be confirmed or rolled back
	Look    *canary.Look `json:"look"`
}

func newCanaryJudgeCmd(env *Env) *cobra.Command {
	var wait, again bool
	var inventory string
	cmd := &cobra.Command{
		Use:   "judge FILE",
		Short: "Judge the step that has begun: proceed, promote, stop or undecided",
		Long: `The first call, once the hosts are changed, starts the window of a step; a call
after the window judges the step. There is one look per step, and its result
stands. The exit status is 0 for proceed, promote and done, 1 for stop and
undecided, 3 while the window lasts or Prometheus does not answer.`,
		Args: exactArgs(1, "the file of a canary is"),
	}
	format := formatFlag(cmd, "text", "json")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end of the window")
	cmd.Flags().BoolVar(&again, "again", false, "begin another window, for a step that could not be judged")
	cmd.Flags().StringVar(&inventory, "inventory", "", "current `inventory`: shows which hosts were added and removed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withCanary(args[0], func(s *canary.State) error {
			if again {
				if err := s.Again(); err != nil {
					return usage(err)
				}
			}
			if err := env.noteInventory(s, inventory); err != nil {
				return err
			}
			step := min(s.Current(), len(s.Steps)-1)
			look, err := env.judgeCanary(cmd.Context(), s, args[0], wait)
			if err != nil {
				return canaryError(err)
			}
			for s.Steps[step].Look != look {
				step-- // what ended the canary was an earlier step
			}
			return env.showJudged(s, step, *format)
		})
	}
	return cmd
}

func (e *Env) showJudged(s *canary.State, step int, form string) error {
	look := s.Steps[step].Look
	if form == "json" {
		if err := e.printJSON(judgedStep{1, step + 1, len(s.Steps), string(look.Action), s.ChangedBy(step),
			look}); err != nil {
			return err
		}
	} else {
		report.CanaryLook(e.screen(), step, look)
	}
	if look.Action == canary.Stop || look.Action == canary.Undecided {
		return negative()
	}
	return nil
}

// noteInventory says what came and went since the design.
func (e *Env) noteInventory(s *canary.State, inventory string) error {
	if inventory == "" {
		return nil
	}
	data, err := e.read(inventory, inventoryLimit)
	if err != nil {
		return usage(err)
	}
	now, err := canary.Inventory(data, nil)
	if err != nil {
		return usage(err)
	}
	added, gone := s.Changed(now)
	if len(added) > 0 {
		e.note("%d hosts are new in the inventory and no part of this canary, such as %s", len(added), added[0])
	}
	if len(gone) > 0 {
		e.note("%d hosts are gone from the inventory, such as %s; they stay in the comparison, as missing if they are",
			len(gone), gone[0])
	}
	return nil
}

// judgeCanary judges, at once or after the window.
func (e *Env) judgeCanary(ctx context.Context, s *canary.State, file string, wait bool) (*canary.Look, error) {
	src, err := sourceOf(s.Prometheus, s.Weblogs)
	if err != nil {
		return nil, err
	}
	for {
		look, err := s.Judge(ctx, src)
		var early *canary.Early
		if !wait || !errors.As(err, &early) {
			return look, err
		}
		if err := s.Save(file); err != nil { // a window that has begun survives whoever waits for it
			return nil, failure(err)
		}
		e.note("step %d is watched until %s", early.Step+1, early.Until.UTC().Format(time.RFC3339))
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(early.Left, time.Hour) + time.Second):
		}
	}
}
