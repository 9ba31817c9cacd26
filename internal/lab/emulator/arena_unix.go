//go:build unix && !linux

package emulator

import "golang.org/x/sys/unix"

func reserve(n int64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

func unreserve(mem []byte) error { return unix.Munmap(mem) }
