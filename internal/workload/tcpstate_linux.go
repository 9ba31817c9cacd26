package workload

import (
	"net"

	"golang.org/x/sys/unix"
)

// tcpState returns how many segments a connection sent again and its smoothed
// round-trip time in s (TCP_INFO, tcp(7)).
func tcpState(c net.Conn) (repeated int64, rtt float64, ok bool) {
	tcp, is := c.(*net.TCPConn)
	if !is {
		return 0, 0, false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			repeated, rtt, ok = int64(info.Total_retrans), float64(info.Rtt)/1e6, true
		}
	})
	return repeated, rtt, ok && err == nil
}
