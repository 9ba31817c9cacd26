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
func table(t Table, of []byte) ([]byte, error) {
	switch t {
	case Connections:
		return connections(of[:0])
	case ConnectionList:
		return connectionList(of[:0])
	case ConnectionsOf:
		return connectionsOf(of)
	case Devices:
		return devices()
	}
	return nil, fmt.Errorf("unknown table %q", t)
}

// diagRequest is struct inet_diag_req_v2 (include/uapi/linux/inet_diag.h), which
// asks for one socket by its struct inet_diag_sockid.
type diagRequest struct {
	family, protocol, extensions uint8
	states                       uint32
	socket                       []byte
}

// Serialize and Len make it a part of a request.
func (r *diagRequest) Serialize() []byte {
	b := make([]byte, r.Len())
	b[0], b[1], b[2] = r.family, r.protocol, r.extensions
	binary.NativeEndian.PutUint32(b[4:], r.states)
	copy(b[8:], r.socket)
	return b
}

// Len is its length in bytes, with that of the socket's identity.
func (r *diagRequest) Len() int { return 8 + 48 }

// watched are the states of connections that may move data, and of listening
// sockets (include/net/tcp_states.h). Those that wait for their end do not.
const watched = 1<<netlink.TCP_ESTABLISHED | 1<<netlink.TCP_SYN_SENT | 1<<netlink.TCP_FIN_WAIT1 |
	1<<netlink.TCP_CLOSE_WAIT | 1<<netlink.TCP_LAST_ACK | 1<<netlink.TCP_LISTEN

// extensions are TCP_INFO, the memory and the congestion control.
const extensions = 1<<(netlink.INET_DIAG_INFO-1) | 1<<(netlink.INET_DIAG_SKMEMINFO-1) | 1<<(netlink.INET_DIAG_CONG-1)

// openDiag opens a socket for questions to sock_diag(7).
func openDiag() (int, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return -1, fmt.Errorf("sock_diag: %w", err)
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 20}); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("sock_diag: %w", err)
	}
	return fd, nil
}

// connections are the answers of sock_diag(7) about TCP, each behind its length, in
// the room that is given where that is enough.
func connections(out []byte) ([]byte, error) {
	if lastDump.Load() == 0 { // counted, so that the first table takes no more memory than the others
		n := int64(0)
		if err := dump(0, func([]byte) { n++ }); err != nil {
			return nil, err
		}
		lastDump.Store(n * usualAnswer)
	}
	out = withRoom(out, lastDump.Load())
	err := dump(extensions, func(body []byte) {
		if len(out)+len(body) < readLimit {
			out = append(binary.NativeEndian.AppendUint32(out, uint32(len(body))), body...)
		}
	})
	lastDump.Store(int64(len(out) + len(out)/8))
	return out, err
}

// connectionList is what sock_diag(7) says of each socket before all attributes.
func connectionList(out []byte) ([]byte, error) {
	out = withRoom(out, lastList.Load())
	err := dump(0, func(body []byte) {
		if len(body) >= ConnectionHead && len(out) < readLimit-ConnectionHead {
			out = append(out, body[:ConnectionHead]...)
		}
	})
	lastList.Store(int64(len(out) + len(out)/8))
	return out, err
}

// withRoom is the room that is given, or new where that is too little.
func withRoom(out []byte, size int64) []byte {
	if int64(cap(out)) < size {
		return make([]byte, 0, size)
	}
	return out
}

// usualAnswer is about what a socket's answer takes.
const usualAnswer = 500

// lastDump and lastList are how large the next tables may become, so that no time
// goes into making room for them.
var lastDump, lastList atomic.Int64

// dumpRequest is struct inet_diag_req, the older question. Its answer has the
// sockets of IPv4 and IPv6 after one walk through the kernel's table, in place of
// one for each (net/ipv4/inet_diag.c: "compatibility: all families").
type dumpRequest struct{ extensions uint8 }

