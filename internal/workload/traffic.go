package workload

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
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
		streams, sending = append(streams, c), append(sending, h.ToClient)
	}
	if _, err := control.Write([]byte("go\n")); err != nil {
		return err
	}
	n, err := exchange(streams, sending, hello)
	report := trafficReport{Bytes: n}
	if err != nil {
		report.Error = err.Error()
	}
	return json.NewEncoder(control).Encode(report)
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
	control, err := dialStream(ctx, addr, first)
	if err != nil {
		return trafficReport{}, err
	}
	defer control.Close()
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
	n, err := exchange(streams, sending, hello)
	if err != nil {
		return trafficReport{}, err
	}
	var theirs trafficReport
	control.SetReadDeadline(time.Now().Add(patience)) // the server began first
	if err := json.NewDecoder(answers).Decode(&theirs); err != nil {
		return trafficReport{}, fmt.Errorf("no report from the server: %w", err)
	}
	if theirs.Error != "" {
		return trafficReport{}, fmt.Errorf("the server reports: %s", theirs.Error)
	}
	n += theirs.Bytes
	return trafficReport{Bytes: n, Goodput: float64(n) * 8 / s.Duration.Seconds()}, nil
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
