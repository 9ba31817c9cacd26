package workload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
)

const (
	mostAtOnce  = 1024 // connections of the generator unless more are asked for
	leastDue    = 10   // arrivals of a step
	mayBeTardy  = 100  // one arrival in so many may be later than the bound
	closedTries = 2
	timesGrow   = 0.1 // of a step's length, by which its requests' times may grow
	lowRate     = 50  // 1/s, with which the search begins
)

// exchange is one request and its answer over a connection that may be used
// again.
type exchange interface {
	once(deadline time.Time) error
	Close() error
	reset() error
}

// conn is what a request goes over.
type conn struct{ net.Conn }

// connect opens a connection that is reset when ctx ends before it is handed
// over, as reset does later.
func connect(ctx context.Context, addr string) (conn, error) {
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptLinger(int(fd), syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
		})
	}}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return conn{}, err
	}
	return conn{c}, c.(*net.TCPConn).SetLinger(-1)
}

// reset closes a connection whose request failed, without TIME-WAIT: ports that
// wait a minute would be missing in the steps and runs after an overloaded one.
func (c conn) reset() error {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // of one that is broken already
	}
	return c.Close()
}

// arrival is what requests come over: kept connections, or one for each. The
// clients of kept ones may come anew at each rate.
type arrival struct {
	dial       func(context.Context) (exchange, error)
	kept, anew bool
}

// openLoop offers requests on schedule: each has an intended start, from which
// its time counts however late the generator or a connection was free for it,
// as wrk2 has it.
type openLoop struct {
	l      *load
	kind   arrival
	bound  time.Duration // of the 99th percentile
	slots  chan struct{}
	mu     sync.Mutex
	idle   []exchange
	waited atomic.Int64 // arrivals that found no slot free
	tardy  atomic.Int64 // ns by which the generator itself was late at most
}

func (l *load) openLoop(a arrival) *openLoop {
	slots := max(mostAtOnce, l.spec.Streams)
	if a.anew { // all that come within a round trip or two open one
		slots = max(slots, mostClients)
	}
	return &openLoop{l: l, kind: a, slots: make(chan struct{}, slots)}
}

func (o *openLoop) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.idle {
		_ = e.reset() // nothing is asked of it any more
	}
	o.idle = nil
}

// one makes a request over an idle connection or a new one.
func (o *openLoop) one(ctx context.Context, deadline time.Time) error {
	o.mu.Lock()
	var e exchange
	if n := len(o.idle); n > 0 {
		e, o.idle = o.idle[n-1], o.idle[:n-1]
	}
	o.mu.Unlock()
	if e == nil {
		ctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		var err error
		if e, err = o.kind.dial(ctx); err != nil {
			return err
		}
	}
	err := e.once(deadline)
	if err != nil {
		return errors.Join(err, e.reset())
	}
	if !o.kind.kept {
		return e.Close()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idle = append(o.idle, e)
	return nil
}

// tally is what became of the requests of a step.
type tally struct {
	mu     sync.Mutex
	times  []float64 // s, of those that were answered
	at     []float64 // s, when those were due, from the first
	failed int
	last   error
	used   error // the last of which exhausted tells
}

func (t *tally) add(at, took time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failed, t.last = t.failed+1, err
		if exhausted(err) != nil {
			t.used = err
		}
		return
	}
	t.times, t.at = append(t.times, took.Seconds()), append(t.at, at.Seconds())
}

// grew is by how much the median of the requests' times is longer in the last
// quarter of d than in the first, in s: a queue that grows all the time.
func (t *tally) grew(d float64) float64 {
	var first, last []float64
	for i, at := range t.at {
		switch {
		case at < d/4:
			first = append(first, t.times[i])
		case at >= d*3/4:
			last = append(last, t.times[i])
		}
	}
	if len(first) == 0 || len(last) == 0 {
		return 0
	}
	return stats.Median(last) - stats.Median(first)
}