// Serialize and Len make it a part of a request.
func (r dumpRequest) Serialize() []byte {
	b := make([]byte, r.Len())
	b[0], b[3] = unix.AF_INET, r.extensions
	binary.NativeEndian.PutUint32(b[52:], watched)
	return b
}

// Len is its length in bytes.
func (r dumpRequest) Len() int { return 60 }

// getTCP is TCPDIAG_GETSOCK.
const getTCP = 18

// dump asks for all sockets, and tells the body of each message.
func dump(extensions uint8, tell func(body []byte)) error {
	fd, err := openDiag()
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req := nl.NewNetlinkRequest(getTCP, unix.NLM_F_DUMP)
	req.AddData(dumpRequest{extensions})
	if err := unix.Sendto(fd, req.Serialize(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("sock_diag: %w", err)
	}
	if err := receive(fd, -1, tell); err != nil {
		return fmt.Errorf("sock_diag: %w", err)
	}
	return nil
}

// askedAtOnce is how many sockets one question names: their answers fit into the
// buffer of a netlink socket as it is by default.
const askedAtOnce = 64

// connectionsOf are the answers about single sockets, each given by its
// ConnectionHead. Those that have ended are left out.
func connectionsOf(heads []byte) ([]byte, error) {
	if len(heads)%ConnectionHead != 0 {
		return nil, fmt.Errorf("sock_diag: %d bytes name no whole number of sockets", len(heads))
	}
	fd, err := openDiag()
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	out := make([]byte, 0, len(heads)*8)
	for len(heads) > 0 {
		n := min(len(heads), askedAtOnce*ConnectionHead)
		var question []byte
		for at := 0; at < n; at += ConnectionHead {
			req := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, unix.NLM_F_REQUEST)
			req.AddData(&diagRequest{family: heads[at], protocol: unix.IPPROTO_TCP, states: watched, extensions: extensions,
				socket: heads[at+4 : at+52]})
			question = append(question, req.Serialize()...)
		}
		if err := unix.Sendto(fd, question, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return nil, fmt.Errorf("sock_diag: %w", err)
		}
		err := receive(fd, n/ConnectionHead, func(body []byte) {
			if len(out)+len(body) < readLimit {
				out = append(binary.NativeEndian.AppendUint32(out, uint32(len(body))), body...)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("sock_diag: %w", err)
		}
		heads = heads[n:]
	}
	return out, nil
}

// receive takes the messages of a dump up to its end, where single is below 0;
// else so many single answers, of which errors are about sockets that have ended.
// The library makes a copy of each, which is most of the time that a table of
// 10,000 takes.
func receive(fd, single int, tell func(body []byte)) error {
	buf := make([]byte, 1<<16)
	for single != 0 {
		n, from, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return err
		}
		if sender, ok := from.(*unix.SockaddrNetlink); !ok || sender.Pid != 0 {
			continue // not the kernel
		}
		for b := buf[:n]; len(b) >= unix.SizeofNlMsghdr; {
			size, kind := int(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint16(b[4:])
			if size < unix.SizeofNlMsghdr || size > len(b) {
				return fmt.Errorf("a message of %d bytes where %d are left", size, len(b))
			}
			body := b[unix.SizeofNlMsghdr:size]
			switch {
			case kind == unix.NLMSG_DONE:
				return nil
			case kind == unix.NLMSG_ERROR && len(body) >= 4:
				if errno := syscall.Errno(-int32(binary.NativeEndian.Uint32(body))); single < 0 || errno == syscall.ENOBUFS {
					return errno
				}
			case kind == nl.SOCK_DIAG_BY_FAMILY || kind == getTCP:
				tell(body)
			}
			single--
			b = b[min((size+3)&^3, len(b)):]
		}
	}
	return nil
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
		all = append(all, counter{"queue_dropped", uint64(q.Queue.Drops)},
			counter{"queue_bytes", uint64(q.Queue.Backlog)})
	}
	for _, c := range all {
		out = fmt.Appendf(out, "%s %s %d\n", a.Name, c.name, c.value)
	}
	return out
}
