//go:build !linux

package workload

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// batch is datagrams; here each takes a system call of its own.
type batch struct {
	payloads [][]byte
	length   int
	from     unix.Sockaddr
	named    bool
}

func newBatch(n, size int, named bool) *batch {
	b := &batch{named: named}
	for range n {
		b.payloads = append(b.payloads, make([]byte, size))
	}
	return b
}

func (b *batch) receive(c syscall.RawConn) (int, error) {
	var failed error
	err := c.Read(func(fd uintptr) bool {
		b.length, b.from, failed = unix.Recvfrom(int(fd), b.payloads[0], unix.MSG_DONTWAIT)
		return !errors.Is(failed, unix.EAGAIN)
	})
	return 1, errors.Join(err, failed)
}

func (b *batch) payload(i int) []byte { return b.payloads[i][:b.length] }

func (b *batch) send(c syscall.RawConn, n, size int) (sent int, err error) {
	var failed error
	err = c.Control(func(fd uintptr) {
		for ; sent < n && failed == nil; sent++ {
			if b.named {
				failed = unix.Sendto(int(fd), b.payloads[sent][:size], unix.MSG_DONTWAIT, b.from)
			} else {
				_, failed = unix.SendmsgN(int(fd), b.payloads[sent][:size], nil, nil, unix.MSG_DONTWAIT)
			}
			if failed != nil {
				return
			}
		}
	})
	return sent, errors.Join(err, failed)
}

func (b *batch) move(int, int) {} // there is one at a time

// droppedBy is not known here.
func droppedBy(syscall.RawConn) int64 { return -1 }

func precisely(d time.Duration) { time.Sleep(d) }

func promptly() {}
