package cli

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

var pingTime = regexp.MustCompile(`time[=<]([0-9.]+) ?ms`)

// measurePath finds the path's rate, base round-trip time and loss by short
// measurements, for --path auto.
func (s *tuneSession) measurePath(ctx context.Context) error {
	p := facts.Path{MTU: 1500, Measured: map[string]string{}}
	answers, err := s.client.conn.Do(ctx, host.Command("ping", "-n", "-c", "10", "-i", "0.2", s.address).Within(15*time.Second))
	if err != nil {
		return environment(err)
	}
	for _, m := range pingTime.FindAllSubmatch(answers[0].Out, -1) {
		ms, err := strconv.ParseFloat(string(m[1]), 64)
		rtt := time.Duration(ms * float64(time.Millisecond))
		if err == nil && rtt > 0 && (p.RTT == 0 || rtt < p.RTT) {
			p.RTT = rtt
		}
	}
	if p.RTT == 0 {
		return missing(fmt.Errorf("--path auto: %s does not answer ping from %s (%v); declare the path, like --path rate=1gbit,rtt=80ms",
			s.address, s.client.conn.Name(), answers[0].Err()))
	}
	p.Measured["rtt"] = "smallest of 10 pings"
	spec := s.opt.spec
	spec.Streams, spec.Duration, spec.Omit = 8, 4*time.Second, min(max(20*p.RTT, time.Second), 5*time.Second).Round(time.Second)
	run, err := workload.Measure(ctx, workload.Pair{Client: s.client.conn, Server: s.server.conn, Addr: s.address}, spec)
	if err != nil {
		return measuring(err)
	}
	if nic := s.client.facts.Outlet(); nic != nil && nic.MTU > 0 {
		p.MTU = nic.MTU
		p.Measured["mtu"] = "MTU of " + nic.Name
	}
	p.Rate = units.Rate(run.GoodputBPS * float64(p.MTU+facts.EthernetOverhead) / float64(p.MSS()))
	p.Measured["rate"] = fmt.Sprintf("8 streams for 4 s by %s; a path that these do not fill is faster", run.Tool)
	if segments := run.GoodputBPS * spec.Duration.Seconds() / 8 / float64(p.MSS()); run.Retransmits >= 0 && segments > 0 {
		p.Loss = min(float64(run.Retransmits)/segments, 0.5)
		p.Measured["loss"] = "retransmitted segments of the same run, its own queue drops included"
	}
	s.path = p
	s.env.note("measured path: %s", p)
	if err := p.Check(); err != nil {
		return failure(fmt.Errorf("the measured path cannot be: %w", err))
	}
	return nil
}
