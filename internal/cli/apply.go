package cli

import (
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
	forceFlag(cmd)
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
	command := env.commandFor(opt.host, opt.stateDir)
	applied, err := change.Put(ctx, conn, change.Request{Plan: p, StateDir: opt.stateDir, Within: within, Now: time.Now(), SkipAbsent: opt.skipAbsent,
		Command: command, Anyway: opt.anyway, RuntimeOnly: opt.runtimeOnly, Note: env.note})
	if err != nil {
		return applyError(opt.plan, command, err)
	}
	if how == "json" {
		return env.printJSON(appliedChange{2, applied})
	}
	printApplied(env, applied, command)
	return nil
}

// applyError gives the reason why nothing is in place its exit status.
func applyError(plan string, command change.Command, err error) error {
	var undone *change.Undone
	switch {
	case errors.Is(err, change.ErrNothing):
		return usagef("%s: %w", plan, err)
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
		left := r.Within
		if r.Left < time.Duration(r.Within*float64(time.Second))-time.Second {
			left = max(1, math.Floor(r.Left.Seconds()))
		}
		env.printf(" for %gs", left)
	}
	env.printf("; keep it with: %s\n", command("confirm", r.ID))
}
