package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// load is one end of the traffic in a lab, and the watching beside it: this
// program again, run on a host of the lab.
type load struct {
	flows, receive, send, backlog int
	rate                          float64 // bit/s that its program moves; 0 is all
	control                       string
	watch, program                string // the file for what watch says, and wirerate
	lasts                         time.Duration
	accept, loopback              bool
}

// runLoad takes "serve", "send", "open", "ask" or "track" and flags.
func runLoad(kind string, args []string) error {
	var l load
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.IntVar(&l.flows, "flows", 1, "")
	f.IntVar(&l.receive, "rcvbuf", 0, "")
	f.IntVar(&l.send, "sndbuf", 0, "")
	f.IntVar(&l.backlog, "backlog", 1024, "")
	f.Float64Var(&l.rate, "rate", 0, "")
	f.StringVar(&l.control, "cc", "", "")
	f.StringVar(&l.watch, "watch", "", "")
	f.StringVar(&l.program, "program", "wirerate", "")
	f.DurationVar(&l.lasts, "for", 6*time.Second, "")
	f.BoolVar(&l.loopback, "lo", false, "")
	f.BoolVar(&l.accept, "accept", true, "")
	if err := f.Parse(args); err != nil {
		return err
	}
	if l.watch != "" {
		stop, err := l.look()
		if err != nil {
			return err
		}
		defer stop()
	}
	if kind == "serve" {
		return l.serve()
	}
	if kind != "many" {
		time.Sleep(4 * time.Second) // watch sees the host at rest first
	}
	if kind != "many" && kind != "track" {
		fmt.Println(time.Now().UnixMilli())
	}
	run := map[string]func(string) error{"send": l.sendAll, "open": l.open, "ask": l.ask,
		"track": l.track, "flood": l.flood,
		"rest": func(string) error { time.Sleep(l.lasts); return nil }, "many": l.many}[kind]
	if run == nil {
		return fmt.Errorf("no load %q", kind)
	}
	if l.loopback {
		return run("127.0.0.1")
	}
	return run(os.Getenv("WIRERATE_PEER"))
}

// look watches this host.
func (l *load) look() (stop func(), err error) {
	out, err := os.Create(l.watch)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(l.program, "watch", "--json")
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait(); out.Close() }, nil
}

// options sets a socket's buffers and congestion control before it connects or
// listens.
func (l *load) options(_, _ string, c syscall.RawConn) (err error) {
	set := func(fd uintptr) {
		if l.receive > 0 {
			err = errors.Join(err, unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, l.receive/2))
		}
		if l.send > 0 {
			err = errors.Join(err, unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, l.send/2))
		}
		if l.control != "" {
			err = errors.Join(err, unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, l.control))
		}
	}
	return errors.Join(c.Control(set), err)
}

const loadPort = 5000

// serve reads what comes on all connections, at most at its rate.
func (l *load) serve() error {
	config := net.ListenConfig{Control: l.options}
	ln, err := config.Listen(context.Background(), "tcp4", ":"+strconv.Itoa(loadPort))
	if err != nil {
		return err
	}
	raw, err := ln.(*net.TCPListener).SyscallConn()
	if err != nil {
		return err
	}
	if err := raw.Control(func(fd uintptr) { err = unix.Listen(int(fd), l.backlog) }); err != nil {
		return err
	}
	if !l.accept {
		select {}
	}
	for {
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		go l.read(c)
	}
}

func (l *load) read(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 1<<16)
	if l.rate > 0 {
		buf = buf[:max(int(l.rate/8/20), 1)]
	}
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if l.rate > 0 {
			time.Sleep(time.Duration(float64(n) * 8 / l.rate * 1e9))
		} else if n == 1 { // a question
			c.Write(buf[:1])
		}
	}
}

func (l *load) dial(peer string) (net.Conn, error) {
	d := net.Dialer{Control: l.options, Timeout: 3 * time.Second}
	return d.Dial("tcp4", net.JoinHostPort(peer, strconv.Itoa(loadPort)))
}

