package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/kerneltext"
)

// runIperf3 starts a server that takes one test and runs the client against it.
func runIperf3(ctx context.Context, p Pair, s Spec) (Run, error) {
	port := strconv.Itoa(s.Port)
	server, err := p.Server.Start(ctx, "iperf3", "-s", "-1", "-p", port)
	if err != nil {
		return Run{}, fmt.Errorf("iperf3 on %s: %w", p.Server.Name(), err)
	}
	defer server.Stop()
	total := s.Duration + s.Omit
	args := []string{"iperf3", "-c", p.Addr, "-p", port, "-J", "-t", seconds(s.Duration), "-P", strconv.Itoa(s.Streams)}
	if s.Omit > 0 {
		args = append(args, "-O", seconds(s.Omit))
	}
	if strings.HasPrefix(s.Workload, "udp-") {
		args = append(args, "-u", "-b", "0", "-l", "64")
	}
	switch s.Direction {
	case Down:
		args = append(args, "-R")
	case Both:
		args = append(args, "--bidir")
	}
	for attempt := 0; ; attempt++ {
		a, err := one(ctx, p.Client, host.Command(args...).Within(total+30*time.Second))
		if err != nil {
			return Run{}, err
		}
		run, err := parseIperf3(a.Out)
		if err == nil {
			return run, nil
		}
		if notYetListening(err) && attempt < 20 && !server.Ended() {
			if err := pause(ctx, 100*time.Millisecond); err != nil {
				return Run{}, err
			}
			continue
		}
		return Run{}, iperf3Failure(p, a, server, err)
	}
}

// one performs an operation whose failure is judged by what it printed.
func one(ctx context.Context, c host.Conn, op host.Op) (host.Answer, error) {
	answers, err := c.Do(ctx, op)
	if err != nil {
		return host.Answer{}, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return answers[0], nil
}

// iperf3Error is what iperf3 said in place of a result.
type iperf3Error string

func (e iperf3Error) Error() string { return string(e) }

// notYetListening tells by iperf3's words, since it has no other way to say it, whether its server may answer later.
func notYetListening(err error) bool {
	var said iperf3Error
	return errors.As(err, &said) &&
		(strings.Contains(string(said), "onnection refused") || strings.Contains(string(said), "server is busy"))
}

// iperf3Failure joins what client and server said.
func iperf3Failure(p Pair, a host.Answer, server host.Process, err error) error {
	if a.Failure == host.TimedOut {
		return fmt.Errorf("iperf3 on %s did not end in time and was stopped: %s", p.Client.Name(), deadPath)
	}
	if server.Ended() {
		return fmt.Errorf("iperf3 on %s: %w; %s", p.Client.Name(), err, serverEnd(p.Server, server))
	}
	return fmt.Errorf("iperf3 on %s: %w", p.Client.Name(), err)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// parseIperf3 reads the client's JSON. Goodput is what the receivers counted.
func parseIperf3(data []byte) (Run, error) {
	out, err := kerneltext.ParseIperf3(data)
	if err != nil {
		return Run{}, err
	}
	if out.Error != "" {
		return Run{}, iperf3Error(out.Error)
	}
	run := Run{GoodputBPS: out.End.SumReceived.BitsPerS, Retransmits: -1, Raw: string(data), Metrics: map[string]float64{},
		Counted: out.End.SumReceived.Seconds}
	if u := out.End.Sum; u != nil && u.Packets > 0 && u.Seconds > 0 {
		all, lost := u.Packets, u.Lost
		if back := out.End.SumReceivedReverse; back != nil && back.Packets > 0 {
			all, lost = all+back.Packets, lost+back.Lost
		}
		run.packets(all-lost, all, u.Seconds)
		run.Metrics[Jitter], run.Counted = u.JitterMS/1e3, u.Seconds
		// Before 3.2 there are no sums of what arrived, and the sum is the sender's.
		if run.GoodputBPS == 0 || out.End.SumReceived.Packets == 0 {
			run.GoodputBPS = u.BitsPerS * max(0, 1-u.Lost/u.Packets)
		}
	}
	if r := out.End.SumReceivedReverse; r != nil {
		run.GoodputBPS += r.BitsPerS
	}
	for _, sum := range []*kerneltext.Iperf3Sum{&out.End.SumSent, out.End.SumSentReverse} {
		if sum != nil && sum.Retransmits != nil {
			run.Retransmits = max(run.Retransmits, 0) + *sum.Retransmits
		}
	}
	for _, s := range out.End.Streams {
		run.MeanRTT += s.Sender.MeanRTT / 1e6 / float64(len(out.End.Streams))
	}
	for _, i := range out.Intervals {
		if i.Sum.Omitted {
			continue
		}
		bps := i.Sum.BitsPerS
		if i.SumReverse != nil {
			bps += i.SumReverse.BitsPerS
		}
		run.IntervalsBPS = append(run.IntervalsBPS, bps)
	}
	for _, v := range append([]float64{out.End.SumReceived.BitsPerS, run.GoodputBPS, run.MeanRTT}, run.IntervalsBPS...) {
		if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			return Run{}, fmt.Errorf("its JSON has an impossible number, %g", v)
		}
	}
	if len(out.Intervals) == 0 {
		return Run{}, errors.New("its JSON has no intervals: the test did not run")
	}
	if run.GoodputBPS > 0 {
		run.Metrics[Goodput] = run.GoodputBPS
	}
	return run, nil
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}

// parseIperf3JSON reads the last test that has a result.
func parseIperf3JSON(data []byte) (Run, error) {
	all := kerneltext.Iperf3Documents(data)
	return lastGood(len(all), func(i int) (Run, error) { return parseIperf3(all[i]) })
}
