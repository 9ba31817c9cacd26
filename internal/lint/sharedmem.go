package lint

import (
	"fmt"
	"math"
)

// judgeSharedMemory reports a total of shared memory that was written in bytes, as the
// largest segment is, and is counted in pages.
func (k *checker) judgeSharedMemory() {
	const segment, total = "kernel.shmmax", "kernel.shmall"
	most, all := k.effects[segment], k.effects[total]
	if most == nil || all == nil {
		return
	}
	bytes, known := k.numberOf(most, segment)
	pages, also := k.numberOf(all, total)
	if !known || !also || bytes != pages || pages < 1<<20 || pages > 1<<60 {
		return // beyond that both are what the kernel has by itself
	}
	k.reportIn(all.file, all.entry, finding{code: "wrong-unit", severity: Warning, value: true, sources: all.record.Sources,
		message: fmt.Sprintf("%s = %.0f repeats the value of %s, but counts pages, not bytes", total, pages, segment),
		because: fmt.Sprintf("With pages of 4 KiB it is %.0f GiB in all; leave both lines out, since the kernel's own limits "+
			"are as good as none.", pages/(1<<18))})
}

// judgeSegmentSize reports a largest segment of FreeBSD's shared memory that is larger than all of it may be.
func (k *checker) judgeSegmentSize() {
	const segment, total, page = "kern.ipc.shmmax", "kern.ipc.shmall", 4096
	most, all := k.effects[segment], k.effects[total]
	if most == nil {
		return
	}
	bytes, known := k.numberOf(most, segment)
	pages, also := k.numberOf(all, total)
	if !known || !also || bytes <= pages*page {
		return
	}
	message := fmt.Sprintf("%s = %.0f exceeds the total that %s allows: %.0f pages, %.0f bytes", segment, bytes, total, pages,
		pages*page)
	if all == nil {
		message += "; also set " + total + fmt.Sprintf("=%.0f", math.Ceil(bytes/page))
	}
	k.reportIn(most.file, most.entry, finding{code: "conflict", severity: Warning, value: true,
		sources: []string{"freebsd-src sys/kern/sysv_shm.c, shmget_allocate_segment"}, message: message,
		because: "The kernel counts the pages of all segments together and refuses (ENOMEM) a segment that would exceed " + total + "."})
}
