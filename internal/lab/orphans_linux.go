package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// destroySockets ends the TCP sockets that killed programs left in a network
// namespace. Nobody is there to acknowledge what they still have to send, so
// that the kernel would keep them, their buffers and the namespace for minutes;
// and their memory counts against net.ipv4.tcp_mem, which is the machine's, so
// that connections in later labs would be refused their windows.
func destroySockets(ns *os.File) error {
	return inNamespace(int(ns.Fd()), func() error {
		// For a kernel without CONFIG_INET_DIAG_DESTROY: give up after one more
		// try. The namespace is about to go, nothing is measured in it any more.
		failed := os.WriteFile("/proc/sys/net/ipv4/tcp_orphan_retries", []byte("1"), 0)
		return errors.Join(endSockets(func(*netlink.Socket) bool { return true }), failed)
	})
}

// endSockets ends the TCP sockets of this thread's network namespace that are
// wanted.
func endSockets(wanted func(*netlink.Socket) bool) error {
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		sockets, err := netlink.SocketDiagTCP(family)
		if err != nil {
			return err
		}
		for _, s := range sockets {
			if !wanted(s) {
				continue
			}
			req := nl.NewNetlinkRequest(nl.SOCK_DESTROY, unix.NLM_F_ACK)
			req.AddData(socketName{family, s.ID})
			// One that has ended by itself meanwhile is not found.
			if _, err := req.Execute(unix.NETLINK_INET_DIAG, 0); err != nil && !errors.Is(err, unix.ENOENT) {
				return err
			}
		}
	}
	return nil
}

// socketName names a socket in a request: struct inet_diag_req_v2 of
// linux/inet_diag.h.
type socketName struct {
	family uint8
	id     netlink.SocketID
}

// Len returns the length of the request.
func (s socketName) Len() int { return 56 }

// Serialize returns the request; ports and addresses are in network order.
func (s socketName) Serialize() []byte {
	b := make([]byte, s.Len())
	b[0], b[1] = s.family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(b[4:], ^uint32(0)) // in any state
	binary.BigEndian.PutUint16(b[8:], s.id.SourcePort)
	binary.BigEndian.PutUint16(b[10:], s.id.DestinationPort)
	source, destination := s.id.Source.To16(), s.id.Destination.To16()
	if s.family == unix.AF_INET {
		source, destination = s.id.Source.To4(), s.id.Destination.To4()
	}
	copy(b[12:28], source)
	copy(b[28:44], destination)
	binary.NativeEndian.PutUint32(b[44:], s.id.Interface)
	binary.NativeEndian.PutUint32(b[48:], s.id.Cookie[0])
	binary.NativeEndian.PutUint32(b[52:], s.id.Cookie[1])
	return b
}

// inNamespace runs f on a thread in the network namespace netns. The thread
// ends with f where it cannot be brought back.
func inNamespace(netns int, f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		own, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			result <- err
			return
		}
		defer own.Close()
		if err := unix.Setns(netns, unix.CLONE_NEWNET); err != nil {
			result <- fmt.Errorf("enter network namespace: %w", err)
			return
		}
		err = f()
		if unix.Setns(int(own.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}
