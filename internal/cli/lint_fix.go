package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/terminal"
)

// showFixes prints the corrections as a patch and, when write is set, replaces
// the files. What remains is listed on standard error.
func (e *Env) showFixes(done lint.Correction, write, quiet bool) error {
	var refused []error
	for _, f := range done.Fixed {
		if f.Path == "-" && write {
			refused = append(refused, errors.New("-: standard input cannot be corrected in its place; "+
				"--diff prints the corrections"))
			continue
		}
		patch, err := patchOf(f)
		switch {
		case err != nil && !write:
			refused = append(refused, err)
		case err == nil:
			if _, err := e.rawStdout().Write(patch); err != nil {
				return failure(err)
			}
		}
		if !write {
			continue
		}
		backup, err := keepBackup(f.Path, f.Old)
		if err == nil {
			err = replaceFile(f.Path, f.New)
		}
		if err != nil {
			return failure(err)
		}
		e.note("%s: %s written; the old file is %s", f.Path, corrections(f.Fixes), backup)
	}
	e.noteAll(done.Notes)
	if len(done.Fixed) == 0 && !quiet {
		e.note("nothing to correct")
	}
	for _, p := range done.Left.Problems {
		if p.Severity.AtLeast(lint.Warning) && !quiet {
			e.note("remains: %s:%d: %s: %s [%s]", p.File, p.Line, p.Severity, p.Message, p.Code)
		}
	}
	return usage(errors.Join(refused...))
}

func corrections(n int) string {
	if n == 1 {
		return "1 correction"
	}
	return fmt.Sprintf("%d corrections", n)
}

// patchOf returns the corrections of a file as patch(1) takes them. Names are
// written without the leading slash, which patch refuses: an absolute path is
// patched with patch -d / -p0.
func patchOf(f lint.Fixed) ([]byte, error) {
	name := strings.TrimPrefix(filepath.ToSlash(f.Path), "/")
	if f.Path == "-" {
		name = "stdin"
	}
	if strings.ContainsAny(name, " \t") || terminal.Escape(name) != name {
		return nil, fmt.Errorf("%s: no patch: patch(1) does not read such a name; --fix corrects the file", f.Path)
	}
	patch := diff.Diff(name, f.Old, name, f.New)
	if _, rest, ok := bytes.Cut(patch, []byte("\n")); ok {
		patch = rest // the first line is a diff command, which patch does not need
	}
	plain := strings.ReplaceAll(string(patch), "\r\n", "\n")
	if terminal.Escape(plain) != plain {
		return nil, fmt.Errorf("%s: no patch: the lines hold control characters, which a terminal would "+
			"obey; --fix corrects the file", f.Path)
	}
	return patch, nil
}

// keepBackup keeps the old file beside the new one, under a name that no
// reader of configuration folders takes, and returns it.
func keepBackup(path string, old []byte) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	dir, base := filepath.Split(path)
	if strings.HasSuffix(strings.TrimSuffix(dir, "/"), ".d") || strings.HasPrefix(base, "hostname.") {
		base = "." + base // every file of such a folder may be read
	}
	for n := 1; ; n++ {
		backup := filepath.Join(dir, base+".orig")
		if n > 1 {
			backup += fmt.Sprintf(".%d", n)
		}
		err := os.Link(path, backup)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil { // a file system without links
			err = copyNew(path, backup, old)
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return backup, err
	}
}

// copyNew writes data to a new file with the permissions of another.
func copyNew(like, path string, data []byte) error {
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// replaceFile writes a file beside the old one and renames it into place, with
// the old one's owner and permissions: there is always one or the other. A
// symbolic link keeps pointing to its target.
func replaceFile(path string, data []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || !ok {
		return fmt.Errorf("%s: not a file that can be replaced", path)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".wirerate-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := tmp.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
		return fmt.Errorf("%s: not corrected: its owner (user %d, group %d) cannot be kept: %w", path, owner.Uid,
			owner.Gid, errors.Join(err, tmp.Close()))
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(info.Mode()), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	dir, err := input.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
