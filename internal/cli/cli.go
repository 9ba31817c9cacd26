// Package cli is the command line: one file per verb, with its flags, wiring
// and exit status. Data goes to standard output, messages to standard error.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/spelling"
	"github.com/wirerate/wirerate/internal/terminal"
)

// What is read of a file, in bytes: of JSON, which takes many times its length
// in memory, and of rules and what tools printed.
const (
	jsonLimit = 8 * input.MiB
	textLimit = 64 * input.MiB
)

// The exit statuses.
const (
	exitDone     = 0
	exitNegative = 1 // done, and the answer is a negative one
	exitUsage    = 2 // the user's input is wrong
	exitMissing  = 3 // the environment lacks something
	exitFailure  = 4 // a failure, with everything rolled back or the way back printed
)

// Env is what a verb runs with.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	SSH            host.SSHOptions
	args           []string        // the command line, without the program's name
	signalled      context.Context // done at the first signal; nil within a server, where a request does not end the program
}

// Main runs the program and returns its exit status.
func Main() int {
	crashApart()
	collectLate()
	if served, status := host.ServeIfAgent(); served {
		return status
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	env := &Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, signalled: ctx}
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		env.Stdout = &output{file: os.Stdout}
	}
	return Run(ctx, os.Args[1:], env)
}

// output is a standard output that remembers what could not be written, so that
// a full disk is no success.
type output struct {
	file *os.File
	err  error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// rawStdout is the standard output as programs that are started get it.
func (e *Env) rawStdout() io.Writer {
	if o, ok := e.Stdout.(*output); ok {
		return o.file
	}
	return e.Stdout
}

// Run runs one command line and returns its exit status.
func Run(ctx context.Context, args []string, env *Env) int {
	env.args = args
	root := newRootCmd(env)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if o, ok := env.Stdout.(*output); ok && o.err != nil {
		err = failure(fmt.Errorf("standard output: %w", o.err))
	}
	if err == nil {
		return exitDone
	}
	status, told := statusOf(err)
	if !told {
		status = exitUsage // what cobra finds wrong itself is the user's input
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err, status = errInterrupted, exitFailure
	}
	if text := oneLine(err); text != "" {
		fmt.Fprintf(env.Stderr, "wirerate: %s\n", text)
	}
	return status
}

var errInterrupted = errors.New("interrupted; nothing is left changed")

// stopAtOnce lets the first signal end the program until over is called: for work over files, which changes nothing
// and looks at no context.
func (e *Env) stopAtOnce() (over func() bool) {
	if e.signalled == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(e.signalled, func() {
		fmt.Fprintf(e.Stderr, "wirerate: %s\n", errInterrupted)
		os.Exit(exitFailure)
	})
}

// likeFlag names the verb's flag that an unknown one resembles.
func likeFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return ""
	}
	name, best, least := unknown.GetSpecifiedName(), "", 3
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if n := spelling.Edits(name, f.Name); n < least && n < len(f.Name)/2 && !f.Hidden {
			best, least = f.Name, n
		}
	})
	if best == "" {
		return ""
	}
	return "; did you mean --" + best + "?"
}

// oneLine is an error as it is printed: what cobra says of a mistyped command
// takes several lines, and names and outputs may be hostile.
func oneLine(err error) string {
	text, near, found := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	if found {
		text += "; did you mean " + strings.Join(strings.Fields(near), " or ") + "?"
	}
	return terminal.Escape(text)
}

func newRootCmd(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "wirerate",
		Short: "Find what limits a network path, tune it, and prove what helped",
		Long: `wirerate finds what limits the network performance of a FreeBSD, OpenBSD or
Linux host, plans the settings that its path needs with the reason in numbers,
makes only changes that it can take back, and proves by experiment how much each
setting helps.`,
		Example: `  wirerate tune --lab rate=1gbit,rtt=50ms --role bulk -o out/
  wirerate explain net.ipv4.tcp_rmem
  wirerate lint /etc/sysctl.conf`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       Version,
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.PersistentFlags().StringVar(&env.SSH.ConfigFile, "ssh-config", "",
		"ssh_config(5) `file` for ssh:// hosts (default: your own)")
	root.AddCommand(verbs(env)...)
	root.SetHelpCommand(helpCmd(root))
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate(versionText())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages",
		fmt.Sprintf(".FlagUsagesWrapped %d", terminal.Columns)))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w%s; see %s --help", err, likeFlag(cmd, err), cmd.CommandPath())
	})
	root.InitDefaultHelpCmd()
	describeCompletion(root)
	complete(root)
	return root
}

