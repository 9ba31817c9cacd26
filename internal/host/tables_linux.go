package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

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

// diagRequest is struct inet_diag_req_v2 (include/uapi/linux/inet_diag.h).
type diagRequest struct {
	family, protocol, extensions, pad uint8
	states                            uint32
	id                                [48]byte
}

// Serialize and Len make it a part of a request.
func (r *diagRequest) Serialize() []byte {
	b := make([]byte, r.Len())
	b[0], b[1], b[2] = r.family, r.protocol, r.extensions
	binary.NativeEndian.PutUint32(b[4:], r.states)
	return b
}

// Len is its length in bytes.
func (r *diagRequest) Len() int { return int(unsafe.Sizeof(*r)) }

// watched are the states of connections that may move data, and of listening
// sockets (include/net/tcp_states.h). Those that wait for their end do not.
const watched = 1<<netlink.TCP_ESTABLISHED | 1<<netlink.TCP_SYN_SENT | 1<<netlink.TCP_FIN_WAIT1 |
	1<<netlink.TCP_CLOSE_WAIT | 1<<netlink.TCP_LAST_ACK | 1<<netlink.TCP_LISTEN

// connections are the answers of sock_diag(7) about TCP, each behind its length.
func connections() ([]byte, error) {
	var out []byte
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		req := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, unix.NLM_F_DUMP)
		req.AddData(&diagRequest{family: family, protocol: unix.IPPROTO_TCP, states: watched,
			extensions: 1<<(netlink.INET_DIAG_INFO-1) | 1<<(netlink.INET_DIAG_SKMEMINFO-1) | 1<<(netlink.INET_DIAG_CONG-1)})
		err := req.ExecuteIter(unix.NETLINK_INET_DIAG, nl.SOCK_DIAG_BY_FAMILY, func(msg []byte) bool {
			if len(out)+len(msg) > readLimit {
				return false
			}
			out = binary.NativeEndian.AppendUint32(out, uint32(len(msg)))
			out = append(out, msg...)
			return true
		})
		if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
			if family == unix.AF_INET6 && errors.Is(err, syscall.ENOENT) {
				continue // a kernel without IPv6
			}
			return nil, fmt.Errorf("sock_diag: %w", err)
		}
	}
	return out, nil
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
