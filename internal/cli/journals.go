package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/host"
)

// changeArgs are what confirm, rollback and status are told.
type changeArgs struct {
	id, host, stateDir, format string
}

const stateDirUsage = "`folder` of the journals (default: the system's)"

// onChange makes a command one of those verbs, with their flags.
func onChange(cmd *cobra.Command, verb func(context.Context, changeArgs) error) *cobra.Command {
	format := formatFlag(cmd, "text", "json")
	stateDir := cmd.Flags().String("state-dir", "", stateDirUsage)
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		id, host, err := idAndHost(words)
		if err != nil {
			return usage(err)
		}
		return verb(cmd.Context(), changeArgs{id, host, *stateDir, *format})
	}
	return cmd
}

// command writes commands about the same host and folder.
func (a changeArgs) command(env *Env) change.Command { return env.commandFor(a.host, a.stateDir) }

// ended adds to an error of confirm or rollback what to do next, and gives it its
// exit status; what says for what the way back is.
func (a changeArgs) ended(env *Env, id, what string, err error) error {
	command := a.command(env)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, change.ErrNoChange) && a.id == "":
		return usage(err)
	case errors.Is(err, change.ErrNoChange):
		return usagef("%w; see %s", err, command("status"))
	case errors.Is(err, change.ErrUnknown):
		err = fmt.Errorf("%w; see: %s", err, command("status"))
	case errors.Is(err, change.ErrCannotConfirm):
		return failure(fmt.Errorf("%w; take it back with: %s", err, command("rollback", id)))
	case id != "":
		err = fmt.Errorf("%w; %s with: %s", err, what, command("rollback", id))
	}
	return environment(err)
}

// finish completes confirmations that were cut off and says so.
func (a changeArgs) finish(ctx context.Context, env *Env, conn host.Conn, entries []change.Entry) {
	command := a.command(env)
	for _, f := range change.Finish(ctx, conn, entries) {
		env.note("%s", f)
		if len(f.Foreign) > 0 {
			env.note("confirm it anyway with: %s", command("confirm", f.ID, "--anyway"))
		}
		if f.Open() {
			env.note("take it back with: %s", command("rollback", f.ID))
		}
	}
}

// idAndHost sorts the words of [ID] [HOST].
func idAndHost(args []string) (id, host string, err error) {
	for _, a := range args {
		word, what := &host, "HOST"
		if change.IsID(a) {
			word, what = &id, "ID"
		}
		if *word != "" {
			return "", "", fmt.Errorf("%s and %s: one %s at most", *word, a, what)
		}
		*word = a
	}
	return id, cmp.Or(host, "local"), nil
}

// journals connects to the host and tells where its journals are.
func (e *Env) journals(ctx context.Context, a changeArgs) (host.Conn, string, error) {
	conn, err := e.open(ctx, a.host)
	if err != nil {
		return nil, "", err
	}
	if a.stateDir != "" {
		return conn, filepath.Clean(a.stateDir), nil
	}
	place, err := change.Locate(ctx, conn)
	if err != nil {
		conn.Close()
		return nil, "", environment(err)
	}
	return conn, place.Dir, nil
}
