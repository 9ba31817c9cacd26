package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/lab"
)

// labFlags are the flags that choose a topology.
type labFlags struct {
	router bool
	access []string
	awake  func() (lab.AwakeMode, error)
}

func (f *labFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.router, "router", false, "put a router, a host of its own, between client and server")
	cmd.Flags().StringArrayVar(&f.access, "access", nil, "`LINK` of a client to the router (implies it); once for each client: client, client2, ...")
	f.awake = awakeFlag(cmd)
}

// awakeFlag adds --awake; the function it returns gives the choice.
func awakeFlag(cmd *cobra.Command) func() (lab.AwakeMode, error) {
	text := cmd.Flags().String("awake", "", "keep the processors from going idle: auto, on, off (default: $"+lab.AwakeVariable+", or auto)")
	return func() (lab.AwakeMode, error) {
		mode, err := lab.ParseAwake(*text)
		return mode, usage(err)
	}
}

// topology parses LINK and the flags.
func (f *labFlags) topology(spec string) (lab.Topology, error) {
	link, err := parseLink(spec)
	if err != nil {
		return lab.Topology{}, err
	}
	var access []lab.Link
	for _, spec := range f.access {
		l, err := parseLink(spec)
		if err != nil {
			return lab.Topology{}, err
		}
		access = append(access, l)
	}
	t := lab.Pair(link)
	switch {
	case len(access) > 0:
		t = lab.Shared(access, link)
	case f.router:
		t = lab.Routed(lab.Link{Framing: lab.FramingEthernet, MTU: link.MTU}, link)
	}
	t.Awake, err = f.awake()
	return t, err
}

// parseLink parses a link and reads its traces, so that what is wrong with them
// is said before anything is brought up.
func parseLink(spec string) (lab.Link, error) {
	link, err := lab.ParseLink(spec)
	if err != nil {
		return link, usage(err)
	}
	for _, d := range []lab.Direction{link.Up, link.Down} {
		if d.Trace == "" {
			continue
		}
		if _, err := lab.LoadTrace(d.Trace); err != nil {
			return link, usage(err)
		}
	}
	return link, nil
}

func newLabExecCmd(env *Env) *cobra.Command {
	var flags labFlags
	var serve, on, stats string
	cmd := &cobra.Command{
		Use:   "exec LINK [--serve CMD] -- CMD [ARG...]",
		Short: "Run a program on the client of an emulated path",
		Long: `exec brings up an emulated path, runs CMD on its client, and takes it down. CMD
has this terminal and folder, and in its environment WIRERATE_PEER (the server's
IPv4 address), WIRERATE_PEER6 and WIRERATE_LINK. With --serve a shell command
runs on the server first; CMD starts once it listens. The exit status is CMD's.`,
		Example: `  wirerate lab exec rate=100mbit,rtt=20ms -- sh -c 'ping -c 3 $WIRERATE_PEER'
  wirerate lab exec lte --serve 'iperf3 -s' -- sh -c 'iperf3 -R -c $WIRERATE_PEER'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
				return usagef("LINK -- CMD expected, like: wirerate lab exec rate=1gbit,rtt=80ms -- ping 10.77.0.2")
			}
			topology, err := flags.topology(args[0])
			if err != nil {
				return err
			}
			if err := lab.EnterUserNamespace(); err != nil {
				return labError(err)
			}
			l, err := lab.Bring(cmd.Context(), topology)
			if err != nil {
				return labError(err)
			}
			defer l.Close()
			return env.execIn(cmd.Context(), l, execution{on: on, args: args[1:], serve: serve, stats: stats})
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&serve, "serve", "", "shell `command` to run on the server meanwhile")
	cmd.Flags().StringVar(&on, "on", lab.ClientHost, "`host` that CMD runs on")
	cmd.Flags().StringVar(&stats, "stats", "", "write what the links did as JSON to this `file`")
	return cmd
}

// execution is one program to run in a lab.
type execution struct {
	on    string
	args  []string
	serve string
	stats string
}

func (e *Env) execIn(ctx context.Context, l *lab.Lab, x execution) error {
	if x.serve != "" {
		end, err := l.Serve(x.serve, e.Stderr)
		if err != nil {
			return failure(err)
		}
		defer end()
		if !l.AwaitListener(ctx, lab.ServerHost, 3*time.Second) {
			e.note("nothing listens on the server after 3 s; going on")
		}
	}
	status, err := l.Run(ctx, x.on, x.args, e.streams())
	for _, r := range l.Report() {
		if !r.KeptUp {
			e.note("the emulator did not keep up between %s and %s: numbers are of this machine, not of the link\n  up: %s\n  down: %s\n  %s", r.From, r.To, r.Up, r.Down, l.Awake())
		}
	}
	if x.stats != "" {
		data, jsonErr := json.MarshalIndent(map[string]any{"schema": 1, "awake": l.Awake(), "links": l.Report()}, "", "  ")
		err = errors.Join(err, jsonErr, os.WriteFile(x.stats, append(data, '\n'), 0o644))
	}
	return programEnd(status, err)
}

func (e *Env) streams() lab.Streams {
	return lab.Streams{Stdin: e.Stdin, Stdout: e.rawStdout(), Stderr: e.Stderr}
}

// programEnd is what a verb returns that ran the user's program.
func programEnd(status int, err error) error {
	switch {
	case errors.Is(err, lab.ErrNoProgram):
		return missing(err)
	case err != nil:
		return failure(err)
	case status != 0:
		return &exitError{status, nil}
	}
	return nil
}
