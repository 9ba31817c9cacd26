package selfcheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/emulator"
	"github.com/wirerate/wirerate/internal/lab/link"
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
func send(ctx context.Context, l *lab.Lab, s stream) (received, error) {
	tx, err := datagramSocket(l, lab.ClientHost, s.ecn)
	if err != nil {
		return received{}, err
	}
	defer unix.Close(tx)
	rx, err := datagramSocket(l, lab.ServerHost, 0)
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
	before, _ := l.Stats()
	err = s.transmit(ctx, tx, to, start)
	select {
	case <-ctx.Done():
	case <-time.After(s.settle):
	}
	settle(ctx, l, before, int64(s.count))
	close(stop)
	return got, errors.Join(err, <-done, ctx.Err())
}

// settle waits until the first link has done with n segments more than before,
// on a machine however slow; not for long, as some may never have come to it.
func settle(ctx context.Context, l *lab.Lab, before emulator.Stats, n int64) {
	const most = 10 * time.Second
	if l.Link(0).Backend == link.Netem {
		return // netem says nothing
	}
	for end := time.Now().Add(most); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		now, _ := l.Stats()
		d := now.Since(before)
		gone := d.Delivered + d.DropQueue + d.DropCoDel + d.DropLoss - d.Duplicated
		if d.Segments+d.DropDevice >= n && gone >= d.Segments {
			return
		}
	}
}

// datagramSocket opens a UDP socket on a host, bound to the probes' port.
func datagramSocket(l *lab.Lab, name string, ecn int) (fd int, err error) {
	err = l.Inside(name, func() error {
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

// exchange pings the server n times, one each interval, with packets that take
// 84 bytes on the wire, and returns the round-trip times of those that came
// back. The kernel answers on the server and notes when the answer is here, so
// that no process has to wake up for them in time: the times are the link's.
func exchange(ctx context.Context, l *lab.Lab, n int, interval time.Duration) (trips []time.Duration, err error) {
	fd, err := pingSocket(l, lab.ClientHost)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	to := &unix.SockaddrInet4{Addr: [4]byte(net.ParseIP(l.PeerAddr()).To4())}
	wait := unix.NsecToTimeval(int64(l.Link(0).RTT()) + int64(time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		return nil, err
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		request := echoRequest(uint16(i))
		sent := time.Now()
		if err := unix.Sendto(fd, request, 0, to); err != nil {
			return trips, fmt.Errorf("ping: %w", err)
		}
		if at, ok := answered(fd, uint16(i)); ok {
			trips = append(trips, time.Duration(at-sent.UnixNano()))
		}
		time.Sleep(interval)
	}
	return trips, ctx.Err()
}

// pingSocket opens a socket for ICMP on a host that notes when packets come.
func pingSocket(l *lab.Lab, name string) (fd int, err error) {
	err = l.Inside(name, func() error {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
		if err != nil {
			return fmt.Errorf("ping socket: %w", err)
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
			unix.Close(fd)
			return fmt.Errorf("ping socket with times: %w", err)
		}
		return nil
	})
	return fd, err
}

const (
	ecnMask, ecnCE          = 3, 3   // RFC 3168, section 5
	echoType, echoReplyType = 8, 0   // RFC 792
	echoIdentifier          = 0x7777 // nobody else pings in a lab's check
	echoLength              = 26     // with an IPv4 header the least that Ethernet does not pad
)

// echoRequest returns an ICMP echo request.
func echoRequest(sequence uint16) []byte {
	b := make([]byte, echoLength)
	b[0] = echoType
	binary.BigEndian.PutUint16(b[4:], echoIdentifier)
	binary.BigEndian.PutUint16(b[6:], sequence)
	binary.BigEndian.PutUint16(b[2:], ^onesSum(b))
	return b
}

// onesSum is the sum of 16-bit words that the Internet checksum is the complement
// of (RFC 1071); b has an even length.
func onesSum(b []byte) uint16 {
	var sum uint32
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

// headerLen returns the length of an IPv4 header (RFC 791).
func headerLen(ip []byte) int { return int(ip[0]&0xf) * 4 }

// answered waits for the answer to a request and returns when it came, in ns of
// the wall clock; those to earlier requests, which came too late, are passed
// over. A signal to this thread ends a receive early.
func answered(fd int, sequence uint16) (at int64, ok bool) {
	buf, control := make([]byte, 128), make([]byte, 128)
	for {
		n, cn, _, _, err := unix.Recvmsg(fd, buf, control, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, false
		}
		if n < 20+8 || n < headerLen(buf)+8 {
			continue
		}
		icmp := buf[headerLen(buf):n]
		if icmp[0] == echoReplyType && binary.BigEndian.Uint16(icmp[4:]) == echoIdentifier &&
			binary.BigEndian.Uint16(icmp[6:]) == sequence {
			return arrivalTime(control[:cn])
		}
	}
}

// arrivalTime reads when the kernel received a packet, in ns of the wall clock.
func arrivalTime(control []byte) (ns int64, ok bool) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, false
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS &&
			len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			return (*unix.Timespec)(unsafe.Pointer(&m.Data[0])).Nano(), true
		}
	}
	return 0, false
}
