package weblog

// The kernel copies what is read with "rep movsb" where the processor says that it is
// fast. AMD's copies at a quarter of its speed to an address that is 1 to 15 bytes ahead
// of its source within the page (pread of 128 KiB: 2.7 GB/s, elsewhere 10 GB/s;
// BenchmarkReadAt measures it). So what is read in bulk goes half a page away from that.
const (
	pageSize = 4096
	halfPage = pageSize / 2
	bulk     = 256 << 10 // bytes of a read
)

// readRoom returns room for reading n bytes, 32 kB or more, which begins in the middle
// of a page: Go begins objects of that size at a page.
func readRoom(n int) []byte { return make([]byte, halfPage+n)[halfPage:] }

// roomAt returns the part of what readRoom returned, a page less at most, that is half a
// page away from the position in a file.
func roomAt(room []byte, at int64) []byte {
	return room[at%pageSize : len(room)-pageSize+int(at%pageSize)]
}
