package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/report"
)

type lintOptions struct {
	system, version, kind, role, driver string
	from, memory                        string
	cores                               int
	fix, diff, quiet, verbose           bool
	failOn, level, color, config        string
	ignore                              []string
}

func newLintCmd(env *Env) *cobra.Command {
	var opt lintOptions
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Args:  cobra.ArbitraryArgs,
		Short: "Find dead, misplaced and harmful lines of configuration",
		Long: `Judge sysctl.conf, sysctl.d, loader.conf, rc.conf, hostname.if, mygate,
pf.conf, relayd.conf, login.conf, jail.conf, kernel configurations of
FreeBSD, config.boot of VyOS, systemd .link and .network files, ifupdown
interfaces, modprobe.d, modules-load.d, limits.conf, nftables.conf,
iptables-save files, wg-quick files, netplan, ifcfg files, NetworkManager
connections, udev rules, OpenWrt's /etc/config, kernel command lines, TuneD
profiles, limits in systemd units, scripts, guides, and the sysctls and
commands in Ansible tasks, cloud-init, Kubernetes manifests, and Nix,
Puppet, Chef and Terraform files, by the catalog. System, kind and machine
are guessed from path and content; files of one machine are read in the
order that the system uses.

A comment "# wirerate: ignore CODE reason" suppresses a code on its line or,
alone, on the next one. explain CODE says what a code means. A file
.wirerate.yaml in the folder of the files or above it holds flags by their
names: os, version, role, driver, memory, cores, ignore, level, fail-on.

--fix keeps each old file beside the new one as FILE.orig, lists what remains,
and exits with 1 when that reaches --fail-on.`,
		Example: `  wirerate lint /etc/sysctl.conf /etc/sysctl.d
  wirerate lint --os freebsd --version 14.2 loader.conf sysctl.conf
  wirerate lint --diff sysctl.conf
  wirerate lint --format sarif etc/ > lint.sarif`,
	}
	format := formatFlag(cmd, "text", "json", "sarif", "github", "gitlab", "checkstyle", "junit")
	f := cmd.Flags()
	f.StringVar(&opt.system, "os", "", "`system`: freebsd, openbsd or linux (default: guessed)")
	f.StringVar(&opt.version, "version", "", "`release` of the system, such as 14.2 (default: the running one for this "+
		"machine's own files, otherwise what all described releases share)")
	f.StringVar(&opt.kind, "kind", "",
		"`kind` of the files, such as sysctl.conf, loader.conf, rc.conf, script (default: guessed)")
	roleVar(f, &opt.role, "", "`role` of the host: "+strings.Join(catalog.Roles(), ", "))
	f.StringVar(&opt.driver, "driver", "", "`driver` of the network interface, such as igb")
	f.StringVar(&opt.from, "from", "",
		"`host` or capture that the files are for: its system, release, memory, drivers and running values")
	f.StringVar(&opt.memory, "memory", "", "the machine's memory, a `size` such as 16GiB")
	f.IntVar(&opt.cores, "cores", 0, "`number` of the machine's processors")
	f.BoolVar(&opt.fix, "fix", false, "write the corrected files, after printing the differences")
	f.BoolVar(&opt.diff, "diff", false, "show what --fix would change, without changing anything")
	f.StringVar(&opt.failOn, "fail-on", "warning",
		"lowest `severity` that makes the exit status 1: info, warning, error or never")
	f.StringVar(&opt.level, "level", "info", "lowest `severity` that is reported: info, warning or error")
	f.StringSliceVar(&opt.ignore, "ignore", nil, "`codes` not to report, such as same-as-default,duplicate")
	f.StringVar(&opt.config, "config", "",
		"`file` with flags, or none (default: "+lintConfigName+" found upwards from the files)")
	f.BoolVarP(&opt.quiet, "quiet", "q", false, "print only errors on standard error, no notes")
	f.BoolVar(&opt.verbose, "verbose", false, "show each line that sets a default, not one summary per file")
	f.StringVar(&opt.color, "color", "auto", "`when` to colour the text: auto, always or never")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return runLint(cmd.Context(), env, opt, args, *format, cmd.Flags())
	}
	return cmd
}

