package cli

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is set by the linker (make build).
var Version = "devel"

// licenses are the notices of all that is linked, compressed; made by
// tools/genlicenses.
//
//go:embed licenses.txt.gz
var licenses []byte

func newVersionCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, or the licences of what is in it",
		Args:  exactArgs(0, "no argument is"),
	}
	format := formatFlag(cmd, "text", "json")
	notices := cmd.Flags().Bool("licenses", false, "print the licence notices of all components of the program")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *notices {
			if *format == "json" {
				return usagef("--licenses is text: no --json goes with it")
			}
			return env.printLicenses()
		}
		if *format == "json" {
			return env.printJSON(versionInfo{1, Version, runtime.GOOS, runtime.GOARCH, goVersion()})
		}
		_, err := fmt.Fprint(env.Stdout, versionText())
		return failure(err)
	}
	return cmd
}

func (e *Env) printLicenses() error {
	z, err := gzip.NewReader(bytes.NewReader(licenses))
	if err == nil {
		_, err = io.Copy(e.Stdout, z)
	}
	return failure(err)
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
