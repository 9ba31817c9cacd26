package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/lab"
)

func newLabUpCmd(env *Env) *cobra.Command {
	var flags labFlags
	var format *string
	cmd := &cobra.Command{
		Use:   "up NAME [LINK]",
		Args:  argsFrom(1, 2, "NAME [LINK]"),
		Short: "Bring up a lab that stays until lab down",
		Long: `up brings up a lab in the background. LINK can be omitted if NAME is a
profile. Programs run on its hosts with lab shell and lab exec NAME; as root
also with ip netns exec NAME-HOST, and as hosts ns:NAME-client and
ns:NAME-server. lab list shows statistics of the links so far.`,
		Example: `  wirerate lab up lte
  wirerate lab up slow rate=none --access rate=1gbit --access rate=100mbit`,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec := args[len(args)-1]
			topology, err := flags.topology(spec)
			if err != nil {
				return err
			}
			if err := lab.CheckName(args[0]); err != nil {
				return usage(err)
			}
			self := []string{"lab", "hold", args[0], spec, "--awake", topology.Awake.String()}
			for _, a := range flags.access {
				self = append(self, "--access", a)
			}
			if flags.router {
				self = append(self, "--router")
			}
			kept, err := lab.HoldInBackground(cmd.Context(), self)
			if err != nil {
				return holderError(err)
			}
			if *format == "json" {
				err = env.printJSON(labUp{1, kept})
			} else {
				err = printLab(env.Stdout, kept)
			}
			if err != nil { // whoever asked does not know of it
				return failure(errors.Join(fmt.Errorf("lab %s is taken down again: %w", kept.Name, err),
					kept.TakeDown(cmd.Context())))
			}
			if *format == "json" {
				return nil
			}
			env.noteAll(kept.Restrictions)
			return nil
		},
	}
	flags.register(cmd)
	format = formatFlag(cmd, "text", "json")
	return cmd
}

// holderError is what lab up returns where no process holds the lab.
func holderError(err error) error {
	if ended := (*lab.HolderError)(nil); errors.As(err, &ended) && ended.Status > 0 {
		return withStatus(ended.Status, err)
	}
	return failure(err)
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
			if err := lab.EnterUserNamespace(cmd.Context(), env.args); err != nil {
				return labError(err)
			}
			err = lab.Hold(cmd.Context(), args[0], topology, func(k lab.Kept) {
				k.Announce(env.Stdout) // who does not read it sees that this ends
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

func printLab(w io.Writer, k lab.Kept) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\n", k.Name)
	for _, l := range k.Links {
		fmt.Fprintf(&text, "  %s - %s: %s\n", l.From, l.To, l.Link)
	}
	fmt.Fprintf(&text, "  %s\n", k.Awake)
	if took := k.Awake.Took(); took != "" {
		fmt.Fprintf(&text, "  %s\n", took)
	}
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, h := range k.Hosts {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", h.Name, h.IPv4, h.IPv6, h.Netns)
	}
	t.Flush()
	_, err := w.Write(text.Bytes())
	return err
}

// labNow is a lab that is up, with what it did so far where it says so.
type labNow struct {
	lab.Kept
	Status *lab.Status `json:"status,omitempty"`
}

func newLabListCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the labs that are up, and what their links did",
		Args: exactArgs(0, "no arguments")}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		kept, err := lab.KeptLabs()
		if err != nil {
			return failure(err)
		}
		labs := make([]labNow, len(kept))
		for i, k := range kept {
			labs[i].Kept = k
			if status, err := k.Status(cmd.Context()); err == nil {
				labs[i].Status, labs[i].Awake = &status, status.Awake
			} else {
				env.note("%v", err)
			}
		}
		if *format == "json" {
			return env.printJSON(labList{1, labs})
		}
		for _, l := range labs {
			if err := printLab(env.Stdout, l.Kept); err != nil {
				return failure(err)
			}
			l.printStatus(env.Stdout)
		}
		return nil
	}
	return cmd
}

func (l labNow) printStatus(w io.Writer) {
	if l.Status == nil {
		return
	}
	for _, r := range l.Status.Links {
		if r.Up == nil || r.Down == nil {
			fmt.Fprintf(w, "  %s and %s: unknown, %s\n", r.From, r.To, r.Unknown)
			continue
		}
		fmt.Fprintf(w, "  %s to %s: %s\n  %s to %s: %s\n", r.From, r.To, r.Up, r.To, r.From, r.Down)
	}
}

func newLabDownCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "down NAME",
		Short: "Take down a lab, with everything that runs in it",
		Args:  exactArgs(1, "NAME"),
	}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		k, err := lab.FindKept(args[0])
		if errors.Is(err, lab.ErrNoSuchLab) {
			return usage(err)
		}
		if err != nil {
			return failure(err)
		}
		status, unknown := k.Status(cmd.Context())
		if err := k.TakeDown(cmd.Context()); err != nil {
			return failure(err)
		}
		switch {
		case *format == "json" && unknown == nil:
			kept := keptUpOf(status)
			return env.printJSON(labDown{Schema: 2, Name: k.Name, Status: &status, keptUp: &kept})
		case *format == "json":
			return env.printJSON(labDown{Schema: 2, Name: k.Name, Unknown: unknown.Error()})
		case unknown == nil && status.Carried() > 0:
			env.note("%s", status)
		}
		return nil
	}
	return cmd
}

func newLabShellCmd(env *Env) *cobra.Command {
	x := execution{format: "text"}
	cmd := &cobra.Command{
		Use:     "shell NAME [HOST] [-- CMD [ARG...]]",
		Args:    cobra.ArbitraryArgs,
		Short:   "Run a shell, or CMD, on a host of a lab (default: client)",
		Example: "  wirerate lab shell sat server -- iperf3 -s",
		RunE: func(cmd *cobra.Command, args []string) error {
			named := args
			if i := cmd.ArgsLenAtDash(); i >= 0 {
				named, x.Args = args[:i], args[i:]
			}
			if len(named) < 1 || len(named) > 2 {
				return usagef("NAME [HOST] expected, %d arguments given; see --help", len(named))
			}
			if len(x.Args) == 0 {
				x.Args = []string{"sh"}
				if shell := os.Getenv("SHELL"); shell != "" {
					x.Args[0] = shell
				}
			}
			x.On = lab.ClientHost
			if len(named) == 2 {
				x.On = named[1]
			}
			k, err := lab.FindKept(named[0])
			if err != nil {
				return usage(err)
			}
			return env.execKept(cmd.Context(), k, x)
		},
	}
	x.register(cmd)
	return cmd
}
