package cli

import (
	"cmp"
	"context"
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

// changeFlags adds the flags of those verbs. The function it returns takes
// their words.
func changeFlags(cmd *cobra.Command) func(words []string) (changeArgs, error) {
	format := formatFlag(cmd, "text", "json")
	stateDir := cmd.Flags().String("state-dir", "", stateDirUsage)
	return func(words []string) (changeArgs, error) {
		how, err := format()
		if err != nil {
			return changeArgs{}, err
		}
		id, host, err := idAndHost(words)
		return changeArgs{id, host, *stateDir, how}, usage(err)
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
