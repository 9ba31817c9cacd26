// Package workload measures what a path carries: it drives real tools, or its
// own generator where they are missing, and turns what they print into runs.
package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// Direction is which way the data of a workload goes.
type Direction string

// The directions of a workload, seen from the client.
const (
	Up   Direction = "up"   // client to server
	Down Direction = "down" // server to client
	Both Direction = "both" // both ways at once
)

// Spec is what to measure.
type Spec struct {
	Streams   int           // parallel TCP connections, 1 to 128
	Direction Direction     // empty means Up
	Duration  time.Duration // that counts
	Omit      time.Duration // before it, for the connection to reach its pace
	Tool      string        // iperf3, builtin, or empty for the first that is there
	Port      int           // 0 means 5201
}

// Pair is the two hosts of a measurement. The client reaches the server at
// Addr.
type Pair struct {
	Client, Server host.Conn
	Addr           string
}

// Run is one execution of a workload.
type Run struct {
	Tool  string    `json:"tool"`
	Start time.Time `json:"start"`
	// GoodputBPS is the payload that arrived, in bit/s, all streams and both
	// directions together, the omitted start left out.
	GoodputBPS float64 `json:"goodput_bps"`
	// Retransmits counts segments sent again; -1 when the tool cannot tell.
	Retransmits int64 `json:"retransmits"`
	// MeanRTT is the senders' smoothed round-trip time in s; 0 when not known.
	MeanRTT float64 `json:"mean_rtt_s,omitempty"`
	// IntervalsBPS is the goodput of each second, for a look at its course.
	IntervalsBPS []float64 `json:"intervals_bps,omitempty"`
	// CPU is the busy part of the hosts' processors, 0 to 1.
	Client *CPU   `json:"client_cpu,omitempty"`
	Server *CPU   `json:"server_cpu,omitempty"`
	Raw    string `json:"-"`
}

// ErrTool is wrapped when a measuring tool is missing or failed.
var ErrTool = errors.New("measuring tool")

const defaultPort = 5201

// Check reports a specification that cannot be run.
func (s Spec) Check() error {
	switch {
	case s.Streams < 1 || s.Streams > 128:
		return fmt.Errorf("streams %d: 1 to 128 are possible", s.Streams)
	case s.Direction != "" && s.Direction != Up && s.Direction != Down && s.Direction != Both:
		return fmt.Errorf("direction %q: up, down or both is expected", s.Direction)
	case s.Duration < time.Second || s.Duration > time.Hour:
		return fmt.Errorf("duration %s: 1s to 1h is possible", s.Duration)
	case s.Omit < 0 || s.Omit > time.Minute:
		return fmt.Errorf("omit %s: 0 to 60s is possible", s.Omit)
	case s.Tool != "" && s.Tool != "iperf3" && s.Tool != "builtin":
		return fmt.Errorf("tool %q: iperf3 or builtin is expected", s.Tool)
	}
	return nil
}

// Measure runs the workload once.
func Measure(ctx context.Context, p Pair, s Spec) (Run, error) {
	if err := s.Check(); err != nil {
		return Run{}, err
	}
	if s.Direction == "" {
		s.Direction = Up
	}
	if s.Port == 0 {
		s.Port = defaultPort
	}
	tool, err := p.choose(ctx, s.Tool)
	if err != nil {
		return Run{}, err
	}
	before := sampleBoth(ctx, p)
	start := time.Now()
	var run Run
	if tool == "iperf3" {
		run, err = runIperf3(ctx, p, s)
	} else {
		run, err = runBuiltin(ctx, p, s)
	}
	if err != nil {
		return Run{}, fmt.Errorf("%w: %w", ErrTool, err)
	}
	run.Tool, run.Start = tool, start
	run.Client, run.Server = before.since(sampleBoth(ctx, p))
	if !(run.GoodputBPS > 0) {
		return Run{}, fmt.Errorf("%w: %s measured no goodput at all", ErrTool, tool)
	}
	return run, nil
}

// choose picks the tool that both hosts have.
func (p Pair) choose(ctx context.Context, tool string) (string, error) {
	if tool == "builtin" {
		return tool, nil
	}
	var lacking []string
	for _, c := range []host.Conn{p.Client, p.Server} {
		if _, err := host.Run(ctx, c, "iperf3", "--version"); err != nil {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			lacking = append(lacking, c.Name())
		}
	}
	switch {
	case len(lacking) == 0:
		return "iperf3", nil
	case tool == "iperf3":
		return "", fmt.Errorf("%w: iperf3 is not installed on %s; install it, or measure with the built-in generator", ErrTool, strings.Join(lacking, " and "))
	}
	return "builtin", nil
}
