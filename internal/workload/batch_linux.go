package workload

import (
	"errors"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mmsghdr is struct mmsghdr of recvmmsg(2).
type mmsghdr struct {
	header unix.Msghdr
	length uint32
	_      [4]byte
}

// batch is datagrams that one system call moves.
type batch struct {
	messages []mmsghdr
	parts    []unix.Iovec
	payloads [][]byte
	names    []unix.RawSockaddrInet6
}

// newBatch has room for n datagrams of size bytes; named ones keep whom they
// came from, to be answered.
func newBatch(n, size int, named bool) *batch {
	b := &batch{messages: make([]mmsghdr, n), parts: make([]unix.Iovec, n), payloads: make([][]byte, n)}
	if named {
		b.names = make([]unix.RawSockaddrInet6, n)
	}
	all := make([]byte, n*size)
	for i := range n {
		b.payloads[i] = all[i*size : (i+1)*size : (i+1)*size]
		b.parts[i].Base = &b.payloads[i][0]
		b.messages[i].header.Iov = &b.parts[i]
		b.messages[i].header.SetIovlen(1)
	}
	return b
}

// receive waits for datagrams and returns how many came.
func (b *batch) receive(c syscall.RawConn) (n int, err error) {
	for i := range b.messages {
		b.parts[i].SetLen(cap(b.payloads[i]))
		if b.names != nil {
			b.messages[i].header.Name = (*byte)(unsafe.Pointer(&b.names[i]))
			b.messages[i].header.Namelen = unix.SizeofSockaddrInet6
		}
	}
	var failed error
	err = c.Read(func(fd uintptr) bool {
		n, failed = b.call(unix.SYS_RECVMMSG, fd, len(b.messages))
		return !errors.Is(failed, unix.EAGAIN)
	})
	return n, errors.Join(err, failed)
}

// payload is the i-th datagram that came.
func (b *batch) payload(i int) []byte {
	return b.payloads[i][:min(int(b.messages[i].length), cap(b.payloads[i]))]
}

// send hands the first n datagrams, of size bytes each, to the kernel and
// returns how many it took.
func (b *batch) send(c syscall.RawConn, n, size int) (sent int, err error) {
	for i := range n {
		b.parts[i].SetLen(size)
	}
	var failed error
	err = c.Control(func(fd uintptr) { sent, failed = b.call(unix.SYS_SENDMMSG, fd, n) })
	return sent, errors.Join(err, failed)
}

// move puts the j-th datagram and whom it came from in the place of the i-th.
func (b *batch) move(i, j int) {
	if i == j {
		return
	}
	copy(b.payloads[i], b.payloads[j])
	b.names[i] = b.names[j]
	b.messages[i].header.Namelen = b.messages[j].header.Namelen
}

func (b *batch) call(number, fd uintptr, n int) (int, error) {
	done, _, errno := unix.Syscall6(number, fd, uintptr(unsafe.Pointer(&b.messages[0])), uintptr(n),
		unix.MSG_DONTWAIT, 0, 0)
	runtime.KeepAlive(b)
	if errno != 0 {
		return 0, errno
	}
	return int(done), nil
}

// droppedBy is how many datagrams a socket had no room for (SO_MEMINFO, socket(7)); -1 when that is not known.
func droppedBy(c syscall.RawConn) int64 {
	const drops, fields = 8, 9 // SK_MEMINFO_DROPS of linux/sock_diag.h
	var values [fields]uint32
	size, dropped := uint32(unsafe.Sizeof(values)), int64(-1)
	err := c.Control(func(fd uintptr) {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&values)), uintptr(unsafe.Pointer(&size)), 0)
		if errno == 0 {
			dropped = int64(values[drops])
		}
	})
	if err != nil {
		return -1
	}
	return dropped
}

// precisely sleeps for d without the millisecond that the runtime's poller rounds to.
func precisely(d time.Duration) {
	if d <= 0 {
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // a signal that ends it early costs nothing: the caller looks at the clock
}

// promptly asks the kernel to end this thread's sleeps within a microsecond and,
// where it may, to run it before the programs of others.
func promptly() {
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -10)
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
}
