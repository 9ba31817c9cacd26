package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"sync"
	"time"
)

// transferred is what the receiving ends of a transfer counted, and what its sending
// ends know of it.
type transferred struct {
	Bytes     int64     `json:"bytes"` // that the goodput stands for
	Goodput   float64   `json:"goodput_bps"`
	Counted   float64   `json:"counted_s"`
	Start     float64   `json:"start_s"` // before counting began
	Growth    float64   `json:"growth"`  // of the rate when it began; more than mayGrow: not steady
	Intervals []float64 `json:"intervals_bps,omitempty"`
	Sender    *sending  `json:"sender,omitempty"`
}

type sending struct {
	Retransmits int64   `json:"retransmits"`
	RTT         float64 `json:"rtt_s"`
}

// plus joins the counts of the two ends of a transfer in both directions.
func (c transferred) plus(d transferred) transferred {
	c.Bytes, c.Goodput = c.Bytes+d.Bytes, c.Goodput+d.Goodput
	c.Counted, c.Start, c.Growth = max(c.Counted, d.Counted), max(c.Start, d.Start), max(c.Growth, d.Growth)
	if c.Intervals == nil {
		c.Intervals = make([]float64, len(d.Intervals))
	}
	for i := range min(len(c.Intervals), len(d.Intervals)) {
		c.Intervals[i] += d.Intervals[i]
	}
	switch {
	case c.Sender == nil:
		c.Sender = d.Sender
	case d.Sender != nil:
		c.Sender = &sending{c.Sender.Retransmits + d.Sender.Retransmits, (c.Sender.RTT + d.Sender.RTT) / 2}
	}
	return c
}

// judgeStart says how long a run took to become steady where that was longer
// than asked for, and when it was not steady at all.
func (c transferred) judgeStart(r *Run, s Spec) {
	switch late := c.Start - s.Omit.Seconds(); {
	case c.Growth > mayGrow:
		r.warn(CodeNotSteady, c.Growth, "the rate still grew by %.0f%% from one time to the next when counting had to "+
			"begin, after %.1f s: the number is less than what the connection reaches later", 100*c.Growth, c.Start)
	case late > 0.5:
		r.warn(CodeLateStart, c.Start, "counting began after %.1f s, when the rate had stopped growing", c.Start)
	}
}

const (
	mayGrow  = 0.05 // from one look to the next in the steady state
	keepMost = 20000
	fewOpen  = 5 // points without a hole, for them to be all that counts
)

// point is how many bytes had come to a stream at a time since the start.
type point struct {
	at    time.Duration
	bytes int64
	empty bool // whether the socket held no more then
}

// arrivals is the course of one received stream.
type arrivals struct {
	mu     sync.Mutex
	points []point
	total  int64
}

func (a *arrivals) bytes() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}

// add notes a read. Reads closer than step are one point.
func (a *arrivals) add(at, step time.Duration, n int, empty bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.total += int64(n)
	if last := len(a.points) - 1; last >= 0 && at-a.points[last].at < step {
		a.points[last] = point{a.points[last].at, a.total, empty}
		return
	}
	a.points = append(a.points, point{at, a.total, empty})
}

// bytesBy returns a function that tells how many bytes of the stream had come to
// this host by a time. A segment that is missing keeps what came behind it from
// the reader, for a round trip at least, and then all of that is read at once.
// So only points count at which nothing was held back: where the socket was
// empty and more came sooner than a repair takes. Between them bytes are taken
// to have come evenly.
func (a *arrivals) bytesBy(rtt time.Duration) func(time.Duration) float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	within := max(rtt/2, 3*time.Millisecond)
	var open []point
	for i, p := range a.points {
		if p.empty && i+1 < len(a.points) && a.points[i+1].at-p.at <= within {
			open = append(open, p)
		}
	}
	// A stream that is held by a small window comes in a burst each round trip.
	if len(open) < fewOpen {
		open = slices.Clone(a.points)
	}
	// At the end what was read is never more than what came.
	last := open[max(0, len(open)-1):]
	for _, p := range a.points {
		if len(last) > 0 && p.at > last[0].at {
			open = append(open, p)
		}
	}
	return func(at time.Duration) float64 { return interpolated(open, at) }
}

func interpolated(points []point, at time.Duration) float64 {
	if len(points) == 0 {
		return 0
	}
	before := point{}
	for _, p := range points {
		if p.at >= at {
			span := p.at - before.at
			if span <= 0 {
				return float64(p.bytes)
			}
			return float64(before.bytes) + float64(p.bytes-before.bytes)*float64(at-before.at)/float64(span)
		}
		before = p
	}
	return float64(before.bytes)
}

// receiver counts what comes to one end of a transfer between two instants of
// its own clock.
type receiver struct {
	hello   streamHello
	began   time.Time
	streams []*arrivals
	failed  chan error
}

// read takes a stream until it ends.
func (r *receiver) read(c net.Conn, a *arrivals) error {
	step := max(time.Millisecond, duration(r.hello.Duration)/keepMost)
	buf := make([]byte, chunk)
	for {
		n, err := c.Read(buf)
		if n > 0 {
			a.add(time.Since(r.began), step, n, n < len(buf))
		}
		if err != nil {
			return err
		}
	}
}

