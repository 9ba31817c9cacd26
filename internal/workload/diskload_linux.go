package workload

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/input"
)

// openPastCache opens a file for reads that go to the device. What the page
// cache has of it is dropped first.
func openPastCache(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
	if err == nil {
		err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
	return f, err
}

// alignedBlock is memory as O_DIRECT wants it: on a page's boundary.
func alignedBlock(n int) ([]byte, func(), error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return b, func() { _ = unix.Munmap(b) }, err
}

// deviceReads is how many bytes this process had read from storage
// (proc_pid_io(5), read_bytes); -1 when the kernel does not count them.
func deviceReads() int64 {
	data, err := input.File("/proc/self/io", input.MiB)
	if err != nil {
		return -1
	}
	for line := range bytes.Lines(data) {
		if value, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("read_bytes: ")); ok {
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}
