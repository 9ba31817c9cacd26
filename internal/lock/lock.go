// Package lock says whether the owner of something still lives: the owner holds
// a lock of the kernel (flock(2)) on a file or folder, which ends with the last
// process that has it, however that ends. Unlike a process's number it is the
// same in every PID namespace that sees the file, and no later process has it
// by chance.
package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrHeld is wrapped where another owner holds a lock.
var ErrHeld = errors.New("its owner lives")

// Lock is held until Release or the end of the last process that has its File.
type Lock struct{ file *os.File }

// Hold takes the lock of a file, which it makes with mode 0600 where there is
// none, or of a folder that is there. It does not wait: another owner's lock is
// ErrHeld. A symbolic link is refused.
func Hold(path string) (*Lock, error) {
	for range 100 {
		f, err := open(path, os.O_CREATE)
		if err != nil {
			return nil, err
		}
		if err := flock(f, unix.LOCK_EX); err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if same(f, path) {
			return &Lock{f}, nil
		}
		f.Close() // somebody removed or replaced it in between
	}
	return nil, fmt.Errorf("%s: it is replaced again and again", path)
}

// Held reports whether a living owner holds the lock of a file or folder; of
// what is not there nobody does. Who is to remove what nobody holds uses
// Abandoned, since another owner may come in between.
func Held(path string) (bool, error) {
	f, err := open(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = flock(f, unix.LOCK_SH)
	if errors.Is(err, ErrHeld) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return false, nil
}

// Abandoned calls remove while it holds the lock of a file or folder that is
// there and that nobody else holds, and reports whether it did.
func Abandoned(path string, remove func() error) (bool, error) {
	f, err := open(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = flock(f, unix.LOCK_EX)
	if errors.Is(err, ErrHeld) || err == nil && !same(f, path) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return true, remove()
}

// File is what a child process is given (os/exec's ExtraFiles) to hold the lock
// too: it then ends with the last of both.
func (l *Lock) File() *os.File { return l.file }

// Release gives the lock back, unless a child still has it. Its file stays.
func (l *Lock) Release() error { return l.file.Close() }

// open opens a file, or a folder as one can only be, without following a
// symbolic link and without waiting for the other end of a FIFO.
func open(path string, create int) (*os.File, error) {
	const flags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | os.O_RDONLY
	f, err := os.OpenFile(path, flags, 0)
	if create != 0 && errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, flags|create, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s: neither a file nor a folder", path)
	}
	return f, nil
}

// flock takes a lock without waiting.
func flock(f *os.File, how int) error {
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrHeld
		default:
			return err
		}
	}
}

// same reports whether a path still names the file that was opened.
func same(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}
