package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vishvananda/netlink"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab"
)

// transfer is TCP connections that send as fast as they can from the client to
// the server.
type transfer struct {
	streams    int           // how many; 0 is one
	duration   time.Duration // measured, while the emulator kept up
	omit       time.Duration // before that
	congestion string        // algorithm; "" is the host's default
	window     int           // most bytes a receiver offers; 0: what the kernel does
	single     bool          // segments leave the client one by one
	acks       bool          // each segment is acknowledged by itself
}

// result is what a transfer reached.
type result struct {
	goodput float64 // bit/s of payload at the receiver, of all connections
	mss     int     // bytes of payload of a full segment
	counted time.Duration
	leftOut time.Duration // during which the emulator was behind
	enough  bool          // counted is the duration that was asked for
}

func run(ctx context.Context, l *lab.Lab, t transfer) (res result, err error) {
	if err := prepare(ctx, l, t); err != nil {
		return res, err
	}
	conns, peers, err := connect(ctx, l, t)
	for _, c := range append(conns, peers...) {
		defer c.Close()
	}
	if err != nil {
		return res, err
	}
	for _, c := range conns {
		go flood(c)
	}
	if res, err = t.measure(ctx, l, peers); err != nil {
		return res, err
	}
	raw, err := conns[0].SyscallConn()
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

// connect opens a transfer's connections and returns both ends of each, those
// of the client and those of the server; the caller closes them, after an error
// too.
func connect(ctx context.Context, l *lab.Lab, t transfer) (conns, peers []*net.TCPConn, err error) {
	address := net.JoinHostPort(l.PeerAddr(), fmt.Sprint(probePort))
	var listener net.Listener
	err = l.Inside(lab.ServerHost, func() (err error) {
		config := net.ListenConfig{Control: t.options}
		config.SetMultipathTCP(false)
		listener, err = config.Listen(ctx, "tcp4", address)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	for range max(t.streams, 1) {
		var conn net.Conn
		err = l.Inside(lab.ClientHost, func() (err error) {
			dialer := net.Dialer{Control: t.options, Timeout: 10 * time.Second}
			dialer.SetMultipathTCP(false)
			conn, err = dialer.DialContext(ctx, "tcp4", address)
			return err
		})
		if err != nil {
			return conns, peers, err
		}
		near := conn.(*net.TCPConn)
		conns = append(conns, near)
		peer, err := listener.Accept()
		if err != nil {
			return conns, peers, err
		}
		far := peer.(*net.TCPConn)
		peers = append(peers, far)
		// Closing throws away what is not sent; only full segments are.
		if err := errors.Join(near.SetLinger(0), far.SetLinger(0), near.SetNoDelay(false)); err != nil {
			return conns, peers, err
		}
	}
	return conns, peers, nil
}

// options sets what must be known of a socket before it is connected.
func (t transfer) options(_, _ string, c syscall.RawConn) error {
	const buffer = 64 << 20 // of a socket
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
		} else {
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP, t.window)
		}
	})
	return errors.Join(err, failed)
}

// prepare sets the hosts up for a transfer.
//
// A window is bounded by a socket option (see options and clamp). The receive buffer is
// fixed, so that the kernel does not raise the bound with it, and of a size for
// which windows are offered in multiples of 512 bytes (window scale 9).
//
// Single segments keep the kernel from holding back what it could send in order
// to fill a larger unit (net.ipv4.tcp_tso_win_divisor), for up to 1 ms: no
// formula of a window per round trip knows of that. Nor of delayed
// acknowledgements (RFC 1122): of a small odd window, the last segment waits for
// the first of the next round trip, which costs one in eleven.
func prepare(ctx context.Context, l *lab.Lab, t transfer) error {
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
		err = segmentsOnly(l)
	}
	if t.acks {
		err = errors.Join(err, acknowledgeAll(l))
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

// clamp bounds the window that the receiver offers, which the listener's bound
// did from the first segment on: what was offered once cannot be taken back, and
// megabytes of it would keep the link busy for seconds. Kernels since 6.6 forget
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
func (t transfer) measure(ctx context.Context, l *lab.Lab, peers []*net.TCPConn) (res result, err error) {
	m := meter{transfer: t, lab: l, peers: peers, begin: time.Now()}
	m.slice.length = max(10*l.Link(0).RTT(), 100*time.Millisecond)
	ended := make(chan error, len(peers))
	for _, p := range peers {
		if err := p.SetReadDeadline(m.begin.Add(t.omit + patience*t.duration)); err != nil {
			return res, err
		}
	}
	for _, p := range peers {
		go func() { ended <- m.read(ctx, p) }()
	}
	for range peers {
		err = errors.Join(err, <-ended)
	}
	if err := errors.Join(err, ctx.Err()); err != nil {
		return res, err
	}
	if m.slice.counted == 0 && m.slice.leftOut == 0 {
		return res, errors.New("nothing arrived")
	}
	res.goodput, res.counted, res.leftOut = m.slice.rate(), m.slice.counted, m.slice.leftOut
	res.enough = m.slice.counted >= t.duration
	return res, nil
}

// meter adds up what arrives by the connections of a transfer.
type meter struct {
	transfer transfer
	lab      *lab.Lab
	peers    []*net.TCPConn
	begin    time.Time

	mu    sync.Mutex
	slice slicer
}

// read reads one connection until there is enough of all, or no time left.
func (m *meter) read(ctx context.Context, peer *net.TCPConn) error {
	buf := make([]byte, 1<<18)
	for ctx.Err() == nil {
		m.transfer.clamp(peer)
		n, err := peer.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		if m.add(int64(n)) {
			for _, p := range m.peers { // the other readers end too
				p.SetReadDeadline(m.begin)
			}
			return nil
		}
	}
	return nil
}

// add counts n bytes that were read, and says whether it is enough.
func (m *meter) add(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); now.Sub(m.begin) >= m.transfer.omit {
		m.slice.add(n, now, m.lab.Mark)
	}
	return m.slice.counted >= m.transfer.duration
}

// slicer adds up what arrives in slices of time.
type slicer struct {
	length           time.Duration
	mark             lab.Mark
	bytes            int64 // in this slice
	late             bool  // the emulator was behind in the slice before
	sum, sumLeftOut  int64
	counted, leftOut time.Duration
}

// add takes n bytes that were read at now.
func (s *slicer) add(n int64, now time.Time, look func() lab.Mark) {
	if s.mark.At.IsZero() {
		s.mark = look() // what this read brought came before
		return
	}
	s.bytes += n
	if now.Sub(s.mark.At) < s.length {
		return
	}
	mark := look()
	d := mark.Since(s.mark)
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

// segmentsOnly makes the client's interface take one segment at a time.
func segmentsOnly(l *lab.Lab) error {
	return l.OnInterface(lab.ClientHost, func(h *netlink.Handle, link netlink.Link) error {
		return h.LinkSetGSOMaxSegs(link, 1)
	})
}

// acknowledgeAll makes the server acknowledge each segment that comes by its
// interface's own subnet.
func acknowledgeAll(l *lab.Lab) error {
	return l.OnInterface(lab.ServerHost, func(h *netlink.Handle, link netlink.Link) error {
		routes, err := h.RouteList(link, netlink.FAMILY_V4)
		if err != nil {
			return err
		}
		for _, r := range routes {
			r.QuickACK = 1
			if err := h.RouteReplace(&r); err != nil {
				return fmt.Errorf("route %s with quickack: %w", r.Dst, err)
			}
		}
		return nil
	})
}
