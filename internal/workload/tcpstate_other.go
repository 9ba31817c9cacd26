//go:build !linux

package workload

import "net"

// tcpState is known on Linux only.
func tcpState(net.Conn) (repeated int64, rtt float64, ok bool) { return 0, 0, false }
