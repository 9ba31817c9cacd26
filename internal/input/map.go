package input

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Map returns the bytes of a file between two places, of which the first begins a
// page, and what gives them back. They are mapped, which spares copying them, where the
// file system can do that: one that the file has lost is then a fault, which
// debug.SetPanicOnFault makes a panic.
func Map(file *os.File, from, to int64) (b []byte, free func(), err error) {
	b, err = unix.Mmap(int(file.Fd()), from, int(to-from), unix.PROT_READ, unix.MAP_SHARED)
	if err == nil {
		unix.Madvise(b, unix.MADV_WILLNEED) // else a file that is not cached is waited for a page or so at a time
		return b, func() { unix.Munmap(b) }, nil
	}
	b = make([]byte, to-from)
	n, err := file.ReadAt(b, from)
	if err == io.EOF { // the file became shorter
		err = nil
	}
	return b[:n], func() {}, err
}

// OpenWaiting is Open, but waits for who writes to a named pipe, or the end of ctx.
func OpenWaiting(ctx context.Context, name string) (*os.File, error) {
	if st, err := os.Stat(name); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		return Open(name)
	}
	var file *os.File
	var err error
	opened := make(chan struct{})
	go func() {
		file, err = os.Open(name)
		close(opened)
	}()
	select {
	case <-opened:
		return file, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
