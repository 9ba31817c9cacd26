package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is set by the linker (make build).
var Version = "devel"

func newVersionCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactArgs(0, "no argument is"),
		RunE: func(*cobra.Command, []string) error {
			goVersion := runtime.Version()
			if info, ok := debug.ReadBuildInfo(); ok {
				goVersion = info.GoVersion
			}
			_, err := fmt.Fprintf(env.Stdout, "wirerate %s %s/%s %s\n", Version, runtime.GOOS, runtime.GOARCH, goVersion)
			return err
		},
	}
}