// helpCmd is cobra's own but for the exit status where there is no such verb.
func helpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Show the help of a verb",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, _, err := root.Find(args)
			if err != nil {
				return err
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// exitError carries the exit status of an error.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// negative ends a verb that did its work with a negative answer.
func negative() error { return &exitError{exitNegative, nil} }

// usage reports wrong input.
func usage(err error) error { return withStatus(exitUsage, err) }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// missing reports what the environment lacks.
func missing(err error) error { return withStatus(exitMissing, err) }

// failure reports that something went wrong.
func failure(err error) error { return withStatus(exitFailure, err) }

// withStatus gives err an exit status unless it has one.
func withStatus(status int, err error) error {
	if _, told := statusOf(err); err == nil || told {
		return err
	}
	return &exitError{status, err}
}

// statusOf is the exit status that an error carries; told is false where it has none.
func statusOf(err error) (status int, told bool) {
	var exit *exitError
	var ended *experiment.Error
	switch {
	case errors.As(err, &exit):
		return exit.status, true
	case errors.As(err, &ended):
		return map[experiment.Reason]int{experiment.Input: exitUsage, experiment.Missing: exitMissing,
			experiment.Failed: exitFailure}[ended.Reason], true
	}
	return 0, false
}

// environment classifies an error about reaching a host.
func environment(err error) error {
	if errors.Is(err, host.ErrUnreachable) || errors.Is(err, os.ErrPermission) {
		return missing(err)
	}
	return failure(err)
}

// note writes a message to standard error.
func (e *Env) note(format string, args ...any) {
	fmt.Fprintf(e.Stderr, "wirerate: %s\n", terminal.Escape(fmt.Sprintf(format, args...)))
}

// noteAll writes messages to standard error.
func (e *Env) noteAll(texts []string) {
	for _, text := range texts {
		e.note("%s", text)
	}
}

// screen is standard output as text is shown on it.
func (e *Env) screen() report.Screen { return report.Screen{Writer: e.Stdout, Columns: e.columns()} }

// printf writes to standard output, without anything that a terminal obeys.
func (e *Env) printf(format string, args ...any) { e.screen().Printf(format, args...) }

// printAll writes each of several texts to standard output.
func (e *Env) printAll(format string, texts []string) {
	for _, text := range texts {
		e.printf(format, text)
	}
}

// columns is how wide the terminal is; 0 where standard output is none.
func (e *Env) columns() int {
	f, ok := e.Stdout.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return max(n, terminal.Columns/2)
	}
	return terminal.Columns
}

// wrap writes text in lines that fit the terminal.
func (e *Env) wrap(first, rest, text string) { e.screen().Wrap(first, rest, text) }

// below writes text for --help and the like, in lines that begin where it
// begins behind its label.
func below(label, text string) string {
	return terminal.Wrap(terminal.Columns, label, strings.Repeat(" ", len(label)), text)
}

// indentedJSON is a value as JSON, in the one form that all files and outputs
// have.
func indentedJSON(v any) ([]byte, error) { return terminal.JSON(v, "  ") }

// printJSON writes a value as indented JSON.
func (e *Env) printJSON(v any) error {
	data, err := indentedJSON(v)
	if err == nil {
		_, err = e.Stdout.Write(data)
	}
	return failure(err)
}

// read reads a file, or standard input for "-".
func (e *Env) read(name string, limit int64) ([]byte, error) {
	if name == "-" {
		defer e.stopAtOnce()()
		return input.Stream(e.Stdin, "standard input", limit)
	}
	return input.File(name, limit)
}

// writeTo runs write with FILE as its standard output, or with e's own when no
// file is named; what could not be written is an error.
func (e *Env) writeTo(file string, write func(*Env) error) error {
	if file == "" || file == "-" {
		return write(e)
	}
	f, err := os.Create(file)
	if err != nil {
		return usage(err)
	}
	to := *e
	out := &output{file: f}
	to.Stdout = out
	err = write(&to)
	return cmp.Or(err, failure(out.err), failure(f.Close()))
}

// formatFlag adds --format, whose first choice is the default, and --json.
// What it returns is the choice when the verb runs.
func formatFlag(cmd *cobra.Command, choices ...string) *string {
	format := cmd.Flags().String("format", choices[0], "output `format`: "+strings.Join(choices, ", "))
	short := cmd.Flags().Bool("json", false, "short for --format json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *short {
			*format = "json"
			return nil
		}
		if !slices.Contains(choices, *format) {
			return usagef("format %q: one of %s is expected", *format, strings.Join(choices, ", "))
		}
		return nil
	}
	return format
}

// exactArgs is cobra.ExactArgs with a message that says what is expected.
func exactArgs(n int, what string) cobra.PositionalArgs { return argsFrom(n, n, what) }

// argsFrom is cobra.RangeArgs with a message that says what is expected.
func argsFrom(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("%s expected, %d arguments given; see --help", what, len(args))
		}
		return nil
	}
}

// open connects to a host named on the command line.
func (e *Env) open(ctx context.Context, name string) (host.Conn, error) {
	c, err := host.Open(ctx, hostName(name), e.SSH)
	if errors.Is(err, host.ErrUnreachable) || errors.Is(err, fs.ErrPermission) {
		return nil, missing(err)
	}
	return c, usage(err)
}
