package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/lab"
)

// holdReady begins the line with which a holder says that its lab is up.
const holdReady = "ready "

func newLabUpCmd(env *Env) *cobra.Command {
	var flags labFlags
	cmd := &cobra.Command{
		Use:   "up NAME [LINK]",
		Short: "Bring up a lab that stays until lab down",
		Long: `up brings up a lab in the background. LINK may be left out where NAME is a
profile. Programs run on its hosts with lab shell; as root also with
ip netns exec NAME-HOST, and as hosts ns:NAME-client and ns:NAME-server.`,
		Example: `  wirerate lab up lte
  wirerate lab up slow rate=none --access rate=1gbit --access rate=100mbit`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec := args[len(args)-1]
			if _, err := flags.topology(spec); err != nil {
				return err
			}
			if err := lab.CheckName(args[0]); err != nil {
				return usage(err)
			}
			self := []string{"lab", "hold", args[0], spec}
			for _, a := range flags.access {
				self = append(self, "--access", a)
			}
			if flags.router {
				self = append(self, "--router")
			}
			if mode, _ := flags.awake(); mode != "" {
				self = append(self, "--awake", string(mode))
			}
			kept, err := background(self)
			if err != nil {
				return err
			}
			printLab(env.Stdout, kept)
			for _, r := range kept.Restrictions {
				env.note("%s", r)
			}
			return nil
		},
	}
	flags.register(cmd)
	return cmd
}

// background runs this program again in a session of its own and returns the
// record of the lab that it holds once it is up.
func background(args []string) (lab.Kept, error) {
	text, status, err := lab.Background(args, holdReady)
	if err != nil {
		return lab.Kept{}, failure(err)
	}
	// The holder says in its first line that the lab is up, or why it is not.
	if record, ok := strings.CutPrefix(text, holdReady); ok {
		var k lab.Kept
		err := json.Unmarshal([]byte(record), &k)
		return k, failure(err)
	}
	if status <= 0 {
		status = exitFailure
	}
	if text = strings.TrimSpace(strings.TrimPrefix(text, "wirerate: ")); text == "" {
		text = "the process that was to hold the lab ended without a word"
	}
	return lab.Kept{}, withStatus(status, errors.New(text))
}

// newLabHoldCmd is what lab up runs in the background.
func newLabHoldCmd(env *Env) *cobra.Command {
	var flags labFlags
	cmd := &cobra.Command{
		Use:    "hold NAME LINK",
		Hidden: true,
		Args:   exactArgs(2, "NAME LINK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			topology, err := flags.topology(args[1])
			if err != nil {
				return err
			}
			if err := lab.EnterUserNamespace(); err != nil {
				return labError(err)
			}
			err = lab.Hold(cmd.Context(), args[0], topology, func(k lab.Kept) {
				data, _ := json.Marshal(k)
				fmt.Fprintf(env.Stdout, "%s%s\n", holdReady, data)
			})
			if errors.Is(err, lab.ErrNameTaken) {
				return usage(err)
			}
			return labError(err)
		},
	}
	flags.register(cmd)
	return cmd
}

func printLab(w io.Writer, k lab.Kept) {
	fmt.Fprintf(w, "%s\n", k.Name)
	for _, l := range k.Links {
		fmt.Fprintf(w, "  %s\n", l)
	}
	fmt.Fprintf(w, "  %s\n", k.Awake)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, h := range k.Hosts {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", h.Name, h.IPv4, h.IPv6, h.Netns)
	}
	t.Flush()
}

func newLabListCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the labs that are up", Args: exactArgs(0, "no arguments")}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		how, err := format()
		if err != nil {
			return err
		}
		labs, err := lab.KeptLabs()
		if err != nil {
			return failure(err)
		}
		if how == "json" {
			return env.printJSON(map[string]any{"schema": 1, "labs": labs})
		}
		for _, k := range labs {
			printLab(env.Stdout, k)
		}
		return nil
	}
	return cmd
}

func newLabDownCmd(_ *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "down NAME",
		Short: "Take down a lab, with everything that runs in it",
		Args:  exactArgs(1, "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := lab.TakeDown(cmd.Context(), args[0])
			if errors.Is(err, lab.ErrNoSuchLab) {
				return usage(err)
			}
			return failure(err)
		},
	}
}

func newLabShellCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:     "shell NAME [HOST] [-- CMD [ARG...]]",
		Short:   "Run a shell, or CMD, on a host of a lab (default: client)",
		Example: "  wirerate lab shell sat server -- iperf3 -s",
		RunE: func(cmd *cobra.Command, args []string) error {
			named, program := args, []string(nil)
			if i := cmd.ArgsLenAtDash(); i >= 0 {
				named, program = args[:i], args[i:]
			}
			if len(named) < 1 || len(named) > 2 {
				return usagef("NAME [HOST] expected; see --help")
			}
			if len(program) == 0 {
				program = []string{"sh"}
				if shell := os.Getenv("SHELL"); shell != "" {
					program[0] = shell
				}
			}
			name := lab.ClientHost
			if len(named) == 2 {
				name = named[1]
			}
			return env.shellIn(cmd.Context(), named[0], name, program)
		},
	}
}

func (e *Env) shellIn(ctx context.Context, labName, hostName string, program []string) error {
	k, err := lab.FindKept(labName)
	if err != nil {
		return usage(err)
	}
	h, err := k.Host(hostName)
	if err != nil {
		return usage(err)
	}
	self := append([]string{"lab", "shell", labName, hostName, "--"}, program...)
	status, err := k.Run(ctx, h, program, e.streams(), self)
	return programEnd(status, err)
}
