package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
)

// labFlags are the flags that choose a topology.
type labFlags struct {
	router bool
	access []string
	awake  func() (lab.AwakeOptions, error)
}

func (f *labFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.router, "router", false, "put a router, as a separate host, between client and server")
	cmd.Flags().StringArrayVar(&f.access, "access", nil, "`LINK` of a client to the router (implies it); once for each "+
		"client: client, client2, ...")
	f.awake = awakeFlag(cmd)
}

// awakeFlag adds --awake; the function it returns gives the choice.
func awakeFlag(cmd *cobra.Command) func() (lab.AwakeOptions, error) {
	text := cmd.Flags().String("awake", "", "keep the processors from going idle: auto, on, off; with the `share` of "+
		"their time that it may take, on:50% (default: $"+lab.AwakeVariable+", or auto)")
	return func() (lab.AwakeOptions, error) {
		awake, err := lab.ParseAwake(*text)
		return awake, usage(err)
	}
}

// topology parses LINK and the flags.
func (f *labFlags) topology(spec string) (lab.Topology, error) {
	path, err := parseLink(spec)
	if err != nil {
		return lab.Topology{}, err
	}
	var access []link.Link
	for _, spec := range f.access {
		l, err := parseLink(spec)
		if err != nil {
			return lab.Topology{}, err
		}
		access = append(access, l)
	}
	t := lab.Pair(path)
	switch {
	case len(access) > 0:
		t = lab.Shared(access, path)
	case f.router:
		t = lab.Routed(path)
	}
	if t.Awake, err = f.awake(); err != nil {
		return t, err
	}
	return t, usage(t.Validate())
}

// parseLink parses a link and reads its traces, so that what is wrong with them
// is said before anything is brought up.
func parseLink(spec string) (link.Link, error) {
	l, err := link.Parse(spec)
	if err == nil {
		err = l.CheckTraces()
	}
	return l, usage(err)
}

const labExecAbout = `exec brings up an emulated path, runs CMD on its client, and takes it down,
with everything that CMD and --serve left running. With the NAME of a running
lab (lab up) instead of LINK, CMD runs in that lab, which stays up; a lab takes
precedence over a profile of the same name.

CMD has this terminal and folder, and in its environment WIRERATE_PEER (the
server's IPv4 address; on the server the client's), WIRERATE_PEER6 (empty where
there is no IPv6), WIRERATE_LINK and each host's address, like WIRERATE_CLIENT2.
Signals reach it, and the exit status is CMD's; 128 and the number of the signal
that ended it.

With --serve a shell command runs on the server first, and is ended after CMD.
CMD starts once it, or a daemon that it left, listens on TCP or UDP, for others
than its own host, or for packets as tcpdump does; or once it has succeeded and
left none, as one that changes settings does. If it fails, CMD is not run.

After CMD a line on standard error says whether the emulator kept up, and how
late it was at the worst, if anything was carried; --json says all that the
links did. --pcap writes what both ends send and receive, 128 bytes of each
packet, for wirerate inspect --from and others that read pcapng.`

func newLabExecCmd(env *Env) *cobra.Command {
	var flags labFlags
	x := execution{}
	cmd := &cobra.Command{
		Use:   "exec LINK|NAME [--serve CMD] -- CMD [ARG...]",
		Args:  cobra.ArbitraryArgs,
		Short: "Run a program on the client of an emulated path",
		Long:  labExecAbout,
		Example: `  wirerate lab exec rate=100mbit,rtt=20ms -- sh -c 'ping -c 3 $WIRERATE_PEER'
  wirerate lab exec lte --serve 'iperf3 -s' -- \
    sh -c 'iperf3 -R -c $WIRERATE_PEER'`,
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&x.Serve, "serve", "", "shell `command` to run on the server while CMD runs")
	cmd.Flags().DurationVar(&x.Wait, "wait", 10*time.Second, "`time` within which the --serve command must listen")
	cmd.Flags().StringVar(&x.On, "on", lab.ClientHost, "`host` that CMD runs on")
	x.register(cmd)
	cmd.Flags().StringVar(&x.Pcap, "pcap", "",
		"capture packets at both ends into this `folder`: client.pcapng, server.pcapng")
	cmd.Flags().StringVar(&x.statsFile, "stats", "", "write statistics of the links to this `file`, as JSON")
	format := formatFlag(cmd, "text", "json")
	cmd.Flags().Lookup("format").Usage = "`format` of what standard error says about the links: text, json"
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
			return usagef("LINK -- CMD expected, like: wirerate lab exec rate=1gbit,rtt=80ms -- ping 10.77.0.2")
		}
		x.format = *format
		if err := x.check(cmd); err != nil {
			return err
		}
		x.Args = args[1:]
		if k, err := lab.FindKept(args[0]); err == nil {
			for _, name := range []string{"router", "access", "awake"} {
				if cmd.Flags().Changed(name) {
					return usagef("--%s is of a new lab, and %s is up already", name, k.Name)
				}
			}
			return env.execKept(cmd.Context(), k, x)
		}
		topology, err := flags.topology(args[0])
		if err != nil && lab.CheckName(args[0]) == nil {
			return usagef("%w; nor is a lab of that name up", err)
		}
		if err != nil {
			return err
		}
		topology.Awake.From = lab.AwakeExecFrom
		return env.execNew(cmd.Context(), topology, x)
	}
	return cmd
}