// step offers a rate for d.
func (o *openLoop) step(rate float64, d time.Duration) (attempt, error) {
	o.waited.Store(0)
	o.tardy.Store(0)
	if o.kind.anew {
		o.close()
	}
	due := max(int(rate*d.Seconds()), leastDue)
	t := &tally{}
	var wg sync.WaitGroup
	start := time.Now()
	for i := range due {
		at := start.Add(time.Duration(float64(i) / rate * 1e9))
		precisely(time.Until(at))
		if o.l.ctx.Err() != nil {
			break
		}
		o.tardy.Store(max(o.tardy.Load(), int64(time.Since(at))))
		wg.Go(func() {
			select {
			case o.slots <- struct{}{}:
			default:
				o.waited.Add(1)
				o.slots <- struct{}{}
			}
			defer func() { <-o.slots }()
			err := o.one(o.l.ctx, at.Add(2*o.bound))
			t.add(at.Sub(start), time.Since(at), err)
		})
	}
	took := time.Since(start)
	wg.Wait()
	return o.judge(rate, due, took, t), o.l.ctx.Err()
}

// judge compares a step with the bound. Requests that failed are late.
func (o *openLoop) judge(rate float64, due int, took time.Duration, t *tally) attempt {
	late := t.failed
	for _, v := range t.times {
		if v > o.bound.Seconds() {
			late++
		}
	}
	// A short step ends before a queue that grows has made requests late.
	planned := duration(float64(due) / rate)
	grew := t.grew(planned.Seconds())
	r := Run{Metrics: map[string]float64{}}
	r.distribution(t.times) // which sorts them
	r.Metrics[Errors] = float64(t.failed) / float64(due)
	a := attempt{offered: rate, achieved: rate, held: late <= max(1, due/mayBeTardy), metrics: r.Metrics}
	a.held = a.held && grew <= timesGrow*planned.Seconds()
	// A generator that was held up for a moment is in the requests' times, which
	// count from the schedule; one that falls further behind makes a lower rate.
	if took-planned > min(o.bound/4, planned/8) {
		a.achieved = float64(due) / took.Seconds()
	}
	a.metrics[answered] = a.achieved * float64(len(t.times)) / float64(due)
	a.limit = o.limit(a, late, due, t, duration(grew))
	return a
}

// answered is the rate of answers of a step, before it gets a workload's name.
const answered = "answered_per_s"

// limit says what kept a step from holding.
func (o *openLoop) limit(a attempt, late, due int, t *tally, grew time.Duration) Limit {
	tardy := time.Duration(o.tardy.Load())
	switch {
	case a.held && a.reached():
		return Limit{}
	case exhausted(t.used) != nil:
		return *exhausted(t.used)
	case !a.reached() || tardy > o.bound/2:
		return Limit{LimitClientCPU, fmt.Sprintf("the client: its program was up to %s late, and of %.0f/s it began %.0f/s",
			tardy.Round(time.Millisecond), a.offered, a.achieved)}
	case o.waited.Load() > int64(due/mayBeTardy):
		return Limit{LimitClients, fmt.Sprintf("the clients: %d connections were all in use", cap(o.slots))}
	}
	text := fmt.Sprintf("the server or the path: at %.0f/s, %d of %d were later than %s",
		a.offered, late, due, o.bound.Round(time.Millisecond))
	if late <= max(1, due/mayBeTardy) {
		text = fmt.Sprintf("the server or the path: at %.0f/s the requests' times grew by %s within %.1f s", a.offered,
			grew.Round(time.Millisecond), float64(due)/a.offered)
	}
	if t.last != nil {
		text += ", some failed: " + t.last.Error()
	}
	return Limit{LimitServer, text}
}

// exhausted says of what the client had no more when it could not connect; nil
// for other errors.
func exhausted(err error) *Limit {
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return &Limit{LimitPorts, "the client's ports: none was left towards the server's address " +
			"(net.ipv4.ip_local_port_range; that of an ended connection waits for a minute)"}
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return &Limit{LimitFiles, "the files that a process on the client may have open (ulimit -n)"}
	}
	return nil
}

// setBound fixes how long a request may take: four round trips and 100 ms, or
// the double of that so often that a low rate holds, up to a fifth of the run,
// since there are paths and machines on which nothing ends sooner.
func (o *openLoop) setBound(out *loaded) error {
	const shakes = 5
	shortest := math.Inf(1)
	for range shakes {
		began := time.Now()
		c, err := o.l.dial(modeRequests, 0)
		if err != nil {
			return err
		}
		c.Close()
		shortest = min(shortest, time.Since(began).Seconds())
	}
	usual := duration(4*shortest) + 100*time.Millisecond
	most, began := max(usual, o.l.spec.Duration/5), time.Now()
	for o.bound = usual; o.bound < most; o.bound = min(2*o.bound, most) {
		if time.Since(began) > o.l.spec.Duration/2 {
			o.bound = most
			break
		}
		if held, err := o.holdsLow(); err != nil {
			return err
		} else if held {
			break
		}
	}
	if o.bound > usual {
		out.warn(CodeSlowIdle, o.bound.Seconds(), "at %d requests per second already, more than one in %d took longer than "+
			"%s, by loss or because this machine is busy: the search takes up to "+
			"%s", lowRate, mayBeTardy, usual.Round(time.Millisecond), o.bound.Round(time.Millisecond))
	}
	return nil
}

