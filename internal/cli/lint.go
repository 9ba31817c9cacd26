package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/units"
)

type lintOptions struct {
	system, version, kind, role, driver string
	from, memory                        string
	cores                               int
	fix, diff                           bool
	failOn, level, color                string
}

func newLintCmd(env *Env) *cobra.Command {
	var opt lintOptions
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Find dead, misplaced and harmful lines of configuration",
		Long: `Judge sysctl.conf, sysctl.d, loader.conf, rc.conf, hostname.if, pf.conf, systemd
.link and .network files, ifupdown interfaces, modprobe.d and scripts by the
catalog. System, kind and machine are guessed from path and content; files of
one machine are read in the order in which the system reads them.

A comment "# wirerate: ignore CODE reason" suppresses a code on its line or,
alone, on the next one. explain CODE tells what a code means.`,
		Example: `  wirerate lint /etc/sysctl.conf /etc/sysctl.d
  wirerate lint --os freebsd --version 14.2 loader.conf sysctl.conf
  wirerate lint --diff sysctl.conf
  wirerate lint --format sarif etc/ > lint.sarif`,
	}
	format := formatFlag(cmd, "text", "json", "sarif")
	f := cmd.Flags()
	f.StringVar(&opt.system, "os", "", "`system`: freebsd, openbsd or linux (default: guessed)")
	f.StringVar(&opt.version, "version", "", "`release` of the system, such as 14.2 (default: the running one for this machine's own files, else what all described releases share)")
	f.StringVar(&opt.kind, "kind", "", "`kind` of the files, such as sysctl.conf, loader.conf, rc.conf, script (default: guessed)")
	f.StringVar(&opt.role, "role", "", "`role` of the host: "+strings.Join(catalog.Roles(), ", "))
	f.StringVar(&opt.driver, "driver", "", "`driver` of the network interface, such as igb")
	f.StringVar(&opt.from, "from", "", "`host` or capture that the files are for: its system, release, memory, drivers and running values")
	f.StringVar(&opt.memory, "memory", "", "the machine's memory, a `size` such as 16GiB")
	f.IntVar(&opt.cores, "cores", 0, "`number` of the machine's processors")
	f.BoolVar(&opt.fix, "fix", false, "write the corrected files, after printing the differences")
	f.BoolVar(&opt.diff, "diff", false, "print the differences that --fix would make, and change nothing")
	f.StringVar(&opt.failOn, "fail-on", "warning", "lightest `severity` that makes the exit status 1: info, warning, error or never")
	f.StringVar(&opt.level, "level", "info", "lightest `severity` that is reported: info, warning or error")
	f.StringVar(&opt.color, "color", "auto", "`when` to colour the text: auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		format, err := format()
		if err != nil {
			return err
		}
		return runLint(cmd.Context(), env, opt, args, format)
	}
	return cmd
}

func runLint(ctx context.Context, env *Env, opt lintOptions, args []string, format string) error {
	judged, err := opt.options()
	if err != nil {
		return usage(err)
	}
	if len(args) == 0 {
		return usagef("no file given; see --help")
	}
	if opt.from != "" {
		if err := env.lintFrom(ctx, opt.from, &judged); err != nil {
			return err
		}
	}
	inputs, readErr := env.readInputs(args)
	if judged.Version != "" && judged.System == "" && len(inputs) > 0 {
		if judged.System = lint.SystemOf(inputs, judged); judged.System == "" {
			return usagef("--version needs --os: the files do not tell that all are of one system")
		}
	}
	if guess := lint.GuessRelease(ctx, inputs, &judged); guess != "" {
		env.note("judged for %s; --os and --version say otherwise", guess)
	}
	c, err := catalog.Load()
	if err != nil {
		return failure(err)
	}
	res := lint.Run(c, inputs, judged)
	for _, err := range res.Errors {
		readErr = errors.Join(readErr, err)
	}
	fail := opt.failOn != "never" && res.Worst() != "" && res.Worst().AtLeast(lint.Severity(opt.failOn))
	shown := *res
	shown.Problems = slices.DeleteFunc(slices.Clone(res.Problems), func(p lint.Problem) bool { return !p.Severity.AtLeast(lint.Severity(opt.level)) })
	if opt.fix || opt.diff {
		err = env.fix(inputs, res, opt.fix)
	} else {
		err = env.writeLint(&shown, format, opt.color)
		if len(res.Files) > 0 {
			env.note("%s", lint.Summary(res))
		}
	}
	if res.Dropped > 0 {
		env.note("%d further problems are left out", res.Dropped)
	}
	switch {
	case err != nil:
		return failure(err)
	case readErr != nil:
		return usage(joinLines(readErr))
	case fail && !opt.fix && !opt.diff:
		return negative()
	}
	return nil
}

// options checks the flags.
func (o lintOptions) options() (lint.Options, error) {
	system, _, err := parseSystem(o.system, "")
	if err != nil {
		return lint.Options{}, err
	}
	var version catalog.Version
	if o.version != "" {
		if version, err = catalog.ParseVersion(o.version); err != nil {
			return lint.Options{}, err
		}
	}
	if o.kind != "" && !slices.Contains(conffile.Kinds(), conffile.Kind(o.kind)) {
		return lint.Options{}, fmt.Errorf("kind %q: one of %s is expected", o.kind, strings.Trim(fmt.Sprint(conffile.Kinds()), "[]"))
	}
	if o.role != "" && !slices.Contains(catalog.Roles(), o.role) {
		return lint.Options{}, fmt.Errorf("role %q: one of %s is expected", o.role, strings.Join(catalog.Roles(), ", "))
	}
	for _, s := range []struct {
		flag, value string
		more        []lint.Severity
	}{{"fail-on", o.failOn, []lint.Severity{"never"}}, {"level", o.level, nil}} {
		if !slices.Contains(append(lint.Severities(), s.more...), lint.Severity(s.value)) {
			return lint.Options{}, fmt.Errorf("--%s %q: info, warning or error is expected", s.flag, s.value)
		}
	}
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		return lint.Options{}, fmt.Errorf("--color %q: auto, always or never is expected", o.color)
	}
	machine, err := o.machine()
	if err != nil {
		return lint.Options{}, err
	}
	return lint.Options{System: system, Version: version, Kind: conffile.Kind(o.kind), Role: o.role, Driver: o.driver, Machine: machine}, nil
}

