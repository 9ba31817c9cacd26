package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/lock"
)

// tempDir is a folder for what lives as long as this process, which holds the
// lock in it.
type tempDir struct {
	path string
	held *lock.Lock
}

// makeTempDir makes a folder, and removes those of its kind whose owner was
// killed.
func makeTempDir(kind string) (tempDir, error) {
	prefix := "wirerate-" + kind + "-"
	sweepTempDirs(prefix)
	for range 100 {
		// Not a bare number: earlier versions take that for a process's.
		dir, err := os.MkdirTemp("", prefix+"*.d")
		if err != nil {
			return tempDir{}, err
		}
		held, err := lock.Hold(filepath.Join(dir, "lock"))
		if err == nil {
			return tempDir{dir, held}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, lock.ErrHeld) {
			os.RemoveAll(dir)
			return tempDir{}, err
		}
		// Another process took it for a left one before it was locked.
	}
	return tempDir{}, fmt.Errorf("%s: folders for temporary files vanish there", os.TempDir())
}

func sweepTempDirs(prefix string) {
	entries, _ := os.ReadDir(os.TempDir()) // whether it can be used will show
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		dir := filepath.Join(os.TempDir(), e.Name())
		_, _ = lock.Abandoned(filepath.Join(dir, "lock"),
			func() error { return os.RemoveAll(dir) }) // it may be another user's
		os.Remove(dir) // empty: its maker was killed, or begins anew
	}
}

func (d tempDir) remove() error {
	return errors.Join(os.RemoveAll(d.path), d.held.Release())
}

// TempDir makes a folder that counts as used until the end of this process, and
// removes those of its kind whose process was killed.
func TempDir(kind string) (string, error) {
	d, err := makeTempDir(kind)
	if err != nil {
		return "", err
	}
	// A copy of the lock's descriptor, which nothing closes before the end.
	if _, err := unix.FcntlInt(d.held.File().Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return "", errors.Join(err, d.remove())
	}
	return d.path, d.held.Release()
}
