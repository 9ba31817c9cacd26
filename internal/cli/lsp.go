package cli

import (
	"cmp"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/lsp"
)

func newLSPCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors: problems, explanations, completion and corrections",
		Long: `Speak the Language Server Protocol (3.17) on standard input and output: lint's
problems as you type, explanations of settings, completion of names and values,
corrections. docs/editors.md shows how to set up VS Code, Neovim, Helix and
Emacs.

System, release and machine come from ` + lintConfigName + ` in the folder of a file or
above it, else from the editor's settings (section "wirerate": os, release,
role, driver, memory, cores, ignore, level, host), else from a file's path and
content; for this machine's own files, the release is the running one.`,
		Example: "  wirerate lsp",
		Args:    exactArgs(0, "no argument is"),
	}
	cmd.Flags().Bool("stdio", true, "communicate over standard input and output, which some editors request")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := catalog.Load()
		if err != nil {
			return failure(err)
		}
		return failure(lsp.Serve(cmd.Context(), stdio{env.Stdin, env.Stdout},
			lsp.Config{Catalog: c, Version: Version, Options: env.editorOptions, Host: env.lintFrom}))
	}
	return cmd
}

// stdio is standard input and output as one stream. Closing it ends the reading
// where that can be done.
type stdio struct {
	io.Reader
	io.Writer
}

func (s stdio) Close() error {
	if in, ok := s.Reader.(io.Closer); ok {
		return in.Close()
	}
	return nil
}

// editorOptions are the options of lint for a file in an editor. What the
// configuration file of the project says counts before the editor's settings, so
// that the editor shows what lint would say.
func (e *Env) editorOptions(path string, s lsp.Settings) (lint.Options, lint.Severity, error) {
	opt := lintOptions{failOn: "never", color: "never", quiet: true, cores: s.Cores, ignore: s.Ignore, system: s.OS,
		version: s.Release, role: s.Role, driver: s.Driver, memory: s.Memory, level: cmp.Or(s.Level, string(lint.Info))}
	var errs []error
	if path != "" {
		errs = append(errs, e.configureLint(&opt, []string{path}, pflag.NewFlagSet("", pflag.ContinueOnError)))
	}
	judged, err := opt.options()
	return judged, lint.Severity(opt.level), errors.Join(append(errs, err)...)
}
