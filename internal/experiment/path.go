package experiment

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// serverAddress is where the client reaches the server.
func (s *session) serverAddress() (string, error) {
	if s.Address != "" {
		return s.Address, nil
	}
	if u, err := url.Parse(s.Peer); err == nil && u.Scheme == "ssh" && net.ParseIP(u.Hostname()) != nil {
		return u.Hostname(), nil
	}
	networks := networksOf(s.client.facts)
	var first string
	for _, prefix := range networksOf(s.server.facts) {
		if slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(prefix.Addr()) }) {
			return prefix.Addr().String(), nil
		}
		if first == "" {
			first = prefix.Addr().String()
		}
	}
	if u, err := url.Parse(s.Peer); err == nil && u.Scheme == "ssh" {
		return u.Hostname(), nil
	}
	if first == "" {
		return "", fmt.Errorf("%s has no address that %s could reach; give one with --address", s.server.conn.Name(),
			s.client.conn.Name())
	}
	return first, nil
}

// networksOf lists a host's global addresses with their networks.
func networksOf(f *facts.Facts) []netip.Prefix {
	var out []netip.Prefix
	for _, n := range f.NICs {
		for _, a := range n.Addrs {
			if p, err := netip.ParsePrefix(a); err == nil && p.Addr().IsGlobalUnicast() {
				out = append(out, p)
			}
		}
	}
	return out
}

var pingTime = regexp.MustCompile(`time[=<]([0-9.]+) ?ms`)

// ping returns the smallest round-trip time of n echoes.
func (s *session) ping(ctx context.Context, n int) (time.Duration, error) {
	answers, err := s.client.conn.Do(ctx, host.Command("ping", "-n", "-c", strconv.Itoa(n), "-i", "0.2",
		s.address).Within(15*time.Second))
	if err != nil {
		return 0, classified(err)
	}
	var least time.Duration
	for _, m := range pingTime.FindAllSubmatch(answers[0].Out, -1) {
		ms, err := strconv.ParseFloat(string(m[1]), 64)
		if rtt := time.Duration(ms * float64(time.Millisecond)); err == nil && rtt > 0 && (least == 0 || rtt < least) {
			least = rtt
		}
	}
	if least == 0 {
		return 0, withReason(Missing, fmt.Errorf("%s does not answer ping from %s (%v)", s.address,
			s.client.conn.Name(), answers[0].Err()))
	}
	return least, nil
}

// MeasurePath measures the path between the hosts of a Config.
func MeasurePath(ctx context.Context, c Config) (netpath.Path, error) {
	c.MeasurePath = true
	return within(ctx, c, kindMeasure, func(s *session) (netpath.Path, error) { return s.path, nil })
}

// measurePath finds the path's rate, base round-trip time and loss by short
// measurements, for --path auto.
func (s *session) measurePath(ctx context.Context) error {
	p := netpath.Path{MTU: 1500, Measured: map[string]string{}}
	var err error
	if p.RTT, err = s.ping(ctx, 10); err != nil {
		return fmt.Errorf("--path auto: %w; declare the path, like --path rate=1gbit,rtt=80ms", err)
	}
	p.Measured["rtt"] = "smallest of 10 pings"
	spec, err := s.probeSpec(p.RTT)
	if err != nil {
		return wrong(err)
	}
	run, err := workload.Measure(ctx, s.pair(), spec)
	if err != nil {
		return classified(err)
	}
	if nic := s.client.facts.Outlet(); nic != nil && nic.MTU > 0 {
		p.MTU = nic.MTU
		p.Measured["mtu"] = "MTU of " + nic.Name
	}
	p.Rate = units.Rate(run.GoodputBPS * float64(p.MTU+netpath.EthernetOverhead) / float64(p.MSS()))
	p.Measured["rate"] = fmt.Sprintf("8 streams for 4 s by %s; a path that these do not fill is faster", run.Tool)
	if segments := run.GoodputBPS * spec.Duration.Seconds() / 8 / float64(p.MSS()); run.Retransmits >= 0 &&
		segments > 0 {
		p.Loss = min(float64(run.Retransmits)/segments, 0.5)
		p.Measured["loss"] = "retransmitted segments of the same run, its own queue drops included"
	}
	s.path = p
	s.note("measured path: %s", p)
	if err := p.Check(); err != nil {
		return failed(fmt.Errorf("the measured path cannot be: %w", err))
	}
	return nil
}

// probeSpec fills the path for a moment, whatever the experiment's workload is.
func (s *session) probeSpec(rtt time.Duration) (workload.Spec, error) {
	spec := workload.Spec{Streams: 8, Duration: 4 * time.Second, Direction: s.Spec.Direction, Port: s.Spec.Port}
	if s.Spec.Workload == "bulk" {
		spec.Tool = s.Spec.Tool
	}
	return spec.WithDefaults(rtt)
}
