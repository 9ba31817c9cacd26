package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
)

type applyOptions struct {
	plan, host, stateDir, within string
	skipAbsent, anyway           bool
	runtimeOnly                  bool
}

func newApplyCmd(env *Env) *cobra.Command {
	var opt applyOptions
	cmd := &cobra.Command{
		Use:   "apply PLAN [HOST]",
		Short: "Put a plan in place until it is confirmed, with a way back",
		Long: `Apply writes a plan's settings on a running host. Before the first write the old
values and a script that restores them are on the host's disk; a timer there
runs that script unless the change is confirmed in time, also when this program
or the connection is gone. No configuration file is written before wirerate
confirm, so that a reboot undoes what was not confirmed. Tunables that count at
boot alone are tried by FreeBSD's nextboot for one boot; elsewhere confirm
writes them.

When the connection is lost, apply tries for a minute to reach the host again
and take the change back (exit status 3); later the timer there does it (exit
status 4), and wirerate status tells.

On the host it needs a POSIX shell, what reaches the settings (sysctl; ifconfig,
kldload, ethtool or ip where the plan has something for them), and cat, chmod,
cmp, cp, mkdir, mv, rm, rmdir, sleep, and sync or fsync; a missing one is named
before anything is written. The user's login shell may be any.

PLAN is the plan.json that wirerate plan -o wrote, or its folder.`,
		Example: `  wirerate apply plan/ --confirm-within 60s
  wirerate apply plan/ ssh://root@server && wirerate confirm ssh://root@server`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("PLAN and at most one HOST are expected, %d arguments given; see --help", len(args))
			}
			return nil
		},
	}
	format := formatFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.StringVar(&opt.within, "confirm-within", "60s", "`time` after which the host takes back what is not confirmed; 0s: never")
	f.StringVar(&opt.stateDir, "state-dir", "", stateDirUsage)
	f.BoolVar(&opt.skipAbsent, "skip-absent", false, "leave out settings that the host does not have")
	f.BoolVar(&opt.anyway, "anyway", false, "apply though values changed since the plan was made")
	f.BoolVar(&opt.runtimeOnly, "runtime-only", false, "confirm shall write no configuration files")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		how, err := format()
		if err != nil {
			return err
		}
		opt.plan, opt.host = args[0], "local"
		if len(args) == 2 {
			opt.host = args[1]
		}
		return applyVerb(cmd.Context(), env, opt, how)
	}
	return cmd
}

// applied is the JSON of apply.
type applied struct {
	Schema   int               `json:"schema"`
	ID       string            `json:"id"`
	Host     string            `json:"host"`
	Within   float64           `json:"confirm_within_s"`
	Set      []change.Outcome  `json:"set"`
	Absent   map[string]string `json:"absent"`
	AtBoot   []string          `json:"at_boot"` // changed by confirm alone, or by the next boot
	Files    []string          `json:"files"`   // that confirm will write
	ByHand   []string          `json:"by_hand"` // steps of the plan that apply does not take
	Warnings []string          `json:"warnings"`
}

func applyVerb(ctx context.Context, env *Env, opt applyOptions, how string) error {
	within, err := time.ParseDuration(opt.within)
	if err != nil || within < 0 || within > 24*time.Hour || within > 0 && within < time.Second {
		return usagef("--confirm-within %q: 0s, or 1s to 24h is expected, like 60s", opt.within)
	}
	p, err := loadPlan(opt.plan, opt.host)
	if err != nil {
		return usage(err)
	}
	conn, err := env.open(ctx, opt.host)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := recordedHost(conn, "apply"); err != nil {
		return err
	}
	now, boot, values := divide(p)
	if len(now)+len(boot) == 0 {
		return usagef("%s: the plan changes nothing", opt.plan)
	}
	co := change.Options{StateDir: opt.stateDir, Within: within, Now: time.Now(), SkipAbsent: opt.skipAbsent, Wanted: values}
	if !opt.runtimeOnly {
		co.Files = append(plan.NativeFiles(p, plan.All), plan.NextBoot(p)...)
	}
	if !opt.anyway {
		co.Check = func(old map[string]string) error { return checkUnchanged(p, old) }
	}
	c, err := begin(ctx, env, conn, p.System, now, co)
	if err != nil {
		return beginError(err)
	}
	for name := range c.Absent {
		now = slices.DeleteFunc(now, func(n string) bool { return n == name })
	}
	outcomes, err := c.Apply(ctx, now, values)
	if err := settled(ctx, env, conn, c, outcomes, err); err != nil {
		return err
	}
	result := applied{Schema: 1, ID: c.ID, Host: conn.Name(), Within: within.Seconds(), Set: outcomes, Absent: c.Absent, AtBoot: boot, Files: []string{}, ByHand: []string{}, Warnings: []string{}}
	if opt.runtimeOnly {
		for _, name := range boot {
			result.Absent[name] = "it counts at boot alone, and no file is written with --runtime-only"
		}
		result.AtBoot = []string{}
	}
	for _, s := range p.Steps {
		result.ByHand = append(result.ByHand, s.Title)
	}
	for _, f := range c.Files {
		result.Files = append(result.Files, f.Path)
	}
	result.Warnings = append(result.Warnings, c.Notes...)
	if how == "json" {
		return env.printJSON(result)
	}
	printApplied(env, result)
	return nil
}

