package workload

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// carrier is a connection that loads the path and answers probes on itself.
type carrier struct {
	conn  net.Conn
	up    bool
	probe chan struct{} // asks for a probe
	bytes atomic.Int64  // received
	mu    sync.Mutex
	sent  map[uint64]time.Time
	times *[]float64 // of probes, guarded by lock
	lock  *sync.Mutex
	l     *load
}

const probesPerSecond = 40 // under the draft's limit of 100

// loadedLatency loads the path with bulk streams and meanwhile measures round
// trips on connections of their own (foreign) and on those that carry the load
// (self), as draft-ietf-ippm-responsiveness has it; see responsiveness.
func (l *load) loadedLatency() (map[string]float64, error) {
	var idle samples
	for range 10 {
		if _, exchange, err := l.foreign(); err == nil {
			idle.add(exchange)
		}
	}
	counted, err := l.growth()
	if err != nil {
		return nil, err
	}
	defer counted.Close()
	name := rand.Uint64() >> 1
	var lock sync.Mutex
	var self []float64
	carriers, err := l.carriers(name, &self, &lock)
	defer func() {
		for _, c := range carriers {
			c.conn.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	l.begin() // connections that are slow to open take nothing of the time
	if err := counted.ask(l, name); err != nil {
		return nil, err
	}
	for _, c := range carriers {
		go c.carry()
		go c.listen()
	}
	var handshakes, exchanges []float64
	probing := make(chan error, 1)
	go func() {
		var err error
		handshakes, exchanges, err = l.probe(carriers)
		probing <- err
	}()
	up, err := counted.answer(l)
	if err := errors.Join(err, <-probing); err != nil {
		return nil, err
	}
	var down float64
	for _, c := range carriers {
		down += float64(c.bytes.Load())
	}
	lock.Lock()
	defer lock.Unlock()
	r := Run{Metrics: map[string]float64{Goodput: 8 * (up.Grown[0]/up.Seconds + down/l.spec.Duration.Seconds())}}
	r.distribution(append([]float64{}, exchanges...))
	if len(exchanges) == 0 {
		return nil, errors.New("no probe came back under load")
	}
	r.Metrics[RPM] = responsiveness(handshakes, exchanges, self)
	var i Run
	i.Metrics = map[string]float64{}
	i.distribution(idle.values)
	r.Metrics[IdleLatency] = i.Metrics[LatencyP50]
	return r.Metrics, nil
}

// responsiveness is the round trips per minute of the TCP-only case of
// draft-ietf-ippm-responsiveness since its version 04, from times in s: the
// foreign connections' is 60 over the mean of handshake and exchange, the
// loaded ones' 60 over theirs, and the result the mean of both rates. Each time
// is the mean of what is under its 95th percentile.
func responsiveness(handshakes, exchanges, self []float64) float64 {
	foreign := 60 / ((trimmedMean(handshakes) + trimmedMean(exchanges)) / 2)
	if len(self) == 0 {
		return foreign
	}
	return (foreign + 60/trimmedMean(self)) / 2
}

func (l *load) carriers(name uint64, times *[]float64, lock *sync.Mutex) ([]*carrier, error) {
	var all []*carrier
	for range l.spec.Streams {
		for mode, wanted := range map[byte]bool{modeUp: l.spec.Direction != Down, modeDown: l.spec.Direction != Up} {
			if !wanted {
				continue
			}
			c, err := l.dial(mode, name)
			if err != nil {
				return all, err
			}
			all = append(all, &carrier{conn: c, up: mode == modeUp, probe: make(chan struct{}, 1), sent: map[uint64]time.Time{},
				times: times, lock: lock, l: l})
		}
	}
	return all, nil
}

// carry writes the frames of an upload, with a probe where one is asked for,
// and of a download the probes alone.
func (c *carrier) carry() {
	buf := make([]byte, frameSize)
	var id uint64
	for {
		asked := false
		if c.up {
			select {
			case <-c.probe:
				asked = true
			default:
			}
		} else if pause(c.l.ctx, 20*time.Millisecond) != nil {
			return
		} else {
			select {
			case <-c.probe:
				asked = true
			default:
				continue
			}
		}
		binary.BigEndian.PutUint64(buf, 0)
		if asked {
			id++
			binary.BigEndian.PutUint64(buf, id)
			c.mu.Lock()
			c.sent[id] = time.Now()
			c.mu.Unlock()
		}
		out := buf
		if !c.up {
			out = buf[:8]
		}
		if _, err := c.conn.Write(out); err != nil {
			return
		}
	}
}

// listen takes the frames of a download and the answers to probes.
func (c *carrier) listen() {
	size := frameSize
	if c.up {
		size = 8
	}
	buf := make([]byte, size)
	for {
		if _, err := io.ReadFull(c.conn, buf); err != nil {
			return
		}
		now := time.Now()
		if !c.up && c.l.counts(now) {
			c.bytes.Add(frameSize)
		}
		id := binary.BigEndian.Uint64(buf)
		if id == 0 {
			continue
		}
		c.mu.Lock()
		sent, ok := c.sent[id]
		delete(c.sent, id)
		c.mu.Unlock()
		if ok && c.l.counts(now) {
			c.lock.Lock()
			*c.times = append(*c.times, now.Sub(sent).Seconds())
			c.lock.Unlock()
		}
	}
}

// foreign times a handshake and one exchange on a new connection.
func (l *load) foreign() (handshake, exchange float64, err error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	start := time.Now()
	c, err := d.DialContext(l.ctx, "tcp", l.addr)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	connected := time.Now()
	c.SetDeadline(connected.Add(10 * time.Second))
	if _, err := c.Write(append(head(modeRequests, 0), make([]byte, exchangeN)...)); err != nil {
		return 0, 0, err
	}
	if _, err := io.ReadFull(c, make([]byte, exchangeN)); err != nil {
		return 0, 0, err
	}
	return connected.Sub(start).Seconds(), time.Since(connected).Seconds(), nil
}

// probe measures while the load counts: a foreign probe and a self probe in
// turn, several at once when round trips are long.
func (l *load) probe(carriers []*carrier) (handshakes, exchanges []float64, err error) {
	if err := pause(l.ctx, time.Until(l.from)); err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := 0; time.Now().Before(l.until); i++ {
		wg.Go(func() {
			h, e, err := l.foreign()
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			handshakes, exchanges = append(handshakes, h), append(exchanges, e)
		})
		if len(carriers) > 0 {
			select {
			case carriers[i%len(carriers)].probe <- struct{}{}:
			default: // the last one is still waiting
			}
		}
		if err := pause(l.ctx, time.Second/probesPerSecond); err != nil {
			return nil, nil, err
		}
	}
	wg.Wait()
	return handshakes, exchanges, nil
}

// slowReceiver sends at full speed beside a stream whose receiver is slow, and
// probes the latency meanwhile.
func (l *load) slowReceiver() (map[string]float64, error) {
	counted, err := l.growth()
	if err != nil {
		return nil, err
	}
	defer counted.Close()
	name := rand.Uint64() >> 1
	if err := counted.ask(l, name, slowCounter); err != nil {
		return nil, err
	}
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for i := range l.spec.Streams + 1 {
		mode, number := byte(modeUp), name
		if i == 0 {
			mode, number = modeSlow, slowRate
		}
		c, err := l.dial(mode, number)
		if err != nil {
			return nil, err
		}
		conns = append(conns, c)
		go func() {
			buf := make([]byte, frameSize)
			for {
				if _, err := c.Write(buf); err != nil {
					return
				}
			}
		}()
	}
	var exchanges []float64
	probing := make(chan error, 1)
	go func() {
		var err error
		_, exchanges, err = l.probe(nil)
		probing <- err
	}()
	counts, err := counted.answer(l)
	if err := errors.Join(err, <-probing); err != nil {
		return nil, err
	}
	r := Run{Metrics: map[string]float64{Goodput: counts.Grown[0] * 8 / counts.Seconds,
		SlowGoodput: counts.Grown[1] * 8 / counts.Seconds}}
	r.distribution(exchanges)
	return r.Metrics, nil
}
