package workload

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
)

const (
	slowRate   = 10_000_000 // bit/s that the slow receiver takes
	maxSamples = 1 << 20    // latencies kept of one connection
	dnsTimeout = time.Second
)

// load is the client's end of one run.
type load struct {
	ctx         context.Context
	addr        string
	spec        Spec
	from, until time.Time
}

// loaded is what a load measured.
type loaded struct{ Run }

// makeLoad runs a workload against an answering server.
func makeLoad(ctx context.Context, addr string, s Spec) (loaded, error) {
	plain := func(f func(*load) (map[string]float64, error)) func(*load) (loaded, error) {
		return func(l *load) (loaded, error) {
			m, err := f(l)
			return loaded{Run{Metrics: m}}, err
		}
	}
	run := map[string]func(*load) (loaded, error){"rr": (*load).requests, "crr": (*load).connections,
		"dns-like": (*load).questions, "http-small": (*load).smallFiles, "http-large": (*load).largeFiles,
		"udp-pps": (*load).packets, "udp-flood": (*load).flood,
		"loaded-latency": plain((*load).loadedLatency), "slow-receiver": plain((*load).slowReceiver)}[s.Workload]
	if run == nil {
		return loaded{}, fmt.Errorf("traffic: no generator for workload %q", s.Workload)
	}
	ctx, cancel := context.WithTimeout(ctx, s.Omit+2*s.Duration+40*time.Second)
	defer cancel()
	l := &load{ctx: ctx, addr: addr, spec: s}
	c, err := l.dialPatiently()
	if err != nil {
		return loaded{}, err
	}
	c.Close()
	l.begin()
	return run(l)
}

func (l *load) begin() {
	l.from = time.Now().Add(l.spec.Omit)
	l.until = l.from.Add(l.spec.Duration)
}

// dialPatiently gives a server that is just starting some time: one that does
// not answer at all gets none beyond that of a dial.
func (l *load) dialPatiently() (net.Conn, error) {
	for attempt := 0; ; attempt++ {
		c, err := l.dial(modeRequests, 0)
		if err == nil || attempt == 20 || !errors.Is(err, syscall.ECONNREFUSED) {
			return c, err
		}
		if err := pause(l.ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// dial opens a connection in a mode.
func (l *load) dial(mode byte, number uint64) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, patience)
	defer cancel()
	return l.dialIn(ctx, mode, number)
}

func head(mode byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{mode}, number)
}

// samples are latencies in s; beyond maxSamples a random one gives way.
type samples struct {
	values []float64
	seen   int
}

func (s *samples) add(v float64) {
	s.seen++
	if len(s.values) < maxSamples {
		s.values = append(s.values, v)
	} else if i := rand.IntN(s.seen); i < maxSamples {
		s.values[i] = v
	}
}

func (l *load) counts(t time.Time) bool { return !t.Before(l.from) && t.Before(l.until) }

// growthOf asks the server for the growth of its counters while the load counts.
type growthOf struct {
	net.Conn
}

// growthRequest names counters and the times, in ns, until counting begins and
// from then until it ends.
type growthRequest struct {
	Names     []uint64
	Wait, For time.Duration
}

// growthReply has the growth of each counter and the time in s between the two
// readings by the server's clock: how late it arrives does not matter.
type growthReply struct {
	Grown   []float64
	Seconds float64
}

func (l *load) growth() (growthOf, error) {
	c, err := l.dial(modeCount, 0)
	return growthOf{c}, err
}

// ask is called once the load has begun, before it fills the path.
func (g growthOf) ask(l *load, names ...uint64) error {
	return json.NewEncoder(g).Encode(growthRequest{names, time.Until(l.from), l.spec.Duration})
}

// answer waits for what was asked for.
func (g growthOf) answer(l *load) (r growthReply, err error) {
	defer context.AfterFunc(l.ctx, func() { g.Close() })()
	g.SetReadDeadline(l.until.Add(patience))
	if err := json.NewDecoder(g).Decode(&r); err != nil {
		return r, fmt.Errorf("the server's counts: %w", err)
	}
	return r, nil
}

// trimmedMean is the mean of the values up to the 95th percentile.
func trimmedMean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	limit := stats.Quantile(values, 0.95)
	var sum, n float64
	for _, v := range values {
		if v <= limit {
			sum, n = sum+v, n+1
		}
	}
	return sum / n
}
