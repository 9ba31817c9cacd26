package workload

import (
	"os"

	"golang.org/x/sys/unix"
)

// openPastCache opens a file for reads that bypass the cache where the file
// system can (open(2), O_DIRECT).
func openPastCache(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
}

// alignedBlock is memory on a page's boundary.
func alignedBlock(n int) ([]byte, func(), error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return b, func() { _ = unix.Munmap(b) }, err
}

// deviceReads is -1: the kernel counts blocks of reads, not their bytes.
func deviceReads() int64 { return -1 }
