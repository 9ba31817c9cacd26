package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/host"
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

// transfer is one TCP connection that sends as fast as it can from the client
// to the server.
type transfer struct {
	duration   time.Duration // measured, while the emulator kept up
	omit       time.Duration // before that
	congestion string        // algorithm; "" is the host's default
	window     int           // most bytes the receiver offers; 0: what the kernel does
	single     bool          // segments leave the client one by one
	acks       bool          // each segment is acknowledged by itself
}

// result is what a transfer reached.
type result struct {
	goodput float64 // bit/s of payload at the receiver
	mss     int     // bytes of payload of a full segment
	counted time.Duration
	leftOut time.Duration // during which the emulator was behind
	enough  bool          // counted is the duration that was asked for
}

func (l *Lab) transfer(ctx context.Context, t transfer) (res result, err error) {
	const buffer = 64 << 20 // of a socket
	options := func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			if t.congestion != "" {
				if err := unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, t.congestion); err != nil {
					failed = fmt.Errorf("congestion control %s: %w", t.congestion, err)
				}
			}
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, buffer)
			if t.window == 0 {
				unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer)
			}
		})
		return errors.Join(err, failed)
	}
	if err := l.prepare(ctx, t); err != nil {
		return res, err
	}
	address := net.JoinHostPort(l.PeerAddr(), fmt.Sprint(probePort))
	var listener net.Listener
	err = inNamespace(int(l.netns[l.topology.Hosts[1]].Fd()), func() (err error) {
		config := net.ListenConfig{Control: options}
		config.SetMultipathTCP(false)
		listener, err = config.Listen(ctx, "tcp4", address)
		return err
	})
	if err != nil {
		return res, err
	}
	defer listener.Close()
	var conn net.Conn
	err = inNamespace(int(l.netns[l.topology.Hosts[0]].Fd()), func() (err error) {
		dialer := net.Dialer{Control: options, Timeout: 10 * time.Second}
		dialer.SetMultipathTCP(false)
		conn, err = dialer.DialContext(ctx, "tcp4", address)
		return err
	})
	if err != nil {
		return res, err
	}
	defer conn.Close()
	peer, err := listener.Accept()
	if err != nil {
		return res, err
	}
	defer peer.Close()
	// Closing throws away what is not sent; only full segments are.
	if err := errors.Join(conn.(*net.TCPConn).SetLinger(0), peer.(*net.TCPConn).SetLinger(0), conn.(*net.TCPConn).SetNoDelay(false)); err != nil {
		return res, err
	}
	go flood(conn)
	if res, err = t.measure(ctx, l, peer.(*net.TCPConn)); err != nil {
		return res, err
	}
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return res, err
	}
	err = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			res.mss = int(info.Snd_mss)
		}
	})
	return res, err
}

// prepare sets the hosts up for a transfer.
//
// A window is bounded by a socket option (see clamp). The receive buffer is
// fixed, so that the kernel does not raise the bound with it, and of a size for
// which windows are offered in multiples of 512 bytes (window scale 9).
//
// Single segments keep the kernel from holding back what it could send in order
// to fill a larger unit (net.ipv4.tcp_tso_win_divisor), for up to 1 ms: no
// formula of a window per round trip knows of that. Nor of delayed
// acknowledgements (RFC 1122): of a small odd window, the last segment waits for
// the first of the next round trip, which costs one in eleven.
func (l *Lab) prepare(ctx context.Context, t transfer) error {
	const buffer = 16 << 20
	if t.window > 0 {
		answers, err := l.Server().Do(ctx,
			host.Poke("/proc/sys/net/ipv4/tcp_moderate_rcvbuf", "0"),
			host.Poke("/proc/sys/net/ipv4/tcp_rmem", fmt.Sprintf("4096 %d %d", buffer, buffer)))
		if err != nil {
			return err
		}
		if err := errors.Join(answers[0].Err(), answers[1].Err()); err != nil {
			return fmt.Errorf("fix the receive buffer: %w", err)
		}
	}
	var err error
	if t.single {
		err = l.segmentsOnly(l.topology.Hosts[0], interfaceName(0))
	}
	if t.acks {
		err = errors.Join(err, l.acknowledgeAll(l.topology.Hosts[1], interfaceName(0)))
	}
	return err
}

// flood writes until the connection is closed.
func flood(conn net.Conn) {
	buf := make([]byte, 1<<18)
	for {
		if _, err := conn.Write(buf); err != nil {
			return
		}
	}
}

// clamp bounds the window that the receiver offers. Kernels since 6.6 forget
// the bound when they learn how much of a packet's memory is payload, so that it
// is set again before each read.
func (t transfer) clamp(peer *net.TCPConn) {
	if t.window == 0 {
		return
	}
	if raw, err := peer.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP, t.window) })
	}
}

// patience is how many times the duration of a transfer it may take to measure
// that long while the emulator keeps up.
const patience = 3

// measure reads what arrives, and divides it by the time that it took. Slices of
// time in which the emulator was behind are left out, each with the next one, in
// which what was late arrives.
func (t transfer) measure(ctx context.Context, l *Lab, peer *net.TCPConn) (res result, err error) {
	buf := make([]byte, 1<<18)
	begin := time.Now()
	if err := peer.SetReadDeadline(begin.Add(t.omit + patience*t.duration)); err != nil {
		return res, err
	}
	slice := slicer{length: max(10*l.Link(0).RTT(), 100*time.Millisecond)}
	for ctx.Err() == nil && slice.counted < t.duration {
		t.clamp(peer)
		n, err := peer.Read(buf)
		now := time.Now()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return res, fmt.Errorf("receive: %w", err)
		}
		if now.Sub(begin) >= t.omit {
			slice.add(int64(n), now, l.Mark)
		}
	}
	if err := ctx.Err(); err != nil {
		return res, err
	}
	if slice.counted == 0 && slice.leftOut == 0 {
		return res, errors.New("nothing arrived")
	}
	res.goodput, res.counted, res.leftOut = slice.rate(), slice.counted, slice.leftOut
	res.enough = slice.counted >= t.duration
	return res, nil
}

// slicer adds up what arrives in slices of time.
type slicer struct {
	length           time.Duration
	mark             Mark
	bytes            int64 // in this slice
	late             bool  // the emulator was behind in the slice before
	sum, sumLeftOut  int64
	counted, leftOut time.Duration
}

// add takes n bytes that were read at now.
func (s *slicer) add(n int64, now time.Time, look func() Mark) {
	if s.mark.at.IsZero() {
		s.mark = look() // what this read brought came before
		return
	}
	s.bytes += n
	if now.Sub(s.mark.at) < s.length {
		return
	}
	mark := look()
	d := between(s.mark, mark)
	late := d.Stalled > 0 || d.Lost > 0
	if late || s.late {
		s.leftOut += d.Elapsed
		s.sumLeftOut += s.bytes
	} else {
		s.counted += d.Elapsed
		s.sum += s.bytes
	}
	s.late, s.mark, s.bytes = late, mark, 0
}

// rate returns the rate in bit/s, of everything where the emulator was behind
// all the time.
func (s *slicer) rate() float64 {
	if s.counted == 0 {
		return float64(s.sumLeftOut) * 8 / s.leftOut.Seconds()
	}
	return float64(s.sum) * 8 / s.counted.Seconds()
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
