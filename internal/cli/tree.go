package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// Tree returns the program's commands, for the manual that tools/gendocs
// makes of them.
func Tree() *cobra.Command {
	return newRootCmd(&Env{Stdout: io.Discard, Stderr: io.Discard})
}
