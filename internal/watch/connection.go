// Package watch looks at a host again and again: what limits each connection
// and the host now, since when, and what it was before.
package watch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// Connection is one TCP socket as the kernel shows it at one moment. Times that
// the kernel counts are since the connection began.
type Connection struct {
	Local, Peer netip.AddrPort
	State       TCPState
	ID          uint64 // the kernel's cookie: no later socket has it
	Receive     uint32 // bytes that the program has not read; of a listening socket, connections that wait
	Send        uint32 // bytes not acknowledged; of a listening socket, how many connections may wait
	QueuesOnly  bool   // nothing but its queues and their limits is known
	Probing     bool   // the peer's window is closed, and it is asked again and again

	AppLimited   bool // the last delivery rate was limited by the program
	Backoff      uint8
	MSS          uint32
	Unacked      uint32 // segments
	Sacked, Lost uint32
	RTT, MinRTT  time.Duration // 0 is not known
	Threshold    uint32        // of slow start, in segments
	Window       uint32        // congestion window in segments
	Retransmits  uint32
	PacingLimit  uint64 // bytes a second that the program asked for; the largest number is none
	Acked        uint64 // bytes
	Received     uint64
	NotSent      uint32        // bytes
	Delivery     uint64        // bytes a second
	Busy         time.Duration // with something to send
	PeerLimited  time.Duration // the peer's window was full
	SendLimited  time.Duration // the send buffer was full
	Segments     uint32        // with data, sent
	Offered      uint32        // the peer's window in bytes, 0 before Linux 5.4
	LastReceived time.Duration // how long ago data came
	LastAck      time.Duration // how long ago an acknowledgement came

	Modelled bool // the congestion control keeps to a rate that it measures: BBR

	ReceiveBuffer, SendBuffer uint32 // limits of memory in bytes, 0 is not known
	Dropped                   uint32 // packets that had no room
}

// TCPState is a TCP state by the kernel's number (include/net/tcp_states.h).
type TCPState uint8

// The states that matter here.
const (
	Established TCPState = 1
	Listening   TCPState = 10
)

const (
	messageSize = host.ConnectionHead
	infoSize    = 192
	attrInfo    = 2   // INET_DIAG_INFO
	attrMemory  = 7   // INET_DIAG_SKMEMINFO
	attrControl = 4   // INET_DIAG_CONG
	usualAnswer = 460 // bytes
	probeTimer  = 4
	inet6       = 10 // AF_INET6 on Linux
)

// ParseConnections adds the kernel's table of connections (host.Connections) to a
// list.
func ParseConnections(data []byte, list []Connection) ([]Connection, error) {
	list = slices.Grow(list, len(data)/usualAnswer)
	for at := 0; at < len(data); {
		if len(data)-at < 4 {
			return list, fmt.Errorf("connections: %d bytes at the end", len(data)-at)
		}
		size := int(binary.NativeEndian.Uint32(data[at:]))
		at += 4
		if size < messageSize || size > len(data)-at {
			return list, fmt.Errorf("connections: a message of %d bytes at byte %d", size, at)
		}
		list = append(list, Connection{})
		if err := list[len(list)-1].parse(data[at : at+size]); err != nil {
			return list[:len(list)-1], fmt.Errorf("connections: at byte %d: %w", at, err)
		}
		at += size
	}
	return list, nil
}

// parse reads struct inet_diag_msg and its attributes
// (include/uapi/linux/inet_diag.h).
func (c *Connection) parse(b []byte) error {
	c.head(b)
	for b = b[messageSize:]; len(b) >= 4; {
		size, kind := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
		if size < 4 || size > len(b) {
			return fmt.Errorf("an attribute of %d bytes where %d are left", size, len(b))
		}
		switch value := b[4:size]; {
		case kind == attrInfo && len(value) >= infoSize:
			c.info(value)
		case kind == attrControl:
			c.Modelled = bytes.HasPrefix(value, []byte("bbr"))
		case kind == attrMemory && len(value) >= 36:
			c.ReceiveBuffer, c.SendBuffer, c.Dropped = u32(value, 4), u32(value, 12), u32(value, 32)
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return nil
}

// head reads struct inet_diag_msg.
func (c *Connection) head(b []byte) {
	c.State = TCPState(b[1])
	c.Probing = b[2] == probeTimer
	c.Local = address(b[0], b[8:24], binary.BigEndian.Uint16(b[4:]))
	c.Peer = address(b[0], b[24:40], binary.BigEndian.Uint16(b[6:]))
	c.ID = uint64(u32(b, 44)) | uint64(u32(b, 48))<<32
	c.Receive, c.Send = u32(b, 56), u32(b, 60)
}

// info reads struct tcp_info (include/uapi/linux/tcp.h), at least that of Linux
// 4.10.
func (c *Connection) info(b []byte) {
	flag := byte(1)
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		flag = 1 << 7 // bits count from the other end
	}
	c.Backoff, c.AppLimited = b[4], b[7]&flag != 0
	c.MSS, c.Unacked, c.Sacked, c.Lost = u32(b, 16), u32(b, 24), u32(b, 28), u32(b, 32)
	c.LastReceived, c.LastAck = millis(b, 52), millis(b, 56)
	c.RTT, c.Threshold, c.Window = micros(uint64(u32(b, 68))), u32(b, 76), u32(b, 80)
	c.Retransmits = u32(b, 100)
	c.PacingLimit, c.Acked, c.Received = u64(b, 112), u64(b, 120), u64(b, 128)
	c.NotSent, c.Segments = u32(b, 144), u32(b, 156)
	if least := u32(b, 148); least != 1<<32-1 {
		c.MinRTT = micros(uint64(least))
	}
	c.Delivery = u64(b, 160)
	c.Busy, c.PeerLimited, c.SendLimited = micros(u64(b, 168)), micros(u64(b, 176)), micros(u64(b, 184))
	if len(b) >= 232 {
		c.Offered = u32(b, 228)
	}
}

func u32(b []byte, at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
func u64(b []byte, at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }

// micros is a time of the kernel; what no machine has run for is none.
func micros(us uint64) time.Duration {
	if us > 1<<50 {
		return 0
	}
	return time.Duration(us) * time.Microsecond
}

func millis(b []byte, at int) time.Duration { return time.Duration(u32(b, at)) * time.Millisecond }

func address(family byte, b []byte, port uint16) netip.AddrPort {
	if family == inet6 {
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b)).Unmap(), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b)), port)
}
