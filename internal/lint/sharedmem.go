package lint

import "fmt"

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
		message: fmt.Sprintf("%s = %.0f is the number of %s, but counts pages and not bytes", total, pages, segment),
		because: fmt.Sprintf("With pages of 4 KiB it is %.0f GiB in all; leave both lines out, since the kernel's own limits "+
			"are as good as none.", pages/(1<<18))})
}
