package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/change"
)

func newConfirmCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "confirm [ID] [HOST]",
		Short: "Make a change last: end its timer, write the configuration files",
		Long: `Confirm writes the files of the change that is pending, or of the one with the
ID, each under another name, flushed to the disk and renamed, and keeps what
they replace. When somebody else changed a value or a file meanwhile, nothing is
confirmed and each is named (exit status 1). wirerate rollback ID takes a
confirmed change back at any later time, files included.`,
		Example: `  wirerate confirm
  wirerate confirm 20260102-150405-a1b2c3 ssh://root@server`,
		Args: cobra.MaximumNArgs(2),
	}
	told := changeFlags(cmd)
	anyway := cmd.Flags().Bool("anyway", false, "confirm though somebody else changed something: their values stay, the files are replaced")
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		a, err := told(words)
		if err != nil {
			return err
		}
		return confirmVerb(cmd.Context(), env, a, *anyway)
	}
	return cmd
}

func confirmVerb(ctx context.Context, env *Env, a changeArgs, anyway bool) error {
	conn, dir, err := env.journals(ctx, a)
	if err != nil {
		return err
	}
	defer conn.Close()
	id, report, err := change.ConfirmID(ctx, conn, dir, a.id, anyway)
	if errors.Is(err, change.ErrNoChange) {
		return usage(err)
	}
	if err != nil {
		return environment(err)
	}
	refused := len(report.Foreign) > 0 && !anyway
	if a.format == "json" {
		err = env.printJSON(struct {
			Schema    int    `json:"schema"`
			ID        string `json:"id"`
			Confirmed bool   `json:"confirmed"`
			change.ConfirmReport
		}{1, id, !refused, report})
	} else {
		printConfirmed(env, id, report, refused)
	}
	if err == nil && refused {
		return negative()
	}
	return err
}

func printConfirmed(env *Env, id string, r change.ConfirmReport, refused bool) {
	for _, s := range r.Applied {
		env.printf("set       %s\n", s)
	}
	for _, s := range r.Written {
		env.printf("written   %s\n", s)
	}
	for _, s := range r.Foreign {
		env.printf("foreign   %s\n", s)
	}
	if refused {
		env.printf("change %s is not confirmed: see above; confirm it --anyway, or roll it back\n", id)
		return
	}
	env.printf("change %s is confirmed: %d files written; wirerate rollback %s takes it back\n", id, len(r.Written), id)
}
