package workload

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/wirerate/wirerate/internal/input"
)

// patience is how long an end waits for the other where no traffic is due.
const patience = 15 * time.Second

// serveTraffic takes one test: a control connection first, then its streams.
func serveTraffic(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	control, hello, err := acceptStream(listener)
	if err != nil {
		return err
	}
	defer control.Close()
	if !hello.Control || hello.Streams < 1 || hello.Streams > 256 {
		return fmt.Errorf("traffic: %s does not speak this protocol", control.RemoteAddr())
	}
	var streams []net.Conn
	var sending []bool
	for range hello.Streams {
		c, h, err := acceptStream(listener)
		if err != nil {
			return err
		}
		hello.RTT = h.RTT
		streams, sending = append(streams, c), append(sending, h.ToClient)
	}
	if _, err := control.Write([]byte("go\n")); err != nil {
		return err
	}
	t := newTransfer(hello, streams, sending)
	defer t.close()
	report := t.report(ctx, nil)
	if err := json.NewEncoder(control).Encode(report); err != nil {
		return err
	}
	// The client closes when both ends have counted.
	control.SetReadDeadline(time.Now().Add(duration(hello.Omit+hello.Duration) + 2*time.Minute))
	_, _ = control.Read(make([]byte, 1))
	return nil
}

// report counts, where this end receives, and observes what it sends until then
// or, where it only sends, until told to end.
func (t *transfer) report(ctx context.Context, until <-chan struct{}) (r trafficReport) {
	done, observed := make(chan struct{}), make(chan *sending, 1)
	go func() { observed <- t.observe(done) }()
	if len(t.streams) > 0 {
		from, to, growth, err := t.count(ctx)
		if err != nil {
			r.Error = err.Error()
		} else {
			r.transferred = t.result(from, to, growth)
		}
	} else if until != nil {
		<-until
	} else {
		_ = pause(ctx, duration(t.hello.Omit+t.hello.Duration))
	}
	close(done)
	r.Sender = <-observed
	return r
}

func acceptStream(l net.Listener) (net.Conn, streamHello, error) {
	c, err := l.Accept()
	if err != nil {
		return nil, streamHello{}, err
	}
	c.SetReadDeadline(time.Now().Add(30 * time.Second))
	var h streamHello
	line, err := readLine(c)
	if err == nil {
		err = json.Unmarshal(line, &h)
	}
	if err != nil {
		c.Close()
		return nil, h, fmt.Errorf("traffic: %s: %w", c.RemoteAddr(), err)
	}
	c.SetReadDeadline(time.Time{})
	return c, h, nil
}

// readLine reads a short line without taking more from the connection.
func readLine(c net.Conn) ([]byte, error) {
	var line []byte
	b := make([]byte, 1)
	for len(line) < 1024 {
		if _, err := c.Read(b); err != nil {
			return nil, err
		}
		if b[0] == '\n' {
			return line, nil
		}
		line = append(line, b[0])
	}
	return nil, fmt.Errorf("no line of at most 1024 bytes")
}

// sendTraffic is the client: it opens the streams and runs the test.
func sendTraffic(ctx context.Context, addr string, s Spec) (trafficReport, error) {
	hello := streamHello{Omit: s.Omit.Seconds(), Duration: s.Duration.Seconds()}
	ways := map[Direction][]bool{Up: {false}, Down: {true}, Both: {false, true}}[s.Direction]
	if ways == nil {
		return trafficReport{}, fmt.Errorf("direction %q: up, down or both is expected", s.Direction)
	}
	first := hello
	first.Control, first.Streams = true, s.Streams*len(ways)
	began := time.Now()
	control, err := dialStream(ctx, addr, first)
	if err != nil {
		return trafficReport{}, err
	}
	defer control.Close()
	hello.RTT = time.Since(began).Seconds()
	var streams []net.Conn
	var sending []bool
	for range s.Streams {
		for _, toClient := range ways {
			h := hello
			h.ToClient = toClient
			c, err := dialStream(ctx, addr, h)
			if err != nil {
				return trafficReport{}, err
			}
			streams, sending = append(streams, c), append(sending, !toClient)
		}
	}
	answers := bufio.NewReader(input.Limit(control, "the server's report", input.MiB))
	control.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := answers.ReadString('\n'); err != nil {
		return trafficReport{}, fmt.Errorf("the server did not begin: %w", err)
	}
	return finishTransfer(ctx, newTransfer(hello, streams, sending), control, answers)
}

// finishTransfer counts at this end while the server does at its own.
func finishTransfer(ctx context.Context, t *transfer, control net.Conn, answers io.Reader) (trafficReport, error) {
	defer t.close()
	var theirs trafficReport
	told, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(told)
		// The longest that steady and count may take.
		control.SetReadDeadline(time.Now().Add(duration(t.hello.Omit+t.hello.Duration) + 35*time.Second + patience))
		failed <- json.NewDecoder(answers).Decode(&theirs)
	}()
	own := t.report(ctx, told)
	if own.Error != "" {
		return trafficReport{}, errors.New(own.Error)
	}
	if err := <-failed; err != nil {
		return trafficReport{}, fmt.Errorf("no report from the server: %w", err)
	}
	if theirs.Error != "" {
		return trafficReport{}, fmt.Errorf("the server reports: %s", theirs.Error)
	}
	own.transferred = own.plus(theirs.transferred)
	return own, nil
}

// dialStream connects and says hello; a server that is just starting gets some
// time.
func dialStream(ctx context.Context, addr string, h streamHello) (net.Conn, error) {
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var dialer net.Dialer
	for attempt := 0; ; attempt++ {
		c, err := dialer.DialContext(ctx, "tcp", addr)
		if err == nil {
			_, err = c.Write(append(line, '\n'))
			return c, err
		}
		if attempt == 20 {
			return nil, err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
