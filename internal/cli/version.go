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
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactArgs(0, "no argument is"),
	}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		form, err := format()
		if err != nil {
			return err
		}
		if form == "json" {
			return env.printJSON(map[string]any{"schema": 1, "version": Version, "os": runtime.GOOS, "arch": runtime.GOARCH, "go": goVersion()})
		}
		_, err = fmt.Fprint(env.Stdout, versionText())
		return failure(err)
	}
	return cmd
}

func versionText() string {
	return fmt.Sprintf("wirerate %s %s/%s %s\n", Version, runtime.GOOS, runtime.GOARCH, goVersion())
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return runtime.Version()
}