// machine returns what the flags say about the machine, nil when nothing.
func (o lintOptions) machine() (*lint.Machine, error) {
	in := catalog.Inputs{}
	if o.memory != "" {
		memory, err := parseMemory(o.memory, 16*units.MiB)
		if err != nil {
			return nil, err
		}
		in["memory"], in["page"] = float64(memory), 4096.0
	}
	if o.cores < 0 {
		return nil, fmt.Errorf("--cores %d: a positive number is expected", o.cores)
	}
	if o.cores > 0 {
		in["cores"] = float64(o.cores)
	}
	if len(in) == 0 {
		return nil, nil
	}
	return &lint.Machine{Inputs: in}, nil
}

// lintFrom fills in what a host or a capture tells and the flags do not.
func (e *Env) lintFrom(ctx context.Context, name string, opt *lint.Options) error {
	conn, err := e.open(ctx, name)
	if err != nil {
		return err
	}
	defer conn.Close()
	f, err := facts.Collect(ctx, conn, facts.Options{})
	if err != nil {
		return missing(err)
	}
	m := lint.MachineOf(f)
	if opt.Machine != nil {
		maps.Copy(m.Inputs, opt.Machine.Inputs)
	}
	opt.Machine = m
	if opt.System == "" {
		opt.System = f.System
	}
	if opt.Version == "" && opt.System == f.System {
		opt.Version, _ = catalog.ParseVersion(f.Release) // unknown stays unknown
	}
	return nil
}

// folderEntries bounds how many files and folders of one are looked at.
const folderEntries = 200_000

// inputsLimit bounds what is read of all files together, in bytes.
const inputsLimit = 128 * input.MiB

// readInputs reads files, the files of directories that look like
// configuration, and standard input for "-". What cannot be read is reported
// together.
func (e *Env) readInputs(args []string) ([]lint.Input, error) {
	var inputs []lint.Input
	var errs []error
	left := inputsLimit
	add := func(path, text string, err error) {
		if left -= len(text); left < 0 && err == nil {
			left, err = 0, &input.TooLarge{Name: path + " and the files before it", Limit: inputsLimit}
		}
		if err != nil {
			errs = append(errs, err)
			return
		}
		if !slices.ContainsFunc(inputs, func(in lint.Input) bool { return in.Path == path }) {
			inputs = append(inputs, lint.Input{Path: path, Text: text})
		}
	}
	for _, arg := range args {
		if arg == "-" {
			data, err := e.read("-", conffile.MaxSize)
			add("-", string(data), err)
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			add(arg, "", err)
			continue
		}
		if !info.IsDir() {
			data, err := input.File(arg, conffile.MaxSize)
			add(arg, string(data), err)
			continue
		}
		found := len(inputs)
		err = input.Walk(os.DirFS(arg), folderEntries, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			path := filepath.Join(arg, name)
			data, err := input.File(path, conffile.MaxSize)
			text := string(data)
			if err == nil && conffile.Detect(path, []byte(text[:min(len(text), conffile.DetectSize)])).Kind == "" {
				return nil
			}
			add(path, text, err)
			return nil
		})
		if err == nil && len(inputs) == found {
			err = fmt.Errorf("%s: no configuration file in this directory", arg)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return inputs, errors.Join(errs...)
}

// joinLines makes one line of joined errors.
func joinLines(err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "\nwirerate: "))
}

func (e *Env) writeLint(res *lint.Result, format, color string) error {
	switch format {
	case "json":
		return e.printJSON(res.JSON())
	case "sarif":
		return e.printJSON(res.SARIF(Version))
	}
	colour := color == "always" || color == "auto" && os.Getenv("NO_COLOR") == "" && e.columns() > 0
	return lint.WriteText(e.Stdout, res.Problems, colour)
}

// fix prints the differences that the corrections make and, when write is
// set, replaces the files.
func (e *Env) fix(inputs []lint.Input, res *lint.Result, write bool) error {
	fixed, notes, err := lint.ApplyFixes(inputs, res)
	if err != nil {
		return err
	}
	for _, f := range fixed {
		e.printf("%s", diff.Diff(f.Path, f.Old, f.Path+" (corrected)", f.New))
	}
	for _, f := range fixed {
		if !write || f.Path == "-" {
			continue
		}
		if err := replaceFile(f.Path, f.New); err != nil {
			return err
		}
		e.note("%s: %d corrections written", f.Path, f.Fixes)
	}
	for _, n := range notes {
		e.note("%s", n)
	}
	if len(fixed) == 0 {
		e.note("nothing to correct")
	}
	return nil
}

// replaceFile writes a file beside the old one and renames it into place, with
// the old one's owner and permissions: there is always one or the other. A
// symbolic link keeps pointing to its target.
func replaceFile(path string, data []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || !ok {
		return fmt.Errorf("%s: not a file that can be replaced", path)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".wirerate-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := tmp.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
		return fmt.Errorf("%s: not corrected: its owner (user %d, group %d) cannot be kept: %w", path, owner.Uid, owner.Gid, errors.Join(err, tmp.Close()))
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(info.Mode()), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	dir, err := input.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
