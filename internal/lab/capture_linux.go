package lab

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"golang.org/x/sys/unix"
)

const (
	captureLength = 128
	captureBuffer = 64 << 20 // of the socket
	captureWait   = 50       // ms without a packet, after which the end is looked for
)

// capture is a packet capture of all interfaces of a host but its loopback.
type capture struct {
	file *os.File
	ends atomic.Bool
	done chan error
}

// startCapture begins to write what a host's interfaces send and receive to a
// pcapng file, 128 bytes of each packet, from the IP header on.
func startCapture(at Site, name string) (*capture, error) {
	ns, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", at.pid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("network namespace of process %d: %w", at.pid, err)
	}
	defer unix.Close(ns)
	var fd int
	if err := inNamespace(ns, func() error { fd, err = packetSocket(); return err }); err != nil {
		return nil, fmt.Errorf("capture packets: %w", err)
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	c := &capture{file: file, done: make(chan error, 1)}
	go func() { c.done <- errors.Join(c.write(fd), unix.Close(fd), file.Close()) }()
	return c, nil
}

// packetSocket sees every packet from its IP header on, with its time in
// nanoseconds (packet(7)).
func packetSocket() (int, error) {
	all := int(unix.ETH_P_ALL>>8 | unix.ETH_P_ALL<<8&0xffff)
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, all)
	if err != nil {
		return -1, err
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, captureBuffer) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, captureBuffer)
	}
	wait := unix.NsecToTimeval(captureWait * 1e6)
	err = errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait))
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

func (c *capture) write(fd int) error {
	buffered := bufio.NewWriterSize(c.file, 1<<20)
	w, err := pcapgo.NewNgWriterInterface(buffered, pcapgo.NgInterface{Name: interfaceName(0),
		LinkType: layers.LinkTypeRaw, SnapLength: captureLength, TimestampResolution: 9}, pcapgo.NgWriterOptions{})
	if err != nil {
		return err
	}
	data, control := make([]byte, captureLength), make([]byte, unix.CmsgSpace(16))
	for {
		n, control, from, err := receive(fd, data, control)
		switch {
		case errors.Is(err, unix.EAGAIN) && c.ends.Load():
			return errors.Join(c.statistics(fd, w), w.Flush(), buffered.Flush())
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return errors.Join(fmt.Errorf("capture packets: %w", err), w.Flush(), buffered.Flush())
		}
		if a, ok := from.(*unix.SockaddrLinklayer); !ok || a.Hatype == unix.ARPHRD_LOOPBACK {
			continue
		}
		ci := gopacket.CaptureInfo{Timestamp: stamp(control), CaptureLength: min(n, captureLength), Length: n}
		if err := w.WritePacket(ci, data[:ci.CaptureLength]); err != nil {
			return err
		}
	}
}

// receive reads a packet; n is its length on the wire.
func receive(fd int, data, control []byte) (n int, rest []byte, from unix.Sockaddr, err error) {
	n, oob, _, from, err := unix.Recvmsg(fd, data, control, unix.MSG_TRUNC)
	if err != nil {
		return 0, nil, nil, err
	}
	return n, control[:oob], from, nil
}

// stamp is the time at which the kernel saw a packet.
func stamp(control []byte) time.Time {
	messages, err := unix.ParseSocketControlMessage(control)
	if err == nil {
		for _, m := range messages {
			if m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= 16 {
				return time.Unix(int64(binary.NativeEndian.Uint64(m.Data)),
					int64(binary.NativeEndian.Uint64(m.Data[8:])))
			}
		}
	}
	return time.Now()
}

// statistics writes how many packets the socket had no room for.
func (c *capture) statistics(fd int, w *pcapgo.NgWriter) error {
	s, err := unix.GetsockoptTpacketStats(fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return err
	}
	return w.WriteInterfaceStats(0, pcapgo.NgInterfaceStatistics{LastUpdate: time.Now(),
		PacketsReceived: uint64(s.Packets), PacketsDropped: uint64(s.Drops)})
}

// end stops the capture once nothing has come for a moment.
func (c *capture) end() error {
	c.ends.Store(true)
	return <-c.done
}
