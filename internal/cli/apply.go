package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/plan"
)

// longestTimer is the longest that a change waits to be confirmed.
const longestTimer = 24 * time.Hour

type applyOptions struct {
	plan, host, stateDir, within string
	skipAbsent, anyway           bool
	runtimeOnly                  bool
	only, except                 []string
}

func newApplyCmd(env *Env) *cobra.Command {
	var opt applyOptions
	cmd := &cobra.Command{
		Use:   "apply PLAN [HOST]",
		Short: "Apply a plan; the host reverts it unless you confirm in time",
		Long: `Apply writes a plan's settings on a running host. Before the first write the old
values and a script that restores them are on the host's disk; a timer there
runs that script unless the change is confirmed in time, even when this program
or the connection is gone. No configuration file is written before wirerate
confirm, so a reboot undoes a change that was not confirmed. Tunables that take
effect only at boot are tried for one boot by FreeBSD's nextboot; elsewhere
confirm writes them.

When the connection is lost, apply tries for a minute to reach the host again
and take the change back (exit status 3); after that the timer there does it
(exit status 4), and wirerate status shows the result.

On the host it needs a POSIX shell, what reaches the settings (sysctl; ifconfig,
kldload, ethtool or ip where the plan has something for them), and cat, chmod,
cmp, cp, mkdir, mv, rm, rmdir, sleep, and sync or fsync; a missing one is named
before anything is written. Any login shell will do.

PLAN is the plan.json that wirerate plan -o wrote, or its folder.`,
		Example: `  wirerate apply plan/ --confirm-within 60s
  wirerate apply plan/ ssh://root@server && wirerate confirm ssh://root@server`,
		Args: argsFrom(1, 2, "PLAN and at most one HOST are"),
	}
	format := formatFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.StringVar(&opt.within, "confirm-within", "60s",
		"`time` after which the host rolls back what is not confirmed; 0s: never")
	f.StringVar(&opt.stateDir, "state-dir", "", stateDirUsage)
	f.BoolVar(&opt.skipAbsent, "skip-absent", false, "omit settings that the host does not have")
	f.StringArrayVar(&opt.only, "only", nil, "apply only this `SETTING`; repeatable; * matches any characters")
	f.StringArrayVar(&opt.except, "except", nil, "omit this `SETTING` of the plan; repeatable; * matches any characters")
	f.BoolVar(&opt.anyway, "anyway", false, "apply even if values have changed since the plan was made")
	f.BoolVar(&opt.runtimeOnly, "runtime-only", false, "confirm keeps the values only until reboot: it writes no files")
	forceFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opt.plan, opt.host = args[0], "local"
		if len(args) == 2 {
			opt.host = hostName(args[1])
		}
		return applyVerb(cmd.Context(), env, opt, *format)
	}
	return cmd
}

func applyVerb(ctx context.Context, env *Env, opt applyOptions, how string) error {
	within, err := time.ParseDuration(opt.within)
	if err != nil || within < 0 || within > longestTimer || within > 0 && within < time.Second {
		return usagef("--confirm-within %q: 0s, or 1s to 24h is expected, like 60s", opt.within)
	}
	p, err := loadPlan(opt.plan, opt.host)
	if err == nil {
		p, err = opt.choose(p)
	}
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
	command := env.commandFor(opt.host, opt.stateDir)
	applied, err := change.Put(ctx, conn, change.Request{Plan: p, StateDir: opt.stateDir, Within: within,
		Now: time.Now(), SkipAbsent: opt.skipAbsent,
		Command: command, Anyway: opt.anyway, RuntimeOnly: opt.runtimeOnly, Note: env.note})
	if err != nil {
		return applyError(env, opt, command, err)
	}
	if how == "json" {
		return env.printJSON(appliedChange{2, applied})
	}
	printApplied(env, applied, command)
	return nil
}