// check reports what of the flags cannot be meant.
func (x *execution) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("serve") && strings.TrimSpace(x.Serve) == "":
		return usagef("--serve: a command is expected")
	case cmd.Flags().Changed("stats") && x.statsFile == "":
		return usagef("--stats: a file is expected")
	case cmd.Flags().Changed("pcap") && x.Pcap == "":
		return usagef("--pcap: a folder is expected")
	case x.Wait < 0:
		return usagef("--wait %s: no less than 0s is expected", x.Wait)
	}
	return nil
}

// execution is one program to run in a lab, and what is said of it.
type execution struct {
	lab.Execution
	statsFile string
	format    string
	quiet     bool
}

func (x *execution) register(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&x.quiet, "quiet", "q", false, "do not report on an emulator that kept up")
}

func (e *Env) execNew(ctx context.Context, t lab.Topology, x execution) error {
	if !slices.Contains(t.Hosts, x.On) {
		return usagef("the lab has no host %q; it has %s", x.On, strings.Join(t.Hosts, ", "))
	}
	if err := lab.EnterUserNamespace(ctx, e.args); err != nil {
		return labError(err)
	}
	l, err := lab.Bring(ctx, t)
	if err != nil {
		return labError(err)
	}
	defer l.Close()
	return e.execIn(ctx, l, x)
}

func (e *Env) execKept(ctx context.Context, k lab.Kept, x execution) error {
	if err := k.Has(x.On); err != nil {
		return usage(err)
	}
	if err := k.Enter(ctx, e.args, e.streams()); err != nil {
		return programEnd(err)
	}
	return e.execIn(ctx, k, x)
}

// execIn runs a program, and one on the server before, and says what the links
// did meanwhile.
func (e *Env) execIn(ctx context.Context, in lab.Running, x execution) (err error) {
	if x.Pcap != "" {
		if err := os.MkdirAll(x.Pcap, 0o777); err != nil {
			return usagef("--pcap: %w", err)
		}
	}
	var stats *os.File
	if x.statsFile != "" {
		// What cannot be written is to be known before CMD has run for an hour.
		if stats, err = os.Create(x.statsFile); err != nil {
			return usagef("--stats: %w", err)
		}
		defer stats.Close()
	}
	outcome, err := x.Run(ctx, in, e.streams(), func(text string) { e.note("%s", text) })
	if err != nil {
		return programEnd(err)
	}
	if outcome.Served != 0 {
		e.note("the command on the server had ended with status %d", outcome.Served)
	}
	return e.execEnd(outcome.Status, outcome.Did, stats, x)
}

// execEnd says what the links did while the program ran that ended with status.
func (e *Env) execEnd(status int, did lab.Status, stats *os.File, x execution) error {
	kept, _ := did.KeptUp()
	data, err := indentedJSON(labRun{2, status, did.Awake, did.Arrivals, did.Links, keptUpOf(did)})
	if err != nil {
		return failure(err)
	}
	if stats != nil {
		_, err := stats.Write(data)
		if err := errors.Join(err, stats.Close()); err != nil {
			return failure(fmt.Errorf("--stats: %w", err))
		}
	}
	if x.format == "json" {
		e.Stderr.Write(data)
		return withExit(status)
	}
	for _, r := range did.Links {
		if r.KeptUp == lab.No {
			e.note("the emulator did not keep up between %s and %s: numbers are of this machine, not of the link\n"+
				"  up: %s\n  down: %s\n  %s; %s", r.From, r.To, r.Up, r.Down, did.Awake, did.Arrivals)
		}
	}
	if (kept == lab.Yes && did.Carried() > 0 || kept == lab.Unknown) && !x.quiet {
		e.note("%s", did)
	}
	return withExit(status)
}

func (e *Env) streams() lab.Streams {
	return lab.Streams{Stdin: e.Stdin, Stdout: e.rawStdout(), Stderr: e.Stderr}
}

// programEnd is what a verb returns whose programs cannot be run, or were run by
// another process.
func programEnd(err error) error {
	const notFound, notRunnable = 127, 126 // of a shell (POSIX, Shell Command Language, 2.8.2)
	var program *lab.ProgramError
	var server *lab.ServerError
	switch {
	case errors.As(err, &program), errors.As(err, &server) && (server.Status == notFound || server.Status == notRunnable):
		return missing(err)
	}
	return labError(err)
}

// withExit ends a verb with the exit status of the user's program.
func withExit(status int) error {
	if status == 0 {
		return nil
	}
	return &exitError{status, nil}
}
