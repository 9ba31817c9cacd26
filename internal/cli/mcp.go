package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/mcp"
)

// answerLimit bounds what one call of a tool may print, in bytes.
const answerLimit = 16 * input.MiB

func newMCPCmd(env *Env) *cobra.Command {
	var roots, hosts []string
	var apply, runtimeOnly bool
	var logFile string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve agents: read-only tools, and changes only under a timer",
		Long: `Speak the Model Context Protocol on standard input and output. The tools
inspect, lint, explain, plan, calc, weblog and report change nothing. They read
only files below the --root folders and query only the hosts given with --host.

--allow-apply adds apply, status, confirm, rollback and trial. apply takes only
plans made in the same session, always with the journal and a timer of 10s to
10m; the host takes a change back unless a later call confirms it. Only the
session's own changes can be confirmed or taken back. trial runs in namespaces
of this machine.

Each call is logged before it begins and when it has ended.`,
		Example: `  wirerate mcp --root /srv/configuration
  wirerate mcp --host ssh://root@web1 --allow-apply --log mcp.log`,
		Args: exactArgs(0, "no argument is"),
	}
	f := cmd.Flags()
	f.StringArrayVar(&roots, "root", []string{"."}, "`folder` whose files may be read")
	f.StringArrayVar(&hosts, "host", []string{"local"}, "`host` that may be queried and, with --allow-apply, changed")
	f.BoolVar(&apply, "allow-apply", false, "offer the tools that change hosts")
	f.BoolVar(&runtimeOnly, "runtime-only", false, "with --allow-apply: confirm writes no configuration files; a "+
		"reboot undoes every change")
	f.StringVar(&logFile, "log", "", "`file` to which calls are appended as lines of JSON (default: standard error)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		log := env.Stderr
		if logFile != "" {
			file, err := os.OpenFile(logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return usage(err)
			}
			defer file.Close()
			log = file
		}
		c, err := catalog.Load()
		if err != nil {
			return failure(err)
		}
		server, err := mcp.New(mcp.Config{Catalog: c, Version: Version, Roots: roots, Hosts: hosts, Apply: apply,
			RuntimeOnly: runtimeOnly,
			Run:         env.call, Log: slog.New(slog.NewJSONHandler(log, nil))})
		if err != nil {
			return usage(err)
		}
		defer server.Close()
		return failure(server.Serve(cmd.Context(), io.NopCloser(env.Stdin), unclosed{env.Stdout}))
	}
	return cmd
}

// unclosed keeps a stream open that somebody else closes.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// call runs one command line for an agent, with standard input empty.
func (e *Env) call(ctx context.Context, args []string) (out, notes string, status int) {
	printed, said := &bounded{}, &bounded{}
	status = Run(ctx, args, &Env{Stdin: strings.NewReader(""), Stdout: printed, Stderr: said, SSH: e.SSH})
	if printed.over || said.over {
		return "", fmt.Sprintf("wirerate: the answer has more than %d bytes", answerLimit), cmp.Or(status, exitFailure)
	}
	return printed.String(), said.String(), status
}

// bounded keeps what is written, within answerLimit.
type bounded struct {
	bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > answerLimit {
		b.over = true
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
