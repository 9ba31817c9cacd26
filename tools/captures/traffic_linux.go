package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// traffic is what the two programs of a capture do.
type traffic struct {
	CC            string  `json:"cc"`
	Seconds       float64 `json:"seconds"`
	Bytes         int     `json:"bytes"` // at most; 0: for Seconds
	Write         int     `json:"write"` // bytes of each write
	Every         float64 `json:"every"` // seconds between writes
	SendBuffer    int     `json:"send_buffer"`
	ReceiveBuffer int     `json:"receive_buffer"`
	Read          int     `json:"read"`   // bytes a second that the server reads
	Parts         []int   `json:"parts"`  // writes of a request
	Answer        int     `json:"answer"` // bytes
	Reset         int     `json:"reset"`  // the server resets after so many bytes
}

func (t traffic) String() string {
	text, _ := json.Marshal(t)
	return string(text)
}

func parseTraffic(args []string) (t traffic, err error) {
	if len(args) != 1 {
		return t, errors.New("the traffic is expected, as JSON")
	}
	return t, json.Unmarshal([]byte(args[0]), &t)
}

const port = ":5001"

// send is the client: it sends, and prints what the kernel says of that.
func send(args []string) error {
	t, err := parseTraffic(args)
	if err != nil {
		return err
	}
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var set error
		err := raw.Control(func(fd uintptr) {
			if t.SendBuffer > 0 {
				set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, t.SendBuffer)
			}
			set = errors.Join(set, unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, t.CC))
		})
		return errors.Join(err, set)
	}}
	c, err := d.DialContext(context.Background(), "tcp", os.Getenv("WIRERATE_PEER")+port)
	if err != nil {
		return err
	}
	defer c.Close()
	tcp := c.(*net.TCPConn)
	_ = tcp.SetNoDelay(false)
	_ = tcp.SetWriteDeadline(time.Now().Add(time.Duration(3 * t.Seconds * float64(time.Second))))
	w := watch(tcp, t.CC)
	err = t.write(tcp, &w.writing)
	if err == nil {
		drain(tcp, t.Seconds)
	}
	for _, expected := range []error{os.ErrDeadlineExceeded, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, expected) {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(w.end())
	fmt.Println(string(text))
	return err
}

// drain waits until everything is acknowledged, at most for so many seconds.
func drain(c *net.TCPConn, seconds float64) {
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for ; time.Now().Before(end); time.Sleep(sampling) {
		if s, err := sampled(c, ""); err != nil || s.Unacked == 0 && s.NotSent == 0 {
			return
		}
	}
}

func (t traffic) write(c *net.TCPConn, writing *atomic.Bool) error {
	data := make([]byte, max(t.Write, 1<<17))
	if t.Write > 0 {
		data = data[:t.Write]
	}
	end := time.Now().Add(time.Duration(t.Seconds * float64(time.Second)))
	next := time.Now()
	for sent := 0; time.Now().Before(end) && (t.Bytes == 0 || sent < t.Bytes); {
		if len(t.Parts) > 0 {
			for _, n := range t.Parts {
				if _, err := c.Write(data[:n]); err != nil {
					return err
				}
			}
			if _, err := io.ReadFull(c, data[:t.Answer]); err != nil {
				return err
			}
			continue
		}
		if t.Bytes > 0 {
			data = data[:min(len(data), t.Bytes-sent)]
		}
		writing.Store(true)
		n, err := c.Write(data)
		writing.Store(false)
		if sent += n; err != nil {
			return err
		}
		if t.Every > 0 {
			next = next.Add(time.Duration(t.Every * float64(time.Second)))
			time.Sleep(time.Until(next))
		}
	}
	return nil
}

// serve is the server: it reads what it is sent, and answers requests.
func serve(args []string) error {
	t, err := parseTraffic(args)
	if err != nil {
		return err
	}
	l := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			if t.ReceiveBuffer > 0 {
				_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, t.ReceiveBuffer)
			}
		})
	}}
	listener, err := l.Listen(context.Background(), "tcp", port)
	if err != nil {
		return err
	}
	for {
		c, err := listener.Accept()
		if err != nil {
			return err
		}
		go t.read(c.(*net.TCPConn))
	}
}

func (t traffic) read(c *net.TCPConn) {
	defer c.Close()
	size, want := 1<<18, 0
	if t.Read > 0 {
		size = 1 << 16
	}
	for _, n := range t.Parts {
		want += n
	}
	data := make([]byte, size)
	began, total := time.Now(), 0
	for {
		if want > 0 { // the kernel turns to quick acknowledgements again by itself
			if raw, err := c.SyscallConn(); err == nil {
				_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 0) })
			}
		}
		n, err := c.Read(data)
		if total += n; err != nil {
			return
		}
		if t.Reset > 0 && total > t.Reset {
			_ = c.SetLinger(0)
			return
		}
		if want > 0 && total%want == 0 {
			if _, err := c.Write(data[:t.Answer]); err != nil {
				return
			}
		}
		if t.Read > 0 {
			time.Sleep(time.Duration(float64(total)/float64(t.Read)*1e9) - time.Since(began))
		}
	}
}