func (r *receiver) total() (sum int64) {
	for _, a := range r.streams {
		sum += a.bytes()
	}
	return sum
}

// steady waits until the rate has stopped growing, from the omitted start on
// until a limit, and returns the growth that it then had. An omitted start of 0
// means that all counts.
func (r *receiver) steady(ctx context.Context) (float64, error) {
	if r.hello.Omit == 0 {
		return 0, nil
	}
	rtt := duration(r.hello.RTT)
	window := min(max(10*rtt, 500*time.Millisecond), 3*time.Second)
	least := duration(r.hello.Omit)
	most := least + min(max(60*rtt, 5*time.Second), 30*time.Second)
	const look = 50 * time.Millisecond
	var seen []point
	for {
		if err := r.wait(ctx, look); err != nil {
			return 0, err
		}
		now := time.Since(r.began)
		seen = append(seen, point{at: now, bytes: r.total()})
		if now < least || now < 2*window {
			continue
		}
		end, middle, start := interpolated(seen, now), interpolated(seen, now-window), interpolated(seen, now-2*window)
		growth := math.Inf(1)
		if middle > start {
			growth = (end-middle)/(middle-start) - 1
		} else if end == start {
			growth = 0
		}
		if growth <= mayGrow || now >= most {
			return min(growth, 1), nil
		}
	}
}

// wait pauses unless a stream ends meanwhile.
func (r *receiver) wait(ctx context.Context, d time.Duration) error {
	select {
	case err := <-r.failed:
		return fmt.Errorf("a stream ended early: %w", err)
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// count counts the steady state for as long as was asked for. It reads a little
// longer, to tell what of the last bytes came before the second instant.
func (r *receiver) count(ctx context.Context) (from, until time.Duration, growth float64, err error) {
	growth, err = r.steady(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	from = time.Since(r.began)
	if r.hello.Omit == 0 {
		from = 0
	}
	until = from + duration(r.hello.Duration)
	after := max(2*duration(r.hello.RTT), 50*time.Millisecond)
	return from, until, growth, r.wait(ctx, until+after-time.Since(r.began))
}

// result is what came between the two instants.
func (r *receiver) result(from, until time.Duration, growth float64) transferred {
	c := transferred{Counted: (until - from).Seconds(), Start: from.Seconds(), Growth: growth,
		Intervals: make([]float64, int((until-from)/time.Second))}
	var bytes float64
	for _, a := range r.streams {
		by := a.bytesBy(duration(r.hello.RTT))
		bytes += by(until) - by(from)
		for i := range c.Intervals {
			at := from + time.Duration(i)*time.Second
			c.Intervals[i] += 8 * (by(at+time.Second) - by(at))
		}
	}
	c.Bytes, c.Goodput = int64(bytes), 8*bytes/c.Counted
	return c
}

// transfer is one end of a test: the streams that it receives and sends.
type transfer struct {
	receiver
	work           sync.WaitGroup
	conns, senders []net.Conn
}

func newTransfer(h streamHello, conns []net.Conn, sending []bool) *transfer {
	t := &transfer{receiver: receiver{hello: h, began: time.Now(), failed: make(chan error, len(conns))}, conns: conns}
	for i, c := range conns {
		if sending[i] {
			t.senders = append(t.senders, c)
			t.work.Go(func() { send(c) })
			continue
		}
		a := new(arrivals)
		t.streams = append(t.streams, a)
		t.work.Go(func() {
			t.failed <- errors.Join(t.read(c, a), io.ErrUnexpectedEOF)
		})
	}
	return t
}

// send writes until the stream is closed; the receiving end tells why it ended.
func send(c net.Conn) {
	buf := make([]byte, chunk)
	for {
		if _, err := c.Write(buf); err != nil {
			return
		}
	}
}

// close ends all streams; what is still queued must not delay that.
func (t *transfer) close() {
	for _, c := range t.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		c.Close()
	}
	t.work.Wait()
}

// observe looks at the sending streams until done is closed, and returns what
// they repeated after the omitted start and their mean round-trip time; nil
// where the system does not tell.
func (t *transfer) observe(done <-chan struct{}) *sending {
	var first int64 = -1
	var last sending
	var rtts, looks float64
	for {
		select {
		case <-done:
			if looks == 0 {
				return nil
			}
			return &sending{max(0, last.Retransmits-max(first, 0)), rtts / looks}
		case <-time.After(100 * time.Millisecond):
		}
		now := sending{}
		known := 0
		for _, c := range t.senders {
			if repeated, rtt, ok := tcpState(c); ok {
				now.Retransmits, now.RTT, known = now.Retransmits+repeated, now.RTT+rtt, known+1
			}
		}
		if known == 0 || known < len(t.senders) {
			continue
		}
		last = now
		if time.Since(t.began).Seconds() >= t.hello.Omit {
			if first < 0 {
				first = now.Retransmits
			}
			rtts, looks = rtts+now.RTT/float64(known), looks+1
		}
	}
}
