package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/change"
)

// extendedChange is the JSON of extend.
type extendedChange struct {
	Schema int     `json:"schema"`
	ID     string  `json:"id"`
	Within float64 `json:"confirm_within_s"` // from now
}

func newExtendCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "extend [ID] [HOST]",
		Short: "Give a pending change more time before the host takes it back",
		Long: `Extend restarts the timer of the pending change, or of the one with the ID.
Call it repeatedly to observe a change for longer than its timer; when the calls
stop, the host takes the change back. A change that is only partly in place
cannot be extended (exit status 4).`,
		Example: `  wirerate extend --confirm-within 10m
  wirerate extend 20260102-150405-a1b2c3 ssh://root@server`,
		Args: cobra.MaximumNArgs(2),
	}
	text := cmd.Flags().String("confirm-within", "60s",
		"`time` from now after which the host rolls back what is not confirmed")
	return onChange(cmd, func(ctx context.Context, a changeArgs) error {
		within, err := time.ParseDuration(*text)
		if err != nil || within < time.Second || within > longestTimer {
			return usagef("--confirm-within %q: 1s to 24h is expected, like 60s", *text)
		}
		conn, dir, err := env.journals(ctx, a)
		if err != nil {
			return err
		}
		defer conn.Close()
		id, err := change.Extend(ctx, conn, dir, a.id, within)
		if errors.Is(err, change.ErrCannotExtend) {
			return failure(err)
		} else if err != nil {
			return a.ended(env, id, "take it back", err)
		}
		if a.format == "json" {
			return env.printJSON(extendedChange{1, id, within.Seconds()})
		}
		env.printf("change %s stays for %g s from now; keep it with: %s\n",
			id, within.Seconds(), a.command(env)("confirm", id))
		return nil
	})
}
