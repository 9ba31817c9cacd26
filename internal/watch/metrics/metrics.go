// Package metrics serves what watch sees to Prometheus, in OpenMetrics and its
// older forms.
package metrics

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/watch"
)

// interfaceLimit bounds the interfaces of a host that have series: names come and
// go with containers.
const interfaceLimit = 256

// Exporter counts states and serves the counts.
type Exporter struct {
	server   *http.Server
	serving  sync.WaitGroup
	registry *prometheus.Registry
	address  string // where it serves

	mu         sync.Mutex // held while a state is counted, and while all is gathered
	begun      map[string]map[string]bool
	interfaces map[string][]string // by host
	vectors
}

// Serve serves /metrics at an address.
func Serve(address, version string) (*Exporter, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	e := newExporter(version)
	options := promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 4, Timeout: 10 * time.Second}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(prometheus.GathererFunc(e.gather), options))
	e.server = &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second,
		MaxHeaderBytes: 64 << 10}
	e.address = listener.Addr().String()
	e.serving.Go(func() { _ = e.server.Serve(listener) })
	return e, nil
}

func newExporter(version string) *Exporter {
	e := &Exporter{registry: prometheus.NewRegistry(), begun: map[string]map[string]bool{},
		interfaces: map[string][]string{}}
	e.vectors = newVectors(e.registry)
	e.build.WithLabelValues(version).Set(1)
	return e
}

func (e *Exporter) gather() ([]*dto.MetricFamily, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.registry.Gather()
}

// Close ends the serving.
func (e *Exporter) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := e.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, e.server.Close())
	}
	e.serving.Wait()
	return err
}

// clean makes a label of what a host calls something.
func clean(text string) string {
	return terminal.Clip(terminal.Clean(strings.ToValidUTF8(text, "?")), 128)
}

// Add counts a state.
func (e *Exporter) Add(s watch.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	host := clean(s.Host)
	e.addProbes(s.Probes)
	e.addSwitch(s.Switch)
	up := 0.0
	if s.Gone == "" {
		up = 1
		e.addTraffic(host, s)
		e.addInterfaces(host, s)
		e.addHost(host, s)
	}
	e.up.WithLabelValues(host).Set(up)
	e.addFindings(host, s)
}

// plus adds to a counter what can be added: no state makes it panic.
func plus(c prometheus.Counter, v float64) {
	if v > 0 && v < 1e300 {
		c.Add(v)
	}
}

func (e *Exporter) addTraffic(host string, s watch.State) {
	t := s.Traffic
	plus(e.sent.WithLabelValues(host), t.Sent/8*s.Interval)
	plus(e.received.WithLabelValues(host), t.Received/8*s.Interval)
	plus(e.retransmitted.WithLabelValues(host), t.Retransmits*s.Interval)
	e.rttLeast.WithLabelValues(host).Set(t.MinRTT / 1000)
	e.rttMedian.WithLabelValues(host).Set(t.P50 / 1000)
	e.rttP99.WithLabelValues(host).Set(t.P99 / 1000)
	e.connections.WithLabelValues(host).Set(float64(s.Connections))
	e.moving.WithLabelValues(host).Set(float64(s.Moving))
	if s.Ceiling != nil {
		e.ceiling.DeletePartialMatch(prometheus.Labels{"host": host})
		e.ceiling.WithLabelValues(host, clean(s.Ceiling.Resource)).Set(s.Ceiling.Value / 8)
	}
}

// addInterfaces counts those that the host has now, and forgets others.
func (e *Exporter) addInterfaces(host string, s watch.State) {
	have := func(name string) bool {
		return slices.ContainsFunc(s.Interfaces, func(n watch.Interface) bool { return n.Name == name })
	}
	known := slices.DeleteFunc(e.interfaces[host], func(name string) bool {
		if !have(name) {
			e.forget(host, clean(name))
			return true
		}
		return false
	})
	for _, n := range s.Interfaces {
		if !slices.Contains(known, n.Name) {
			if len(known) >= interfaceLimit {
				continue
			}
			known = append(known, n.Name)
		}
		name := clean(n.Name)
		plus(e.ifSent.WithLabelValues(host, name), n.Sent/8*s.Interval)
		plus(e.ifReceived.WithLabelValues(host, name), n.Received/8*s.Interval)
		plus(e.ifSentPackets.WithLabelValues(host, name), n.SentPackets*s.Interval)
		plus(e.ifReceivedPackets.WithLabelValues(host, name), n.ReceivedPackets*s.Interval)
		e.ifQueue.WithLabelValues(host, name).Set(float64(n.Queue))
		if n.Speed > 0 {
			e.ifSpeed.WithLabelValues(host, name).Set(n.Speed / 8)
		}
		for reason, rate := range n.Drops { // names of watch, not of the host
			plus(e.ifDrops.WithLabelValues(host, name, clean(reason)), rate*s.Interval)
		}
	}
	e.interfaces[host] = known
}

