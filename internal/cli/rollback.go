package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/change"
)

func newRollbackCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rollback [ID] [HOST]",
		Short: "Undo a change: the pending one, or the one with the ID",
		Long: `Rollback restores the values and files that a change replaced, with the script
written to the target's disk before the first write. Values that somebody else
has changed meanwhile are reported and left alone, and so are those that only a
reboot can restore (exit status 1). Anything that no longer exists on the host,
such as an interface, a route or a module, is reported as gone.`,
		Example: `  wirerate rollback
  wirerate rollback 20260102-150405-a1b2c3 ssh://root@server`,
		Args: cobra.MaximumNArgs(2),
	}
	return onChange(cmd, func(ctx context.Context, a changeArgs) error { return rollbackVerb(ctx, env, a) })
}

func rollbackVerb(ctx context.Context, env *Env, a changeArgs) error {
	conn, dir, err := env.journals(ctx, a)
	if err != nil {
		return err
	}
	defer conn.Close()
	id, report, err := change.RollbackID(ctx, conn, dir, a.id)
	if err != nil {
		return a.ended(env, id, "try again", err)
	}
	if a.format == "json" {
		err = env.printJSON(rolledBack{1, id, report})
	} else {
		printRollback(env, id, report)
	}
	if err == nil && len(report.Foreign)+len(report.Kept) > 0 {
		return negative()
	}
	return err
}

func printRollback(env *Env, id string, r change.RollbackReport) {
	env.printAll("restored  %s\n", r.Restored)
	env.printAll("left      %s\n", r.Foreign)
	env.printAll("kept      %s\n", r.Kept)
	env.printAll("booted    %s\n", r.Booted)
	env.printAll("gone      %s\n", r.Gone)
	env.printf("change %s is rolled back: %d restored, %d left\n", id, len(r.Restored), len(r.Foreign)+len(r.Kept))
}
