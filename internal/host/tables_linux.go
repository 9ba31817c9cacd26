package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// table reads a table of the kernel over netlink.
func table(t Table) ([]byte, error) {
	switch t {
	case Connections:
		return connections()
	case Devices:
		return devices()
	}
	return nil, fmt.Errorf("unknown table %q", t)
}

// diagRequest is struct inet_diag_req_v2 (include/uapi/linux/inet_diag.h), which
// asks for all sockets.
type diagRequest struct {
	family, protocol, extensions uint8
	states                       uint32
}

// Serialize and Len make it a part of a request.
func (r *diagRequest) Serialize() []byte {
	b := make([]byte, r.Len())
	b[0], b[1], b[2] = r.family, r.protocol, r.extensions
	binary.NativeEndian.PutUint32(b[4:], r.states)
	return b
}

// Len is its length in bytes, with that of the socket's identity.
func (r *diagRequest) Len() int { return 8 + 48 }

// watched are the states of connections that may move data, and of listening
// sockets (include/net/tcp_states.h). Those that wait for their end do not.
const watched = 1<<netlink.TCP_ESTABLISHED | 1<<netlink.TCP_SYN_SENT | 1<<netlink.TCP_FIN_WAIT1 |
	1<<netlink.TCP_CLOSE_WAIT | 1<<netlink.TCP_LAST_ACK | 1<<netlink.TCP_LISTEN

// connections are the answers of sock_diag(7) about TCP, each behind its length.
func connections() ([]byte, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, fmt.Errorf("sock_diag: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 20}); err != nil {
		return nil, fmt.Errorf("sock_diag: %w", err)
	}
	out := make([]byte, 0, lastDump.Load())
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		req := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, unix.NLM_F_DUMP)
		req.AddData(&diagRequest{family: family, protocol: unix.IPPROTO_TCP, states: watched,
			extensions: 1<<(netlink.INET_DIAG_INFO-1) | 1<<(netlink.INET_DIAG_SKMEMINFO-1) | 1<<(netlink.INET_DIAG_CONG-1)})
		if err := unix.Sendto(fd, req.Serialize(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return nil, fmt.Errorf("sock_diag: %w", err)
		}
		out, err = receiveDump(fd, out)
		if err != nil && (family == unix.AF_INET || !errors.Is(err, syscall.ENOENT)) { // a kernel without IPv6
			return nil, fmt.Errorf("sock_diag: %w", err)
		}
	}
	lastDump.Store(int64(len(out) + len(out)/8))
	return out, nil
}

// lastDump is how large the next table may become, so that no time goes into
// making room for it.
var lastDump atomic.Int64

// receiveDump takes the messages of an answer up to its end. The library makes a
// copy of each, which is most of the time that a table of 10,000 takes.
func receiveDump(fd int, out []byte) ([]byte, error) {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return out, err
		}
		if sender, ok := from.(*unix.SockaddrNetlink); !ok || sender.Pid != 0 {
			continue // not the kernel
		}
		for b := buf[:n]; len(b) >= unix.SizeofNlMsghdr; {
			size, kind := int(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint16(b[4:])
			if size < unix.SizeofNlMsghdr || size > len(b) {
				return out, fmt.Errorf("a message of %d bytes where %d are left", size, len(b))
			}
			body := b[unix.SizeofNlMsghdr:size]
			switch {
			case kind == unix.NLMSG_DONE:
				return out, nil
			case kind == unix.NLMSG_ERROR && len(body) >= 4:
				return out, syscall.Errno(-int32(binary.NativeEndian.Uint32(body)))
			case kind == nl.SOCK_DIAG_BY_FAMILY && len(out)+len(body) < readLimit:
				out = binary.NativeEndian.AppendUint32(out, uint32(len(body)))
				out = append(out, body...)
			}
			b = b[min((size+3)&^3, len(b)):]
		}
	}
}

// devices are lines of an interface's counters: name, counter, value; with those
// of its outermost queueing discipline.
func devices() ([]byte, error) {
	links, err := netlink.LinkList()
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return nil, fmt.Errorf("links: %w", err)
	}
	list, err := netlink.QdiscList(nil)
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return nil, fmt.Errorf("queueing disciplines: %w", err)
	}
	queued := map[int]*netlink.QdiscStatistics{}
	for _, q := range list {
		if a := q.Attrs(); a.Parent == netlink.HANDLE_ROOT && a.Statistics != nil && a.Statistics.Queue != nil {
			queued[a.LinkIndex] = a.Statistics
		}
	}
	var out []byte
	for _, l := range links {
		out = appendDevice(out, l.Attrs(), queued[l.Attrs().Index])
	}
	return out, nil
}

func appendDevice(out []byte, a *netlink.LinkAttrs, q *netlink.QdiscStatistics) []byte {
	s := a.Statistics
	if s == nil {
		return out
	}
	type counter struct {
		name  string
		value uint64
	}
	all := []counter{{"rx_bytes", s.RxBytes}, {"tx_bytes", s.TxBytes}, {"rx_packets", s.RxPackets},
		{"tx_packets", s.TxPackets}, {"rx_errors", s.RxErrors}, {"tx_errors", s.TxErrors}, {"rx_dropped", s.RxDropped},
		{"tx_dropped", s.TxDropped}, {"rx_missed", s.RxMissedErrors}, {"rx_fifo", s.RxFifoErrors},
		{"rx_crc", s.RxCrcErrors}, {"tx_carrier", s.TxCarrierErrors}}
	if q != nil {
		all = append(all, counter{"queue_dropped", uint64(q.Queue.Drops)}, counter{"queue_bytes", uint64(q.Queue.Backlog)})
	}
	for _, c := range all {
		out = fmt.Appendf(out, "%s %s %d\n", a.Name, c.name, c.value)
	}
	return out
}
