package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/outdir"
)

// outputFolder is the folder of -o.
type outputFolder struct {
	dir   string // "" without one
	force bool   // replace what wirerate did not write
}

// declare adds the flags of a verb that writes a folder; holds says what of.
func (o *outputFolder) declare(cmd *cobra.Command, holds string) {
	flags := cmd.Flags()
	flags.StringVarP(&o.dir, "output", "o", "", "`folder` for "+holds)
	flags.BoolVar(&o.force, "force", false, "with -o, also replace files that wirerate did not write or "+
		"that have been changed since")
}

// check makes sure early that the folder can be written, and that none of the
// names in it is somebody else's file.
func (o outputFolder) check(names ...string) error {
	if o.dir == "" {
		return nil
	}
	if o.dir == "-" {
		return errors.New("-o - : -o names a folder for several files; --json writes to standard output")
	}
	folder, err := outdir.Open(o.dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Check(o.force, names...); err != nil {
		return err
	}
	return folder.Write(nil, o.force)
}

// write puts files into the folder: all, or none when one may not be replaced.
func (o outputFolder) write(files ...outdir.File) error {
	folder, err := outdir.Open(o.dir)
	if err != nil {
		return failure(err)
	}
	defer folder.Close()
	err = folder.Write(files, o.force)
	if errors.Is(err, outdir.ErrForeign) || errors.Is(err, outdir.ErrLink) {
		return usage(err)
	}
	return failure(err)
}
