package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/change"
)

func newStatusCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [HOST]",
		Short: "List a host's changes, and any drift from them",
		Long: `Status lists the changes in a host's journals and compares the host with the
values of the pending and confirmed ones. Differences are listed, and the exit
status is then 1. An interrupted confirmation is finished first.

A change's journal stays in the folder that --json names (dir). Once the change
is rolled back, or is permanent, the folder can be removed.`,
		Example: `  wirerate status
  wirerate status ssh://root@server --json`,
		Args: cobra.MaximumNArgs(1),
	}
	return onChange(cmd, func(ctx context.Context, a changeArgs) error { return statusVerb(ctx, env, a) })
}

// changeStatus is one change in the JSON of status.
type changeStatus struct {
	ID       string    `json:"id"`
	State    string    `json:"state"`
	Created  time.Time `json:"created"`
	Settings int       `json:"settings"`
	Files    []string  `json:"files"`
	Dir      string    `json:"dir"`
	Problem  string    `json:"problem,omitempty"`
	Rebooted bool      `json:"rebooted,omitempty"` // since it was applied
	// Unfinished says why it is not in place as a whole.
	Unfinished string `json:"unfinished,omitempty"`
}

type hostStatus struct {
	Schema  int            `json:"schema"`
	Host    string         `json:"host"`
	Changes []changeStatus `json:"changes"`
	Drift   []change.Drift `json:"drift"`
	// Lock is the ID of a change that holds the lock and has changed nothing: it
	// is just beginning, or was cut off.
	Lock string `json:"lock,omitempty"`
}

func statusVerb(ctx context.Context, env *Env, a changeArgs) error {
	conn, dir, err := env.journals(ctx, a)
	if err != nil {
		return err
	}
	defer conn.Close()
	entries, err := change.List(ctx, conn, dir)
	if err != nil {
		return environment(err)
	}
	a.finish(ctx, env, conn, entries)
	lock, err := change.StaleLock(ctx, conn, dir, entries)
	if err != nil {
		return environment(err)
	}
	drift, uncompared := change.DriftOf(ctx, conn, entries)
	s := hostStatus{Schema: 2, Host: conn.Name(), Changes: []changeStatus{}, Lock: lock,
		Drift: append([]change.Drift{}, drift...)}
	wrong := len(drift) > 0
	for _, e := range entries {
		c := changeStatus{ID: e.ID, State: e.State, Created: e.Journal.Created, Files: []string{}, Dir: e.Dir,
			Problem: e.Problem, Rebooted: e.Rebooted, Unfinished: e.Unfinished}
		for _, it := range e.Journal.Items {
			if !it.Watched {
				c.Settings++
			}
		}
		for _, f := range e.Journal.Files {
			c.Files = append(c.Files, f.Path)
		}
		wrong = wrong || e.Problem != "" && e.State != change.RolledBack || e.Unfinished != ""
		s.Changes = append(s.Changes, c)
	}
	if a.format == "json" {
		err = env.printJSON(s)
	} else {
		printStatus(env, s, a.command(env), uncompared != nil)
	}
	switch {
	case err != nil:
		return err
	case uncompared != nil:
		return environment(uncompared)
	case wrong:
		return negative()
	}
	return nil
}

func printStatus(env *Env, s hostStatus, command change.Command, uncompared bool) {
	if s.Lock != "" {
		env.wrap("", "  ", fmt.Sprintf("%s: change %s holds the lock and has changed nothing: it is just "+
			"beginning, or was cut off", s.Host, s.Lock))
		env.printf("  if it was cut off, remove the lock with: %s\n", command("rollback"))
	} else if len(s.Changes) == 0 {
		env.printf("%s: no changes\n", s.Host)
		return
	}
	asLeft := len(s.Drift) == 0 && !uncompared
	for _, c := range s.Changes {
		if c.Problem != "" {
			env.wrap(c.ID+"  damaged      ", "  ", fmt.Sprintf("%s; its rollback script is %s/rollback.sh", c.Problem, c.Dir))
			asLeft = asLeft && c.State == change.RolledBack
			continue
		}
		env.printf("%s  %-11s  %d settings, %d files\n", c.ID, c.State, c.Settings, len(c.Files))
		switch {
		case c.State == change.Confirming:
			env.wrap("  ", "  ", "its confirmation is not complete")
			env.printf("  finish it with: %s\n", command("confirm", c.ID))
		case c.State != change.Pending:
			continue
		case c.Unfinished != "":
			env.wrap("  ", "  ", "it is only partly in place: "+c.Unfinished)
			asLeft = false
		case c.Rebooted:
			env.wrap("  ", "  ", "the machine was rebooted before it was confirmed: none of it is in place")
			env.printf("  apply it with: %s\n", command("confirm", c.ID))
		default:
			env.printf("  keep it with: %s\n", command("confirm", c.ID))
		}
		env.printf("  take it back with: %s\n", command("rollback", c.ID))
	}
	for _, d := range s.Drift {
		if d.File != "" {
			env.wrap("drift  ", "  ", d.File+": "+d.Because)
			continue
		}
		env.wrap("drift  ", "  ", fmt.Sprintf("%s is %s, was set to %s: %s", d.Setting, d.Running, d.Wanted, d.Because))
	}
	if asLeft {
		env.printf("no drift\n")
	}
}
