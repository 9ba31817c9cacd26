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
		Short: "List a host's changes, and what is no longer as they left it",
		Long: `Status lists the changes in a host's journals and compares the host with what
the pending and the confirmed ones left. What differs is named, and the exit
status is then 1. A confirmation that was cut off is finished first.

A change's journal stays in the folder that --json names (dir). Once the change
is rolled back, or shall never be, the folder can be removed.`,
		Example: `  wirerate status
  wirerate status ssh://root@server --json`,
		Args: cobra.MaximumNArgs(1),
	}
	told := changeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		a, err := told(words)
		if err != nil {
			return err
		}
		return statusVerb(cmd.Context(), env, a)
	}
	return cmd
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
}

type hostStatus struct {
	Schema  int            `json:"schema"`
	Host    string         `json:"host"`
	Changes []changeStatus `json:"changes"`
	Drift   []change.Drift `json:"drift"`
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
	for _, note := range change.Finish(ctx, conn, entries) {
		env.note("%s", note)
	}
	drift, err := change.DriftOf(ctx, conn, entries)
	if err != nil {
		return environment(err)
	}
	s := hostStatus{Schema: 1, Host: conn.Name(), Changes: []changeStatus{}, Drift: append([]change.Drift{}, drift...)}
	damaged := false
	for _, e := range entries {
		c := changeStatus{ID: e.ID, State: e.State, Created: e.Journal.Created, Files: []string{}, Dir: e.Dir, Problem: e.Problem, Rebooted: e.Rebooted}
		for _, it := range e.Journal.Items {
			if !it.Watched {
				c.Settings++
			}
		}
		for _, f := range e.Journal.Files {
			c.Files = append(c.Files, f.Path)
		}
		damaged = damaged || e.Problem != "" && e.State != change.RolledBack
		s.Changes = append(s.Changes, c)
	}
	if a.format == "json" {
		err = env.printJSON(s)
	} else {
		printStatus(env, s)
	}
	if err == nil && (len(drift) > 0 || damaged) {
		return negative()
	}
	return err
}

func printStatus(env *Env, s hostStatus) {
	if len(s.Changes) == 0 {
		env.printf("%s: no changes\n", s.Host)
		return
	}
	for _, c := range s.Changes {
		if c.Problem != "" {
			env.wrap(c.ID+"  damaged      ", "  ", fmt.Sprintf("%s; its rollback script is %s/rollback.sh", c.Problem, c.Dir))
			continue
		}
		env.printf("%s  %-11s  %d settings, %d files\n", c.ID, c.State, c.Settings, len(c.Files))
		if c.State == change.Confirming {
			env.wrap("  ", "  ", fmt.Sprintf("its confirmation is not complete: finish it with wirerate confirm %s, or take it back with wirerate rollback %s", c.ID, c.ID))
		}
	}
	for _, c := range s.Changes {
		if c.Rebooted && c.State == change.Pending {
			env.wrap("", "  ", fmt.Sprintf("%s was not confirmed before the machine was started again: nothing of it is in place; close it with wirerate rollback %s, or put it in place with wirerate confirm %s", c.ID, c.ID, c.ID))
		}
	}
	for _, d := range s.Drift {
		if d.File != "" {
			env.wrap("drift  ", "  ", d.File+": "+d.Because)
			continue
		}
		env.wrap("drift  ", "  ", fmt.Sprintf("%s is %s, was set to %s: %s", d.Setting, d.Running, d.Wanted, d.Because))
	}
	if len(s.Drift) == 0 {
		env.printf("everything is as it was left\n")
	}
}