func runLint(ctx context.Context, env *Env, opt lintOptions, args []string, format string, flags *pflag.FlagSet) error {
	if len(args) == 0 {
		return usagef("no file given; see --help")
	}
	if err := env.configureLint(&opt, args, flags); err != nil {
		return usage(err)
	}
	judged, err := opt.options()
	if err != nil {
		return usage(err)
	}
	basis := ""
	if opt.from != "" {
		if err := env.lintFrom(ctx, opt.from, &judged); err != nil {
			return err
		}
		basis = "from " + opt.from
	}
	if !opt.fix {
		defer env.stopAtOnce()()
	}
	inputs, readErr := env.readInputs(args)
	if judged.Version != "" && judged.System == "" && len(inputs) > 0 {
		if judged.System = lint.SystemOf(inputs, judged); judged.System == "" {
			return usagef("--version needs --os: the files do not tell that all are of one system")
		}
	}
	if opt.version != "" && judged.System != "" {
		if err := lint.CheckRelease(judged.System, judged.Version); err != nil {
			return usage(err)
		}
	}
	if guess := lint.GuessRelease(ctx, inputs, &judged); guess != "" {
		basis = guess
	}
	c, err := catalog.Load()
	if err != nil {
		return failure(err)
	}
	res := lint.Run(c, inputs, judged)
	for _, err := range res.Errors {
		readErr = errors.Join(readErr, err)
	}
	if !opt.quiet && (opt.system == "" || opt.version == "") {
		env.noteAll(report.LintBasis(res, basis))
	}
	res, err = env.showLint(c, inputs, judged, res, opt, format)
	switch {
	case err != nil:
		return err
	case readErr != nil:
		return usage(joinLines(readErr))
	case opt.failOn != "never" && res.Worst() != "" && res.Worst().AtLeast(lint.Severity(opt.failOn)):
		return negative()
	}
	return nil
}

// configureLint reads the configuration file, given or found.
func (e *Env) configureLint(opt *lintOptions, args []string, flags *pflag.FlagSet) error {
	path := opt.config
	switch path {
	case "none":
		return nil
	case "":
		found, err := findLintConfig(args)
		if err != nil || found == "" {
			return err
		}
		path = found
	}
	if err := opt.configure(path, flags); err != nil {
		return err
	}
	if !opt.quiet && opt.config == "" {
		e.note("settings of %s; --config none leaves them out", path)
	}
	return nil
}

// showLint prints the problems, or corrects the files, and returns what the
// exit status is about.
func (e *Env) showLint(c *catalog.Catalog, inputs []lint.Input, judged lint.Options, res *lint.Result, opt lintOptions,
	format string) (*lint.Result, error) {
	if opt.fix || opt.diff {
		done, err := lint.Correct(c, inputs, judged)
		if err != nil {
			return nil, failure(err)
		}
		return done.Left, e.showFixes(done, opt.fix, opt.quiet)
	}
	shown := *res
	shown.Problems = slices.DeleteFunc(slices.Clone(res.Problems),
		func(p lint.Problem) bool { return !p.Severity.AtLeast(lint.Severity(opt.level)) })
	if err := e.writeLint(&shown, format, opt); err != nil {
		return nil, failure(err)
	}
	if len(res.Files) > 0 && !opt.quiet {
		e.note("%s", report.LintSummary(res))
	}
	if res.Dropped > 0 && !opt.quiet {
		e.note("%d further problems are left out", res.Dropped)
	}
	return res, nil
}

func (e *Env) writeLint(res *lint.Result, format string, opt lintOptions) error {
	switch format {
	case "json":
		return e.printJSON(res.JSON())
	case "sarif":
		return e.printJSON(report.LintSARIF(res, Version))
	case "github":
		return report.LintGitHub(e.Stdout, res.Problems)
	case "gitlab":
		return e.printJSON(report.LintGitLab(res.Problems))
	case "checkstyle":
		return report.LintCheckstyle(e.Stdout, res)
	case "junit":
		return report.LintJUnit(e.Stdout, res)
	}
	colour := opt.color == "always" || opt.color == "auto" && os.Getenv("NO_COLOR") == "" && e.columns() > 0
	return report.LintText(e.Stdout, res.Problems, report.LintLook{Colour: colour, Verbose: opt.verbose})
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
		return lint.Options{}, fmt.Errorf("kind %q: one of %s is expected",
			o.kind, strings.Trim(fmt.Sprint(conffile.Kinds()), "[]"))
	}
	if o.role != "" {
		if err := checkRole(o.role); err != nil {
			return lint.Options{}, err
		}
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
	if err := checkCodes(o.ignore); err != nil {
		return lint.Options{}, err
	}
	machine, err := o.machine()
	if err != nil {
		return lint.Options{}, err
	}
	return lint.Options{System: system, Version: version, Kind: conffile.Kind(o.kind), Role: o.role, Driver: o.driver,
		Machine: machine, Ignore: o.ignore}, nil
}

// machine returns what the flags say about the machine, nil when nothing.
func (o lintOptions) machine() (*lint.Machine, error) {
	in := catalog.Inputs{}
	if o.memory != "" {
		memory, err := memorySize(o.memory)
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
