package workload

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// The protocol of the workloads that are more than a transfer. A TCP
// connection begins with one byte, its mode, and eight bytes, a number:
//
//	r  requests of 64 bytes, each answered with 64, until the client closes
//	x  one such request; the server answers and closes
//	u  frames from the client; the number names their counter. A frame is 16
//	   KiB and begins with an identity; when that is not 0 it is sent back
//	d  frames from the server; an identity that the client sends comes back
//	   at the head of the next frame
//	s  bytes from the client, read at the given number of bit/s
//	c  eight bytes name a counter, its value is the answer, until the client
//	   closes
//	n  eight bytes name a step of numbered datagrams, a line of JSON is the
//	   answer (stepCount), until the client closes
//
// G is that of GET: the connection speaks HTTP/1.1 from its first byte on.
//
// A UDP datagram begins with such a byte and number too: p is numbered and
// counted (stepCount), q is answered with 256 bytes that begin with the same nine.
const (
	modeRequests = 'r'
	modeOnce     = 'x'
	modeUp       = 'u'
	modeDown     = 'd'
	modeSlow     = 's'
	modeCount    = 'c'
	modeSteps    = 'n'
	modeHTTP     = 'G'
	modePacket   = 'p'
	modeQuestion = 'q'

	headSize   = 9
	exchangeN  = 64
	answerSize = 256
	frameSize  = 16 << 10
)

// answerer is the server's end.
type answerer struct {
	mu       sync.Mutex
	counters map[uint64]*atomic.Int64
	steps    steps
	packets  syscall.RawConn
}

func (a *answerer) counter(name uint64) *atomic.Int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.counters[name]
	if c == nil {
		c = new(atomic.Int64)
		a.counters[name] = c
	}
	return c
}

// answerLoad serves until ctx ends, for an hour at most.
func answerLoad(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	var config net.ListenConfig
	packets, err := config.ListenPacket(ctx, "udp", addr)
	if err != nil {
		return err
	}
	listener, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return errors.Join(err, packets.Close())
	}
	stop := context.AfterFunc(ctx, func() { listener.Close(); packets.Close() })
	defer stop()
	raw, err := packets.(*net.UDPConn).SyscallConn()
	if err != nil {
		return errors.Join(err, packets.Close(), listener.Close())
	}
	a := &answerer{counters: map[uint64]*atomic.Int64{}, packets: raw, steps: steps{table: map[uint64]*step{}}}
	go a.datagrams()
	for {
		c, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if exhausted(err) == nil {
				return err
			}
			time.Sleep(time.Millisecond) // those that have come are served
			continue
		}
		go func() {
			defer c.Close()
			// A connection that breaks is the client's to report.
			_ = a.connection(c)
		}()
	}
}

// datagrams takes what comes over UDP, as much at once as there is. It ends when
// the socket is closed.
func (a *answerer) datagrams() {
	runtime.LockOSThread()
	promptly()
	began := time.Now()
	in := newBatch(batchSize, answerSize, true)
	for {
		n, err := in.receive(a.packets)
		if err != nil {
			return
		}
		now := time.Now()
		a.steps.add(now, int64(now.Sub(began)), in, n)
		questions := 0
		for i := range n {
			if d := in.payload(i); len(d) >= headSize && d[0] == modeQuestion {
				in.move(questions, i)
				questions++
			}
		}
		if questions > 0 {
			// A lost answer is a lost question to the client.
			_, _ = in.send(a.packets, questions, answerSize)
		}
	}
}

func (a *answerer) connection(c net.Conn) error {
	head := make([]byte, headSize)
	c.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.ReadFull(c, head); err != nil {
		return err
	}
	c.SetReadDeadline(time.Time{})
	number := binary.BigEndian.Uint64(head[1:])
	switch head[0] {
	case modeRequests:
		return echo(c, -1)
	case modeOnce:
		return echo(c, 1)
	case modeUp:
		return a.takeFrames(c, a.counter(number))
	case modeDown:
		return sendFrames(c)
	case modeSlow:
		return a.readSlowly(c, float64(number))
	case modeHTTP:
		return serveFiles(c, head)
	case modeSteps:
		return a.countSteps(c)
	case modeCount:
		return a.growth(c)
	}
	return errors.New("unknown mode")
}

// growth answers one growthRequest.
func (a *answerer) growth(c net.Conn) error {
	var want growthRequest
	if err := json.NewDecoder(io.LimitReader(c, 1<<10)).Decode(&want); err != nil {
		return err
	}
	if want.Wait > time.Hour || want.For <= 0 || want.For > time.Hour || len(want.Names) > 8 {
		return errors.New("not a request for counts")
	}
	r := growthReply{Grown: make([]float64, len(want.Names))}
	read := func(sign float64) time.Time {
		for i, name := range want.Names {
			r.Grown[i] += sign * float64(a.counter(name).Load())
		}
		return time.Now()
	}
	time.Sleep(want.Wait)
	from := read(-1)
	time.Sleep(want.For)
	r.Seconds = read(1).Sub(from).Seconds()
	return json.NewEncoder(c).Encode(r)
}

func (a *answerer) countSteps(c net.Conn) error {
	name, out := make([]byte, 8), json.NewEncoder(c)
	for {
		if _, err := io.ReadFull(c, name); err != nil {
			return err
		}
		count := a.steps.count(binary.BigEndian.Uint64(name))
		count.Dropped = droppedBy(a.packets)
		if err := out.Encode(count); err != nil {
			return err
		}
	}
}

func echo(c net.Conn, times int) error {
	buf := make([]byte, exchangeN)
	for ; times != 0; times-- {
		if _, err := io.ReadFull(c, buf); err != nil {
			return err
		}
		if _, err := c.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

func (a *answerer) takeFrames(c net.Conn, count *atomic.Int64) error {
	buf := make([]byte, frameSize)
	for {
		if _, err := io.ReadFull(c, buf); err != nil {
			return err
		}
		count.Add(frameSize)
		if id := buf[:8]; binary.BigEndian.Uint64(id) != 0 {
			if _, err := c.Write(id); err != nil {
				return err
			}
		}
	}
}

func sendFrames(c net.Conn) error {
	var asked atomic.Uint64
	go func() {
		id := make([]byte, 8)
		for {
			if _, err := io.ReadFull(c, id); err != nil {
				c.Close()
				return
			}
			asked.Store(binary.BigEndian.Uint64(id))
		}
	}()
	buf := make([]byte, frameSize)
	for {
		binary.BigEndian.PutUint64(buf, asked.Swap(0))
		if _, err := c.Write(buf); err != nil {
			return err
		}
	}
}

// slowCounter is the counter of what slow readers took.
const slowCounter = 1<<64 - 1

// readSlowly takes a piece every ten milliseconds.
func (a *answerer) readSlowly(c net.Conn, bps float64) error {
	const step = 10 * time.Millisecond
	buf := make([]byte, max(1, min(int(bps/8*step.Seconds()), 1<<20)))
	for next := time.Now(); ; next = next.Add(step) {
		n, err := io.ReadFull(c, buf)
		a.counter(slowCounter).Add(int64(n))
		if err != nil {
			return err
		}
		time.Sleep(time.Until(next))
	}
}
