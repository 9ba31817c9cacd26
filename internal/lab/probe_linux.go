package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The probes make exactly known traffic with sockets of this process in the
// lab's network namespaces, and measure what arrives, with one clock for both
// ends.

// stream is datagrams to send from the client to the server.
type stream struct {
	size     int           // bytes of IP packet of each, 44 at least
	count    int           // how many
	rate     float64       // bit/s of IP packets; 0: as fast as possible
	together int           // handed to the kernel at once, 44 at most
	ecn      int           // ECN field
	settle   time.Duration // how long to wait for late ones
}

// received is what arrived of a stream, in order of arrival.
type received struct {
	seq   []uint32
	at    []time.Duration // since the stream began
	delay []time.Duration // one-way
	ce    int             // how many carried Congestion Experienced
	sent  int
}

const (
	udpHeaders  = 28 // IPv4 and UDP
	probeHeader = 12 // sequence number and time of sending
	probePort   = 7077
)

// send sends a stream through the lab and returns what arrived.
func (l *Lab) send(ctx context.Context, s stream) (received, error) {
	tx, err := l.datagramSocket(l.topology.Hosts[0], s.ecn)
	if err != nil {
		return received{}, err
	}
	defer unix.Close(tx)
	rx, err := l.datagramSocket(l.topology.Hosts[1], 0)
	if err != nil {
		return received{}, err
	}
	start := time.Now()
	got := received{sent: s.count}
	done := make(chan error, 1)
	stop := make(chan struct{})
	go func() { done <- got.collect(rx, start, stop) }()
	defer unix.Close(rx)
	peer := net.ParseIP(l.PeerAddr()).To4()
	to := &unix.SockaddrInet4{Port: probePort, Addr: [4]byte(peer)}
	err = s.transmit(ctx, tx, to, start)
	select {
	case <-ctx.Done():
	case <-time.After(s.settle):
	}
	close(stop)
	return got, errors.Join(err, <-done, ctx.Err())
}

// datagramSocket opens a UDP socket on a host, bound to the probes' port.
func (l *Lab) datagramSocket(name string, ecn int) (fd int, err error) {
	err = inNamespace(int(l.netns[name].Fd()), func() error {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		const buffer = 256 << 20
		for _, o := range []struct{ level, name, value int }{
			{unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer}, {unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, buffer},
			{unix.IPPROTO_IP, unix.IP_TOS, ecn}, {unix.IPPROTO_IP, unix.IP_RECVTOS, 1},
			{unix.IPPROTO_UDP, unix.UDP_GRO, 1},
		} {
			if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
				unix.Close(fd)
				return fmt.Errorf("socket option %d: %w", o.name, err)
			}
		}
		tv := unix.NsecToTimeval(int64(50 * time.Millisecond))
		return errors.Join(
			unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv),
			unix.Bind(fd, &unix.SockaddrInet4{Port: probePort}))
	})
	return fd, err
}

func (s stream) transmit(ctx context.Context, fd int, to unix.Sockaddr, start time.Time) error {
	payload := s.size - udpHeaders
	together := max(min(s.together, 44, 65000/payload), 1)
	buf := make([]byte, together*payload)
	segment := make([]byte, unix.CmsgSpace(2))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&segment[0]))
	h.Level, h.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
	h.SetLen(unix.CmsgLen(2))
	binary.NativeEndian.PutUint16(segment[unix.CmsgLen(0):], uint16(payload))
	begin := time.Now()
	for i := 0; i < s.count && ctx.Err() == nil; i += together {
		if s.rate > 0 {
			due := time.Duration(float64(i*s.size*8) / s.rate * 1e9)
			if early := due - time.Since(begin); early > 0 {
				time.Sleep(early)
			}
		}
		n := min(together, s.count-i)
		for j := range n {
			binary.NativeEndian.PutUint32(buf[j*payload:], uint32(i+j))
			binary.NativeEndian.PutUint64(buf[j*payload+4:], uint64(time.Since(start)))
		}
		err := unix.Sendmsg(fd, buf[:n*payload], segment, to, 0)
		if err != nil && err != unix.ENOBUFS {
			return fmt.Errorf("send probe: %w", err)
		}
	}
	return nil
}

// collect reads datagrams until stop is closed and none is left.
func (r *received) collect(fd int, start time.Time, stop <-chan struct{}) error {
	buf := make([]byte, 1<<16)
	control := make([]byte, 128)
	for {
		n, cn, _, _, err := unix.Recvmsg(fd, buf, control, 0)
		if err == unix.EAGAIN || err == unix.EINTR {
			select {
			case <-stop:
				return nil
			default:
				continue
			}
		}
		if err != nil {
			return fmt.Errorf("receive probe: %w", err)
		}
		now := time.Since(start)
		size, tos := ancillary(control[:cn])
		if size == 0 {
			size = n
		}
		for at := 0; at+probeHeader <= n; at += size {
			r.seq = append(r.seq, binary.NativeEndian.Uint32(buf[at:]))
			r.at = append(r.at, now)
			r.delay = append(r.delay, now-time.Duration(binary.NativeEndian.Uint64(buf[at+4:])))
			if tos&ecnMask == ecnCE {
				r.ce++
			}
		}
	}
}

// ancillary reads the segment size of a received GRO unit and its TOS byte.
func ancillary(control []byte) (size int, tos byte) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, 0
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_UDP && m.Header.Type == unix.UDP_GRO && len(m.Data) >= 4:
			size = int(binary.NativeEndian.Uint32(m.Data))
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_TOS && len(m.Data) >= 1:
			tos = m.Data[0]
		}
	}
	return size, tos
}

// exchange sends a small datagram to the server and back n times, one each
// interval, and returns the round-trip times of those that came back.
func (l *Lab) exchange(ctx context.Context, n int, interval time.Duration) ([]time.Duration, error) {
	near, err := l.datagramSocket(l.topology.Hosts[0], 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(near)
	far, err := l.datagramSocket(l.topology.Hosts[1], 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(far)
	stop := make(chan struct{})
	echoed := make(chan struct{})
	go func() {
		echo(far, stop)
		close(echoed)
	}()
	peer := net.ParseIP(l.PeerAddr()).To4()
	to := &unix.SockaddrInet4{Port: probePort, Addr: [4]byte(peer)}
	wait := unix.NsecToTimeval(int64(l.Link(0).RTT()) + int64(time.Second))
	unix.SetsockoptTimeval(near, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)
	var trips []time.Duration
	buf := make([]byte, 64)
	for i := range uint64(n) {
		if ctx.Err() != nil {
			break
		}
		binary.NativeEndian.PutUint64(buf, i)
		sent := time.Now()
		if err = unix.Sendto(near, buf[:18], 0, to); err != nil {
			break
		}
		if answered(near, i) {
			trips = append(trips, time.Since(sent))
		}
		time.Sleep(interval)
	}
	close(stop)
	<-echoed
	return trips, errors.Join(err, ctx.Err())
}

// answered waits for the echo of datagram i; those of earlier ones, which came
// too late, are passed over. A signal to this thread ends a receive early.
func answered(fd int, i uint64) bool {
	buf := make([]byte, 64)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return false
		case n >= 8 && binary.NativeEndian.Uint64(buf) == i:
			return true
		}
	}
}

// echo sends back what arrives until stop is closed.
func echo(fd int, stop <-chan struct{}) {
	buf := make([]byte, 2048)
	for {
		n, from, err := unix.Recvfrom(fd, buf, 0)
		if err == nil {
			unix.Sendto(fd, buf[:n], 0, from)
			continue
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}
