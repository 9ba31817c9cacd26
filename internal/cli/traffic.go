package cli

import (
	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/workload"
)

// newTrafficCmd is the built-in generator, which runs on both hosts of a
// measurement.
func newTrafficCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:    workload.TrafficVerb + " serve ADDR | send ADDR STREAMS DIRECTION OMIT TIME",
		Hidden: true,
		Short:  "One end of the built-in traffic generator",
		RunE: func(cmd *cobra.Command, args []string) error {
			return failure(workload.Traffic(cmd.Context(), args, env.Stdout))
		},
	}
}