// applyError gives the reason why nothing is in place its exit status.
func applyError(env *Env, opt applyOptions, command change.Command, err error) error {
	var undone *change.Undone
	var refused *change.Refused
	switch {
	case errors.As(err, &refused):
		return missing(fmt.Errorf("%w; leave them out with: %s",
			err, opt.without(env, slices.Sorted(maps.Keys(refused.Settings)))))
	case errors.As(err, &undone) && undone.Setting != "":
		err = fmt.Errorf("%w; leave it out with: %s", err, opt.without(env, []string{undone.Setting}))
	}
	switch {
	case errors.Is(err, change.ErrNothing):
		return usagef("%s: %w", opt.plan, err)
	case errors.Is(err, change.ErrPending):
		return usagef("%w; see: %s", err, command("status"))
	case errors.Is(err, change.ErrChanged), errors.Is(err, change.ErrOtherSystem):
		return usage(err)
	case errors.Is(err, change.ErrLacks):
		return missing(err)
	case errors.As(err, &undone) && undone.Lacks:
		return missing(err)
	case errors.As(err, &undone):
		return failure(err)
	}
	return environment(err)
}

// without is the command that applies the same plan but for some settings.
func (o applyOptions) without(env *Env, settings []string) string {
	words := []string{"apply", o.plan}
	if o.host != "local" {
		words = append(words, o.host)
	}
	if o.within != "60s" {
		words = append(words, "--confirm-within", o.within)
	}
	if o.stateDir != "" {
		words = append(words, "--state-dir", o.stateDir)
	}
	flags := map[string]bool{"--skip-absent": o.skipAbsent, "--anyway": o.anyway, "--runtime-only": o.runtimeOnly}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if flags[name] {
			words = append(words, name)
		}
	}
	for _, name := range o.only {
		words = append(words, "--only", name)
	}
	for _, name := range slices.Concat(o.except, settings) {
		words = append(words, "--except", name)
	}
	return env.commandLine(words...)
}

// choose takes out of a plan what --only and --except leave out.
func (o applyOptions) choose(p plan.Plan) (plan.Plan, error) {
	for _, pattern := range slices.Concat(o.only, o.except) {
		if !slices.ContainsFunc(p.Changes, func(ch plan.Change) bool { return plan.Match(pattern, ch.Setting) }) {
			return p, fmt.Errorf("%s: the plan does not set %s; it sets %s",
				o.plan, pattern, cmp.Or(strings.Join(settingsOf(p), ", "), "nothing"))
		}
	}
	meant := func(patterns []string, setting string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return plan.Match(pattern, setting) })
	}
	return p.Only(func(setting string) (bool, string) {
		return (len(o.only) == 0 || meant(o.only, setting)) && !meant(o.except, setting),
			"it was left out on the command line"
	}), nil
}

func settingsOf(p plan.Plan) []string {
	var names []string
	for _, ch := range p.Changes {
		names = append(names, ch.Setting)
	}
	return names
}

// loadPlan reads a plan; of several in one file, as tune writes them, the one
// for the host.
func loadPlan(name, target string) (plan.Plan, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "plan.json")
	}
	data, err := input.File(name, jsonLimit)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("plan: %w", err)
	}
	c, err := catalog.Load()
	if err != nil {
		return plan.Plan{}, err
	}
	plans, err := plan.Read(c, data)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("%s: %w", name, err)
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
	return plans[0], nil
}

func printApplied(env *Env, r change.Applied, command change.Command) {
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
	env.printAll("boot  %s takes effect at the boot after confirm\n", r.AtBoot)
	env.printAll("hand  %s: its commands are in the plan, apply does not run them\n", r.ByHand)
	env.noteAll(r.Warnings)
	env.printf("change %s is in place", r.ID)
	if r.Within > 0 {
		left := r.Within
		if r.Left < time.Duration(r.Within*float64(time.Second))-time.Second {
			left = max(1, math.Floor(r.Left.Seconds()))
		}
		env.printf(" for %g s", left)
	}
	env.printf("; keep it with: %s\n", command("confirm", r.ID))
}
