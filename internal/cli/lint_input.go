package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lint"
)

// folderEntries bounds how many files and folders of one are looked at.
const folderEntries = 200_000

// inputsLimit bounds what is read of all files together, in bytes.
const inputsLimit = 128 * input.MiB

// readInputs reads files, the files of directories that look like
// configuration, and standard input for "-". What cannot be read is reported
// together.
func (e *Env) readInputs(args []string) ([]lint.Input, error) {
	var inputs []lint.Input
	var errs []error
	left := inputsLimit
	add := func(path, text string, err error) {
		if left -= len(text); left < 0 && err == nil {
			left, err = 0, &input.TooLarge{Name: path + " and the files before it", Limit: inputsLimit}
		}
		if err != nil {
			errs = append(errs, err)
			return
		}
		if !slices.ContainsFunc(inputs, func(in lint.Input) bool { return in.Path == path }) {
			inputs = append(inputs, lint.Input{Path: path, Text: text, Beside: beside(path)})
		}
	}
	for _, arg := range args {
		if arg == "-" {
			data, err := e.read("-", conffile.MaxSize)
			add("-", string(data), err)
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			add(arg, "", err)
			continue
		}
		if !info.IsDir() {
			data, err := input.File(arg, conffile.MaxSize)
			add(arg, string(data), err)
			continue
		}
		found := len(inputs)
		err = input.Walk(os.DirFS(arg), folderEntries, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			path := filepath.Join(arg, name)
			data, err := input.File(path, conffile.MaxSize)
			text := string(data)
			if err == nil && conffile.Detect(path, []byte(text[:min(len(text), conffile.DetectSize)])).Kind == "" {
				return nil
			}
			add(path, text, err)
			return nil
		})
		if err == nil && len(inputs) == found {
			err = fmt.Errorf("%s: no configuration file in this directory", arg)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return inputs, errors.Join(errs...)
}

// besideEntries bounds how many names of a directory are read.
const besideEntries = 2000

// beside returns the names of the files in the directory of a file.
func beside(path string) []string {
	if path == "-" {
		return nil
	}
	dir, err := input.Open(filepath.Dir(path))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(besideEntries)
	if err != nil {
		return nil
	}
	return names
}

// joinLines makes one line of joined errors.
func joinLines(err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "\nwirerate: "))
}