// begin opens a change; a confirmation that was cut off, which would exclude
// it, is finished first.
func begin(ctx context.Context, env *Env, conn host.Conn, system catalog.System, settings []string, opt change.Options) (*change.Change, error) {
	c, err := change.Begin(ctx, conn, system, settings, opt)
	if !errors.Is(err, change.ErrPending) {
		return c, err
	}
	dir := opt.StateDir
	if dir == "" {
		place, err := change.Locate(ctx, conn)
		if err != nil {
			return nil, err
		}
		dir = place.Dir
	}
	entries, lerr := change.List(ctx, conn, dir)
	if lerr != nil {
		return nil, lerr
	}
	notes := change.Finish(ctx, conn, entries)
	if len(notes) == 0 {
		return nil, err
	}
	for _, note := range notes {
		env.note("%s", note)
	}
	return change.Begin(ctx, conn, system, settings, opt)
}

// loadPlan reads a plan; of several in one file, as tune writes them, the one
// for the host.
func loadPlan(name, target string) (plan.Plan, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "plan.json")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("plan: %w", err)
	}
	var plans []plan.Plan
	if err := json.Unmarshal(data, &plans); err != nil {
		var one plan.Plan
		if err := json.Unmarshal(data, &one); err != nil {
			return plan.Plan{}, fmt.Errorf("%s: not a plan of wirerate: %w", name, err)
		}
		plans = []plan.Plan{one}
	}
	if len(plans) > 1 {
		i := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.Host == target })
		if i < 0 {
			var hosts []string
			for _, p := range plans {
				hosts = append(hosts, p.Host)
			}
			return plan.Plan{}, fmt.Errorf("%s: it holds plans for %s, none for %s", name, strings.Join(hosts, " and "), target)
		}
		plans = plans[i : i+1]
	}
	if len(plans) == 0 || plans[0].Schema != plan.Schema || plans[0].System == "" {
		return plan.Plan{}, fmt.Errorf("%s: not a plan of wirerate that this version reads", name)
	}
	return plans[0], nil
}

// divide tells what can be written on the running system from what takes
// effect at boot only.
func divide(p plan.Plan) (now, boot []string, values map[string]string) {
	values, boot = map[string]string{}, []string{}
	for _, ch := range p.Changes {
		runtime := ch.Kind == catalog.Runtime || ch.Kind == catalog.Both || strings.HasSuffix(ch.Setting, "_load")
		if runtime && change.Supports(p.System, ch.Setting) == nil {
			now = append(now, ch.Setting)
			values[ch.Setting] = ch.To
		} else {
			boot = append(boot, ch.Setting)
		}
	}
	return now, boot, values
}

// errChanged says that a plan is out of date.
var errChanged = errors.New("changed since the plan was made")

// checkUnchanged compares a host with what the plan saw.
func checkUnchanged(p plan.Plan, old map[string]string) error {
	var differ []string
	for _, ch := range p.Changes {
		is, ok := old[ch.Setting]
		if ok && ch.From != "" && !change.Same(ch.Setting, is, ch.From) && !change.Same(ch.Setting, is, ch.To) {
			differ = append(differ, fmt.Sprintf("%s was %s and is %s", ch.Setting, ch.From, is))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; make the plan again, or apply it --anyway", errChanged, strings.Join(differ, "; "))
}

func beginError(err error) error {
	if errors.Is(err, change.ErrPending) || errors.Is(err, errChanged) || errors.Is(err, change.ErrOtherSystem) {
		return usage(err)
	}
	if errors.Is(err, change.ErrLacks) {
		return missing(err)
	}
	return environment(err)
}

// settled takes everything back when a value was refused or the writing
// failed.
func settled(ctx context.Context, env *Env, conn host.Conn, c *change.Change, outcomes []change.Outcome, err error) error {
	lost := errors.Is(err, host.ErrUnreachable)
	why, lacks := err, lost
	if n := len(outcomes); err == nil && n > 0 {
		switch last := outcomes[n-1]; {
		case last.Refused != "":
			lacks = last.Failure == host.Denied || strings.Contains(last.Refused, "Read-only file system")
			why = fmt.Errorf("%s: %s=%q is refused: %s", c.Host, last.Setting, last.Wanted, last.Refused)
		case last.Foreign != "":
			why = fmt.Errorf("%s: %s is not written: %s", c.Host, last.Setting, last.Foreign)
		}
	}
	if why == nil {
		return nil
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	report, rerr := c.TakeBack(late, env.note)
	if rerr != nil {
		return failure(fmt.Errorf("%w; it is not taken back from here: %w", why, rerr))
	}
	left := append(slices.Clone(report.Foreign), report.Kept...)
	for _, f := range left {
		env.note("%s", f)
	}
	back := "everything is taken back"
	if len(left) > 0 {
		back = "everything else is taken back"
	}
	if lost {
		back = "it is reached again, and " + back
	}
	why = fmt.Errorf("%w; %s", why, back)
	if lacks {
		return missing(why)
	}
	return failure(why)
}

func printApplied(env *Env, r applied) {
	for _, o := range r.Set {
		note := ""
		if !change.Same(o.Setting, o.Got, o.Wanted) {
			note = "  (the kernel made it from " + o.Wanted + ")"
		}
		env.printf("set   %s = %s%s\n", o.Setting, o.Got, note)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Absent)) {
		env.note("%s is left out: %s", name, r.Absent[name])
	}
	for _, name := range r.AtBoot {
		env.printf("boot  %s takes effect at the boot after confirm\n", name)
	}
	for _, title := range r.ByHand {
		env.printf("hand  %s: its commands are in the plan, apply does not run them\n", title)
	}
	for _, w := range r.Warnings {
		env.note("%s", w)
	}
	env.printf("change %s is in place", r.ID)
	if r.Within > 0 {
		env.printf(" for %gs", r.Within)
	}
	target := ""
	if r.Host != "local" {
		target = " " + r.Host
	}
	env.printf("; keep it with: wirerate confirm %s%s\n", r.ID, target)
}
