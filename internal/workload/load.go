package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/wirerate/wirerate/internal/input"
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

// makeLoad runs a workload against an answering server.
func makeLoad(ctx context.Context, addr string, s Spec) (map[string]float64, error) {
	run := map[string]func(*load) (map[string]float64, error){"rr": (*load).requests, "crr": (*load).connections,
		"dns-like": (*load).questions, "udp-pps": (*load).packets, "loaded-latency": (*load).loadedLatency,
		"slow-receiver": (*load).slowReceiver}[s.Workload]
	if run == nil {
		return nil, fmt.Errorf("traffic: no generator for workload %q", s.Workload)
	}
	ctx, cancel := context.WithTimeout(ctx, s.Omit+s.Duration+20*time.Second)
	defer cancel()
	l := &load{ctx: ctx, addr: addr, spec: s}
	c, err := l.dialPatiently()
	if err != nil {
		return nil, err
	}
	c.Close()
	l.begin()
	return run(l)
}

func (l *load) begin() {
	l.from = time.Now().Add(l.spec.Omit)
	l.until = l.from.Add(l.spec.Duration)
}

// dialPatiently gives a server that is just starting some time.
func (l *load) dialPatiently() (net.Conn, error) {
	for attempt := 0; ; attempt++ {
		c, err := l.dial(modeRequests, 0)
		if err == nil || attempt == 20 {
			return c, err
		}
		if err := pause(l.ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// dial opens a connection in a mode.
func (l *load) dial(mode byte, number uint64) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	c, err := d.DialContext(l.ctx, "tcp", l.addr)
	if err != nil {
		return nil, err
	}
	if _, err := c.Write(head(mode, number)); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
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

// each runs one function per stream until the run ends and joins what they
// counted and their latencies.
func (l *load) each(f func(s *samples) (int, error)) (int, []float64, error) {
	type part struct {
		samples
		n   int
		err error
	}
	parts := make([]part, l.spec.Streams)
	var wg sync.WaitGroup
	for i := range parts {
		p := &parts[i]
		wg.Go(func() { p.n, p.err = f(&p.samples) })
	}
	wg.Wait()
	var n int
	var all []float64
	var errs []error
	for _, p := range parts {
		n, all, errs = n+p.n, append(all, p.values...), append(errs, p.err)
	}
	return n, all, errors.Join(errs...)
}

func (l *load) counts(t time.Time) bool { return !t.Before(l.from) && t.Before(l.until) }

func (l *load) rated(name string, n int, latencies []float64) map[string]float64 {
	r := Run{Metrics: map[string]float64{name: float64(n) / l.spec.Duration.Seconds()}}
	r.distribution(latencies)
	return r.Metrics
}

func (l *load) requests() (map[string]float64, error) {
	n, all, err := l.each(func(s *samples) (int, error) {
		c, err := l.dial(modeRequests, 0)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		buf := make([]byte, exchangeN)
		for n := 0; ; {
			start := time.Now()
			c.SetDeadline(start.Add(10 * time.Second))
			if err := exchangeOnce(c, buf); err != nil {
				return n, err
			}
			end := time.Now()
			if l.counts(end) {
				n++
				s.add(end.Sub(start).Seconds())
			}
			if end.After(l.until) {
				return n, nil
			}
		}
	})
	return l.rated(Transactions, n, all), err
}

func exchangeOnce(c net.Conn, buf []byte) error {
	if _, err := c.Write(buf); err != nil {
		return err
	}
	_, err := io.ReadFull(c, buf)
	return err
}

func (l *load) connections() (map[string]float64, error) {
	var failures struct {
		sync.Mutex
		n    int
		last error
	}
	n, all, err := l.each(func(s *samples) (int, error) {
		for n := 0; ; {
			start := time.Now()
			if start.After(l.until) {
				return n, nil
			}
			err := l.once()
			end := time.Now()
			switch {
			case l.ctx.Err() != nil:
				return n, l.ctx.Err()
			case err != nil:
				failures.Lock()
				failures.n, failures.last = failures.n+1, err
				failures.Unlock()
			case l.counts(end):
				n++
				s.add(end.Sub(start).Seconds())
			}
		}
	})
	if err == nil && n == 0 {
		err = failures.last
	}
	m := l.rated(Connections, n, all)
	m[Errors] = float64(failures.n)
	return m, err
}

// once opens a connection, asks once and waits until the server has closed.
func (l *load) once() error {
	d := net.Dialer{Timeout: 5 * time.Second}
	c, err := d.DialContext(l.ctx, "tcp", l.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	buf := append(head(modeOnce, 0), make([]byte, exchangeN)...)
	if _, err := c.Write(buf); err != nil {
		return err
	}
	answer, err := input.Stream(c, "the answer", exchangeN)
	if err == nil && len(answer) != exchangeN {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (l *load) questions() (map[string]float64, error) {
	var mu sync.Mutex
	lost := 0
	n, all, err := l.each(func(s *samples) (int, error) {
		c, err := net.Dial("udp", l.addr)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		question, answer := make([]byte, exchangeN), make([]byte, 2*answerSize)
		for n, id := 0, uint64(1); ; id++ {
			start := time.Now()
			if start.After(l.until) {
				return n, nil
			}
			copy(question, head(modeQuestion, id))
			ok, err := ask(c, question, answer, start.Add(dnsTimeout))
			end := time.Now()
			switch {
			case err != nil:
				return n, err
			case !l.counts(end):
			case ok:
				n++
				s.add(end.Sub(start).Seconds())
			default:
				mu.Lock()
				lost++
				mu.Unlock()
			}
		}
	})
	m := l.rated(Transactions, n, all)
	if n+lost > 0 {
		m[Loss] = float64(lost) / float64(n+lost)
	}
	return m, err
}

// ask sends a question and waits for its answer; a late answer to an earlier
// one is passed over.
func ask(c net.Conn, question, answer []byte, deadline time.Time) (bool, error) {
	c.SetDeadline(deadline)
	if _, err := c.Write(question); err != nil {
		return false, err
	}
	for {
		n, err := c.Read(answer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if n >= headSize && slices.Equal(answer[:headSize], question[:headSize]) {
			return true, nil
		}
	}
}

// counterOf reads counters of the server.
type counterOf struct{ c net.Conn }

func (l *load) counter() (counterOf, error) {
	c, err := l.dial(modeCount, 0)
	return counterOf{c}, err
}

func (k counterOf) read(name uint64) (int64, error) {
	k.c.SetDeadline(time.Now().Add(10 * time.Second))
	buf := binary.BigEndian.AppendUint64(nil, name)
	if _, err := k.c.Write(buf); err != nil {
		return 0, err
	}
	_, err := io.ReadFull(k.c, buf)
	return int64(binary.BigEndian.Uint64(buf)), err
}

// between reads counters when counting begins and when it ends, and gives
// their growth with the time between. Where the server answered so late that
// they stand for less than half of the run, that is an error.
func (l *load) between(k counterOf, names ...uint64) ([]float64, float64, error) {
	grown := make([]float64, len(names))
	var times [2]time.Time
	for i, at := range []time.Time{l.from, l.until} {
		if err := pause(l.ctx, time.Until(at)); err != nil {
			return nil, 0, err
		}
		for j, name := range names {
			v, err := k.read(name)
			if err != nil {
				return nil, 0, fmt.Errorf("the server's count: %w", err)
			}
			grown[j] = float64(v) - grown[j]
		}
		times[i] = time.Now()
	}
	elapsed := times[1].Sub(times[0])
	if elapsed < l.spec.Duration/2 {
		return nil, 0, fmt.Errorf("the server's counts came late: they are of %s where %s were asked for", elapsed, l.spec.Duration)
	}
	return grown, elapsed.Seconds(), nil
}

// packets sends as fast as it can. What is in flight when counting begins and
// ends is the same.
func (l *load) packets() (map[string]float64, error) {
	name := rand.Uint64() >> 1
	type counted struct {
		grown   []float64
		elapsed float64
		err     error
	}
	k, err := l.counter() // before the flood, in which a handshake may be lost
	if err != nil {
		return nil, err
	}
	defer k.c.Close()
	arrived := make(chan counted, 1)
	go func() {
		g, e, err := l.between(k, name)
		arrived <- counted{g, e, err}
	}()
	sent, _, err := l.each(func(*samples) (int, error) {
		c, err := net.Dial("udp", l.addr)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		packet := make([]byte, 64)
		copy(packet, head(modePacket, name))
		n, counting := 0, false
		for i := 0; ; i++ {
			if i%32 == 0 {
				now := time.Now()
				if now.After(l.until) {
					return n, nil
				}
				counting = l.counts(now)
			}
			// A full queue of the interface refuses packets now and then.
			if _, err := c.Write(packet); err == nil && counting {
				n++
			}
		}
	})
	got := <-arrived
	if err := errors.Join(err, got.err); err != nil {
		return nil, err
	}
	r := Run{Metrics: map[string]float64{}}
	seconds := l.spec.Duration.Seconds()
	received := min(got.grown[0]*seconds/got.elapsed, float64(sent)) // the two counts begin and end a round trip apart
	r.packets(received, float64(sent), seconds)
	r.Metrics[Goodput] = received * 64 * 8 / seconds
	return r.Metrics, nil
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