func (e *Exporter) forget(host, name string) {
	labels := prometheus.Labels{"host": host, "interface": name}
	for _, c := range []*prometheus.CounterVec{e.ifSent, e.ifReceived, e.ifSentPackets, e.ifReceivedPackets, e.ifDrops} {
		c.DeletePartialMatch(labels)
	}
	for _, g := range []*prometheus.GaugeVec{e.ifQueue, e.ifSpeed} {
		g.DeletePartialMatch(labels)
	}
}

// addHost tells of processors, each a mean and a largest share, and of the
// kernel's limits in use.
func (e *Exporter) addHost(host string, s watch.State) {
	var busy, interrupt, most float64
	for _, p := range s.Processors {
		busy, interrupt, most = busy+p.Busy, interrupt+p.Interrupt, max(most, p.Busy)
	}
	if n := float64(len(s.Processors)); n > 0 {
		e.busy.WithLabelValues(host).Set(busy / n)
		e.interrupt.WithLabelValues(host).Set(interrupt / n)
		e.busiest.WithLabelValues(host).Set(most)
	}
	for _, l := range s.Levels {
		e.used.WithLabelValues(host, clean(l.Name)).Set(float64(l.Used))
		e.level.WithLabelValues(host, clean(l.Name)).Set(float64(l.Limit))
	}
}

// addFindings tells which limit binds now, for how long each has, and how many
// problems began.
func (e *Exporter) addFindings(host string, s watch.State) {
	for _, limit := range limits() {
		now := 0.0
		if s.Gone == "" && s.Verdict.Limit == limit {
			now = 1
			plus(e.limitTime.WithLabelValues(host, limit), s.Interval)
		}
		e.limit.WithLabelValues(host, limit).Set(now)
	}
	e.limitFlows.WithLabelValues(host).Set(float64(s.Verdict.Flows))
	e.problem.DeletePartialMatch(prometheus.Labels{"host": host})
	now := map[string]bool{}
	begins := func(kind, name, severity, subject string) {
		key := kind + " " + name + " " + subject
		if now[key] = true; !e.begun[host][key] {
			e.findings.WithLabelValues(host, kind, name, severity).Inc()
		}
	}
	if s.Verdict.Limit != watch.NoLimit && slices.Contains(limits(), s.Verdict.Limit) {
		begins("limit", s.Verdict.Limit, string(s.Verdict.Severity()), s.Verdict.Peer+s.Verdict.Subject)
	}
	for _, p := range s.Problems {
		e.problem.WithLabelValues(host, p.Problem, p.Severity).Set(1)
		begins("problem", p.Problem, p.Severity, p.Subject)
	}
	e.begun[host] = now
}

// limits are all words of a verdict.
func limits() []string {
	all := []string{watch.NoLimit}
	for _, l := range flow.Limits() {
		all = append(all, string(l))
	}
	return append(all, watch.HostLimits()...)
}

func (e *Exporter) addProbes(probes []watch.Probe) {
	for _, p := range probes {
		rtt := e.probeRTT.WithLabelValues(p.Target)
		for _, b := range p.Bins {
			for range b.Count {
				rtt.Observe(float64(b.From) / 1e6)
			}
		}
		e.probeLost.WithLabelValues(p.Target).Add(float64(p.Lost))
		e.probeMissed.WithLabelValues(p.Target).Add(float64(p.Missed))
	}
}

func (e *Exporter) addSwitch(ports []watch.SwitchPort) {
	for _, p := range ports {
		name, port := clean(p.Switch), clean(p.Port)
		answers := 0.0
		if p.Error == "" {
			answers = 1
			e.switchSpeed.WithLabelValues(name, port).Set(p.Speed / 8)
		}
		e.switchUp.WithLabelValues(name).Set(answers)
		for counter, n := range p.Counts {
			direction, what, _ := strings.Cut(counter, "_")
			switch what {
			case "bytes":
				e.switchBytes.WithLabelValues(name, port, direction).Add(float64(n))
			case "packets":
				e.switchPackets.WithLabelValues(name, port, direction).Add(float64(n))
			case "discards":
				e.switchDiscards.WithLabelValues(name, port, direction).Add(float64(n))
			case "pause_frames":
				e.switchPauses.WithLabelValues(name, port, direction).Add(float64(n))
			default:
				e.switchErrors.WithLabelValues(name, port, direction, strings.TrimSuffix(what, "_errors")).Add(float64(n))
			}
		}
	}
}
