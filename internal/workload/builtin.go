package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// TrafficVerb is the hidden verb of the program that runs the generator.
const TrafficVerb = "traffic"

// The generator's protocol: every connection begins with a line of JSON from
// the client, a streamHello. The receiving end counts what arrives after the
// omitted start and, after the last byte, the server's counts go back over the
// control connection as a trafficReport.
type streamHello struct {
	Control  bool    `json:"control"`
	Streams  int     `json:"streams"`
	ToClient bool    `json:"to_client"`
	Omit     float64 `json:"omit_s"`
	Duration float64 `json:"duration_s"`
}

type trafficReport struct {
	Bytes   int64   `json:"bytes"`
	Error   string  `json:"error,omitempty"`
	Goodput float64 `json:"goodput_bps"`
	// Metrics are those of a workload that is not a plain transfer.
	Metrics map[string]float64 `json:"metrics,omitempty"`
}

const chunk = 256 << 10

// runBuiltin runs this program's own generator on both hosts.
func runBuiltin(ctx context.Context, p Pair, s Spec) (Run, error) {
	port := strconv.Itoa(s.Port)
	program, err := os.Executable()
	if err != nil {
		return Run{}, err
	}
	serve, send := "serve", []string{"send", net.JoinHostPort(p.Addr, port)}
	if kind, err := FindKind(s.Workload); err == nil && !slices.Contains(kind.Tools, "iperf3") || s.Workload == "udp-pps" {
		serve, send = "answer", []string{"load", net.JoinHostPort(p.Addr, port), s.Workload}
	}
	server, err := p.Server.Start(ctx, programOn(p.Server, program), TrafficVerb, serve, ":"+port)
	if err != nil {
		return Run{}, noGenerator(p.Server, err)
	}
	defer server.Stop()
	args := append([]string{programOn(p.Client, program), TrafficVerb}, send...)
	args = append(args, strconv.Itoa(s.Streams), string(s.Direction), s.Omit.String(), s.Duration.String())
	a, err := one(ctx, p.Client, host.Command(args...).Within(s.Duration+s.Omit+30*time.Second))
	if err != nil {
		return Run{}, err
	}
	if a.Failure != host.None {
		err := generatorFailed(p.Client, a)
		if server.Ended() {
			err = fmt.Errorf("%w; its server on %s says: %s", err, p.Server.Name(), lastLine(server.Stop().Stderr))
		}
		return Run{}, err
	}
	var report trafficReport
	if err := json.Unmarshal(a.Out, &report); err != nil {
		return Run{}, fmt.Errorf("the generator on %s printed %q", p.Client.Name(), clip(string(a.Out), 200))
	}
	return Run{GoodputBPS: report.Goodput, Retransmits: -1, Metrics: report.Metrics, Raw: string(a.Out)}, nil
}

// programOn is the program's name on a host: hosts of this machine have the
// same file, others need it in their PATH.
func programOn(c host.Conn, here string) string {
	if _, remote := c.(*host.SSH); remote {
		return "wirerate"
	}
	return here
}

func noGenerator(c host.Conn, err error) error {
	return fmt.Errorf("built-in generator on %s: %w (install iperf3 there, or wirerate in its PATH)", c.Name(), err)
}

// generatorFailed says what a client of the generator ended with: only where it
// did not start is installing it the way out.
func generatorFailed(c host.Conn, a host.Answer) error {
	said := strings.TrimPrefix(lastLine(a.Stderr), "wirerate: ")
	switch {
	case a.Failure == host.TimedOut:
		return fmt.Errorf("built-in generator on %s did not end in time and was stopped: the path or the other end may be dead", c.Name())
	case a.Failure == host.Absent || a.Status == 126 || a.Status == 127 || said == "":
		return noGenerator(c, a.Err())
	case strings.Contains(said, "i/o timeout"), strings.Contains(said, "deadline exceeded"):
		return fmt.Errorf("built-in generator on %s: %s: nothing came through; a packet filter between the two, or a dead path, does that", c.Name(), said)
	}
	return fmt.Errorf("built-in generator on %s: %s", c.Name(), said)
}

