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
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// TrafficVerb is the hidden verb of the program that runs the generator.
const TrafficVerb = "traffic"

// The generator's protocol: every connection begins with a line of JSON from
// the client, a streamHello. Each end that receives counts by its own clock (see
// receiver); when it has counted, a server sends a trafficReport over the control
// connection, and the client closes all when both ends are done, so that in both
// directions each counts beside the other.
type streamHello struct {
	Control  bool    `json:"control"`
	Streams  int     `json:"streams"`
	ToClient bool    `json:"to_client"`
	Omit     float64 `json:"omit_s"`
	Duration float64 `json:"duration_s"`
	RTT      float64 `json:"rtt_s"` // that a handshake took
}

type trafficReport struct {
	transferred
	Error string `json:"error,omitempty"`
	// Metrics are those of a workload that is not a plain transfer, Unknown those
	// that it could not measure with the reasons, Limit what bounded it.
	Metrics map[string]float64 `json:"metrics,omitempty"`
	Unknown map[string]string  `json:"unknown,omitempty"`
	Limit   *Limit             `json:"limit,omitempty"`
	// Warnings weaken what is concluded from the run.
	Warnings []Warning `json:"warnings,omitempty"`
}

const chunk = 128 << 10 // as iperf3 has it

// runBuiltin runs this program's own generator on both hosts.
func runBuiltin(ctx context.Context, p Pair, s Spec) (Run, error) {
	port := strconv.Itoa(s.Port)
	program, err := os.Executable()
	if err != nil {
		return Run{}, err
	}
	serve, send := "serve", []string{"send", net.JoinHostPort(p.Addr, port)}
	if kind, err := FindKind(s.Workload); err == nil && kind.Primary().Name != Goodput ||
		!slices.Contains(kind.Tools, "iperf3") {
		serve, send = "answer", []string{"load", net.JoinHostPort(p.Addr, port), s.Workload}
	}
	server, err := p.Server.Start(ctx, roomy(s.Streams, programOn(p.Server, program), TrafficVerb, serve, ":"+port)...)
	if err != nil {
		return Run{}, noGenerator(p.Server, err)
	}
	defer server.Stop()
	args := append([]string{programOn(p.Client, program), TrafficVerb}, send...)
	args = append(args, strconv.Itoa(s.Streams), string(s.Direction), s.Omit.String(), s.Duration.String())
	a, err := one(ctx, p.Client, host.Command(roomy(s.Streams, args...)...).Within(2*s.Duration+s.Omit+65*time.Second))
	if err != nil {
		return Run{}, err
	}
	if a.Failure != host.None {
		err := generatorFailed(p.Client, a)
		if server.Ended() {
			err = fmt.Errorf("%w; %s", err, serverEnd(p.Server, server))
		}
		return Run{}, err
	}
	if serve == "answer" && server.Ended() { // what is counted then is how soon it ended
		return Run{}, fmt.Errorf("built-in generator: %s", serverEnd(p.Server, server))
	}
	var report trafficReport
	if err := json.Unmarshal(a.Out, &report); err != nil {
		return Run{}, fmt.Errorf("the generator on %s printed %q", p.Client.Name(), clip(string(a.Out), 200))
	}
	run := Run{GoodputBPS: report.Goodput, Retransmits: -1, Metrics: report.Metrics, Unknown: report.Unknown,
		Limit: report.Limit, Warnings: report.Warnings,
		Counted: report.Counted, IntervalsBPS: report.Intervals, Raw: string(a.Out)}
	if report.Sender != nil {
		run.Retransmits, run.MeanRTT = report.Sender.Retransmits, report.Sender.RTT
	}
	report.judgeStart(&run, s)
	return run, nil
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
		return fmt.Errorf("built-in generator on %s did not end in time and was stopped: the path or "+
			"the other end may be dead", c.Name())
	case a.Failure == host.Absent || a.Status == 126 || a.Status == 127 || said == "":
		return noGenerator(c, a.Err())
	case strings.Contains(said, "i/o timeout"), strings.Contains(said, "deadline exceeded"):
		return fmt.Errorf("built-in generator on %s: %s: nothing came through; a packet filter between the two, "+
			"or a dead path, does that", c.Name(), said)
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
		made, err := makeLoad(ctx, args[1], s)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(trafficReport{transferred: transferred{Goodput: made.Metrics[Goodput]},
			Metrics: made.Metrics, Unknown: made.Unknown, Limit: made.Limit, Warnings: made.Warnings})
	}
	return errors.New("traffic: serve ADDR, answer ADDR, send ADDR STREAMS DIRECTION OMIT DURATION, load ADDR WORKLOAD " +
		"STREAMS DIRECTION OMIT DURATION, or disk DIR SIZE DURATION READS")
}

func trafficSpec(args []string) (Spec, error) {
	streams, err1 := strconv.Atoi(args[0])
	omit, err2 := time.ParseDuration(args[2])
	duration, err3 := time.ParseDuration(args[3])
	return Spec{Streams: streams, Direction: Direction(args[1]), Omit: omit, Duration: duration},
		errors.Join(err1, err2, err3)
}

func duration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
