package emulator

import "golang.org/x/sys/unix"

// reserve maps memory that is taken from the system when it is first written,
// in huge pages where the system allows them: a path that holds 250 MB would
// else walk through more pages than the processor remembers.
func reserve(n int64) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err == nil {
		unix.Madvise(mem, unix.MADV_HUGEPAGE) // refused without support: only slower
	}
	return mem, err
}

func unreserve(mem []byte) error { return unix.Munmap(mem) }