// Traffic runs one end of the generator: "serve ADDR", for one test, and "send
// ADDR STREAMS DIRECTION OMIT DURATION" are the ends of plain transfers, "answer
// ADDR", until it is stopped, and "load ADDR WORKLOAD STREAMS DIRECTION OMIT
// DURATION" those of the other workloads; "disk DIR SIZE DURATION READS" needs
// no other end. The clients print a report as JSON.
func Traffic(ctx context.Context, args []string, out io.Writer) error {
	switch {
	case len(args) == 2 && args[0] == "serve":
		return serveTraffic(ctx, args[1])
	case len(args) == 5 && args[0] == "disk":
		return diskTraffic(ctx, args[1:], out)
	case len(args) == 2 && args[0] == "answer":
		return answerLoad(ctx, args[1])
	case len(args) == 6 && args[0] == "send":
		s, err := trafficSpec(args[2:])
		if err != nil {
			return err
		}
		report, err := sendTraffic(ctx, args[1], s)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(report)
	case len(args) == 7 && args[0] == "load":
		s, err := trafficSpec(args[3:])
		if err != nil {
			return err
		}
		s.Workload = args[2]
		metrics, err := makeLoad(ctx, args[1], s)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(trafficReport{Goodput: metrics[Goodput], Metrics: metrics})
	}
	return errors.New("traffic: serve ADDR, answer ADDR, send ADDR STREAMS DIRECTION OMIT DURATION, load ADDR WORKLOAD STREAMS DIRECTION OMIT DURATION, or disk DIR SIZE DURATION READS")
}

func trafficSpec(args []string) (Spec, error) {
	streams, err1 := strconv.Atoi(args[0])
	omit, err2 := time.ParseDuration(args[2])
	duration, err3 := time.ParseDuration(args[3])
	return Spec{Streams: streams, Direction: Direction(args[1]), Omit: omit, Duration: duration}, errors.Join(err1, err2, err3)
}

// meter counts the bytes that arrive between two moments.
type meter struct {
	from, until time.Time
	bytes       atomic.Int64
}

func (m *meter) receive(c net.Conn) error {
	buf := make([]byte, chunk)
	for {
		n, err := c.Read(buf)
		if now := time.Now(); now.After(m.from) && now.Before(m.until) {
			m.bytes.Add(int64(n))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func send(c net.Conn, until time.Time) error {
	buf := make([]byte, chunk)
	c.SetWriteDeadline(until)
	for {
		if _, err := c.Write(buf); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				// What is still queued must not delay the report.
				return c.(*net.TCPConn).SetLinger(0)
			}
			return err
		}
	}
}

// exchange runs the streams of a test on one end and returns what this end
// received.
func exchange(streams []net.Conn, sending []bool, h streamHello) (int64, error) {
	start := time.Now()
	m := &meter{from: start.Add(duration(h.Omit)), until: start.Add(duration(h.Omit + h.Duration))}
	stop := m.until.Add(200 * time.Millisecond)
	errs := make([]error, len(streams))
	var wg sync.WaitGroup
	for i, c := range streams {
		wg.Go(func() {
			defer c.Close()
			if sending[i] {
				errs[i] = send(c, stop)
				return
			}
			c.SetReadDeadline(stop)
			if err := m.receive(c); time.Now().Before(m.until) {
				errs[i] = fmt.Errorf("a stream ended early: %w", errors.Join(err, io.ErrUnexpectedEOF))
			}
		})
	}
	wg.Wait()
	for i := range errs {
		if sending[i] && time.Now().After(m.until) {
			errs[i] = nil // the receiver may close first
		}
	}
	return m.bytes.Load(), errors.Join(errs...)
}

func duration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