// holdsLow tells whether a low rate holds, at the second try at least.
func (o *openLoop) holdsLow() (bool, error) {
	for range 2 {
		if a, err := o.step(lowRate, stepTime); err != nil || a.held {
			return a.held, err
		}
	}
	return false, nil
}

// rates searches for the highest rate of requests whose 99th percentile stays
// under the bound, and then counts how many a closed loop makes with enough
// clients.
func (l *load) rates(name string, a arrival) (loaded, error) {
	o, out, began := l.openLoop(a), loaded{}, time.Now()
	defer o.close()
	if err := o.setBound(&out); err != nil {
		return out, err
	}
	closing := l.spec.Duration / 5
	s := search{try: o.step, low: lowRate, resolution: 2 * resolution, step: stepTime, confirm: l.spec.Duration / 5,
		until: began.Add(l.spec.Duration - 2*closing)}
	found, err := s.run()
	if err != nil {
		return out, err
	}
	out.Metrics, out.Limit = found.metrics, &found.limit
	out.Metrics[name] = found.metrics[answered]
	delete(out.Metrics, answered)
	out.Metrics[LatencyBound] = o.bound.Seconds()
	if !found.held {
		out.warn(CodeSlowIdle, found.metrics[LatencyP99], "at no rate that was tried for %s did 99%% of the requests end "+
			"within %s: this is the lowest", s.confirm, o.bound.Round(time.Millisecond))
	}
	clients, tries := max(l.spec.Streams, int(2*found.achieved*max(found.metrics[LatencyP50], 0.001))), closedTries
	if name == Requests { // as many as wrk has, to be compared with it
		clients, tries = l.spec.Streams, 1
	}
	for range tries {
		clients = min(clients, cap(o.slots))
		rate, last, err := o.closed(clients, closing/time.Duration(tries))
		if err != nil {
			return out, err
		}
		if limit := exhausted(last); limit != nil {
			out.Limit = limit
		}
		if rate > out.Metrics[ClosedRate] {
			out.Metrics[ClosedRate], out.Metrics[Clients] = rate, float64(clients)
		}
		clients *= 2
	}
	return out, nil
}

// closed runs clients of which each waits for its answer before it asks again,
// and returns the answers per second after a quarter of d.
func (o *openLoop) closed(clients int, d time.Duration) (rate float64, last, err error) {
	if o.kind.anew {
		o.close()
	}
	from := time.Now().Add(d / 4)
	until := from.Add(d - d/4)
	var wg sync.WaitGroup
	var done atomic.Int64
	t := &tally{}
	for range clients {
		wg.Go(func() {
			for o.l.ctx.Err() == nil && time.Now().Before(until) {
				if err := o.one(o.l.ctx, until.Add(2*o.bound)); err != nil {
					t.add(0, 0, err)
					if exhausted(err) != nil {
						return // the clients that there is room for go on
					}
					time.Sleep(time.Millisecond)
					continue
				}
				if now := time.Now(); now.After(from) && now.Before(until) {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / until.Sub(from).Seconds(), t.used, o.l.ctx.Err()
}

// questions are those of a name server, over UDP.
func (l *load) questions() (loaded, error) {
	out, err := l.rates(Transactions, arrival{kept: true, dial: func(ctx context.Context) (exchange, error) {
		c, err := new(net.Dialer).DialContext(ctx, "udp", l.addr)
		return &question{conn: conn{c}}, err
	}})
	if err == nil && out.Metrics[Transactions] == 0 && out.Metrics[Errors] == 1 {
		err = errors.New("no question was answered, though TCP gets through: a packet filter between the two drops UDP")
	}
	if err == nil {
		out.Metrics[Loss] = out.Metrics[Errors]
	}
	return out, err
}
