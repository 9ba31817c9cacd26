package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/lab/link"
)

func newLabProfilesCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profiles",
		Short: "List the named links and where their numbers come from",
		Args:  exactArgs(0, "no arguments"),
	}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *format == "json" {
			return env.printJSON(labProfiles{1, link.Profiles()})
		}
		w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
		for _, p := range link.Profiles() {
			fmt.Fprintf(w, "%s\t%s\t%s\n\t\t%s\n", p.Name, p.Link, p.About, p.Source)
		}
		return w.Flush()
	}
	return cmd
}
