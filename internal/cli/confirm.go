package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/change"
)

func newConfirmCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "confirm [ID] [HOST]",
		Short: "Make a change permanent: stop its timer, write the files",
		Long: `Confirm writes the files of the pending change, or of the one with the ID,
each under a temporary name, flushed to disk and then renamed, and keeps the old
ones. A change that apply did not complete, or whose rollback has begun, cannot
be confirmed (exit status 4): it can only be taken back. If somebody else has
changed a value or a file meanwhile, nothing is confirmed and each is named
(exit status 1). wirerate rollback ID takes a confirmed change back at any later
time, files included.`,
		Example: `  wirerate confirm
  wirerate confirm 20260102-150405-a1b2c3 ssh://root@server`,
		Args: cobra.MaximumNArgs(2),
	}
	anyway := cmd.Flags().Bool("anyway", false, "confirm even if something else has changed since: those values "+
		"remain, the files are replaced")
	forceFlag(cmd)
	return onChange(cmd, func(ctx context.Context, a changeArgs) error { return confirmVerb(ctx, env, a, *anyway) })
}

func confirmVerb(ctx context.Context, env *Env, a changeArgs, anyway bool) error {
	conn, dir, err := env.journals(ctx, a)
	if err != nil {
		return err
	}
	defer conn.Close()
	id, report, err := change.ConfirmID(ctx, conn, dir, a.id, anyway)
	if err != nil {
		return a.ended(env, id, "take it back", err)
	}
	refused := len(report.Foreign) > 0 && !anyway
	if a.format == "json" {
		err = env.printJSON(confirmedChange{1, id, !refused, report})
	} else {
		printConfirmed(env, id, report, refused, a.command(env))
	}
	if err == nil && refused {
		return negative()
	}
	return err
}

func printConfirmed(env *Env, id string, r change.ConfirmReport, refused bool, command change.Command) {
	env.printAll("set       %s\n", r.Applied)
	env.printAll("written   %s\n", r.Written)
	env.printAll("foreign   %s\n", r.Foreign)
	if refused {
		env.printf("change %s is not confirmed: see above\n", id)
		env.printf("confirm it anyway with: %s\n", command("confirm", id, "--anyway"))
		env.printf("take it back with: %s\n", command("rollback", id))
		return
	}
	env.printf("change %s is confirmed: %d files written; take it back with: %s\n",
		id, len(r.Written), command("rollback", id))
}