// sendAll writes on all flows, at most at its rate on each.
func (l *load) sendAll(peer string) error {
	end := time.Now().Add(l.lasts)
	errs := make(chan error, l.flows)
	for range l.flows {
		go func() {
			c, err := l.dial(peer)
			if err != nil {
				errs <- err
				return
			}
			defer c.Close()
			c.SetDeadline(end)
			piece := make([]byte, 1<<16)
			if l.rate > 0 {
				piece = piece[:max(int(l.rate/8/50), 1)]
			}
			for next := time.Now(); time.Now().Before(end); {
				if _, err := c.Write(piece); err != nil {
					break
				}
				if l.rate > 0 {
					next = next.Add(20 * time.Millisecond)
					time.Sleep(time.Until(next))
				}
			}
			errs <- nil
		}()
	}
	var all error
	for range l.flows {
		all = errors.Join(all, <-errs)
	}
	return all
}

// open opens connections and does nothing with them.
func (l *load) open(peer string) error {
	end := time.Now().Add(l.lasts)
	for range l.flows {
		go func() {
			for time.Now().Before(end) {
				if c, err := l.dial(peer); err == nil {
					defer c.Close()
					time.Sleep(time.Until(end))
				}
			}
		}()
	}
	time.Sleep(time.Until(end))
	return nil
}

// ask sends a byte at a time and waits for its answer.
func (l *load) ask(peer string) error {
	end := time.Now().Add(l.lasts)
	c, err := l.dial(peer)
	if err != nil {
		return err
	}
	defer c.Close()
	b := []byte{1}
	for time.Now().Before(end) {
		if _, err := c.Write(b); err != nil {
			return err
		}
		if _, err := c.Read(b); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// track sends a datagram over as many pairs of ports as fill a table, and goes on.
func (l *load) track(peer string) error {
	to := [4]byte(net.ParseIP(peer).To4())
	end := time.Now().Add(time.Minute)
	for i := 0; time.Now().Before(end); i++ {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		for port := range 1000 {
			_ = unix.Sendto(fd, []byte{1}, unix.MSG_DONTWAIT, &unix.SockaddrInet4{Port: 10000 + port, Addr: to})
		}
		defer unix.Close(fd)
		if i*1000 == l.flows { // now it is full
			fmt.Println(time.Now().UnixMilli())
			end = time.Now().Add(l.lasts)
		}
	}
	return nil
}

// flood sends datagrams as fast as it can, or at its rate.
func (l *load) flood(peer string) error {
	runtime.LockOSThread()
	var one unix.CPUSet
	one.Set(0)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	c, err := net.Dial("udp4", net.JoinHostPort(peer, "9"))
	if err != nil {
		return err
	}
	defer c.Close()
	piece := make([]byte, max(l.send, 1))
	begin, sent := time.Now(), 0
	for time.Since(begin) < l.lasts {
		for range 16 {
			_, _ = c.Write(piece)
			sent += len(piece)
		}
		if l.rate > 0 {
			time.Sleep(time.Duration(float64(sent)*8/l.rate*1e9) - time.Since(begin))
		}
	}
	return nil
}

// many opens flows, of which every hundredth asks now and then, and measures what
// watch and ss use beside them.
func (l *load) many(peer string) error {
	for i := range l.flows {
		c, err := l.dial(peer)
		if err != nil {
			return fmt.Errorf("connection %d: %w", i, err)
		}
		defer c.Close()
		if i%100 == 0 {
			go func() {
				b := []byte{1}
				for {
					if _, err := c.Write(b); err != nil {
						return
					}
					if _, err := c.Read(b); err != nil {
						return
					}
					time.Sleep(200 * time.Millisecond)
				}
			}()
		}
	}
	cmd := exec.Command(l.program, "watch", "--json")
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() }()
	time.Sleep(10 * time.Second) // what it does once
	before, _, err := used(cmd.Process.Pid)
	if err != nil {
		return err
	}
	begin := time.Now()
	time.Sleep(l.lasts)
	after, memory, err := used(cmd.Process.Pid)
	if err != nil {
		return err
	}
	watching := (after - before).Seconds() / time.Since(begin).Seconds()
	u, err := measure(5, "ss", "-tinm")
	if err != nil {
		return err
	}
	fmt.Printf("%g %d %g %d\n", watching, memory, u.cpu.Seconds(), u.memory)
	return nil
}

// used is the processor time of a process, and the most memory that it had.
func used(pid int) (cpu time.Duration, memory int64, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks [2]int64
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[11+i], 10, 64); err != nil {
			return 0, 0, err
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
		_, err = fmt.Sscan(rest, &memory)
	}
	return time.Duration(ticks[0]+ticks[1]) * 10 * time.Millisecond, memory << 10, err
}
