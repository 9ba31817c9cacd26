// Package probe asks targets for a sign of life on a schedule: by ICMP echoes, TCP
// connections and HTTP requests of the machine that it runs on.
package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/wirerate/wirerate/internal/watch"
)

const (
	// patience is how long an answer is waited for.
	patience = 5 * time.Second
	// Shortest is the least time between probes: with patience, it bounds how many wait at a time.
	Shortest  = 100 * time.Millisecond
	nameAfter = time.Minute // a name is looked up again
	errorText = 200         // bytes of an error that are kept
)

// Prober probes one target until it is closed.
type Prober struct {
	target Target
	every  time.Duration
	stop   context.CancelFunc
	work   sync.WaitGroup
	ask    func(context.Context) (time.Time, error) // returns when the answer came
	ping   pinger

	mu     sync.Mutex
	seen   watch.Probe
	addr   netip.Addr // of the target's name
	noAddr error      // why there is none
}

// Why a probe is lost whose name has no address.
var (
	errNoAddress = errors.New("the name is being looked up")
	errIPv6      = errors.New("the name has no IPv4 address; icmp: takes an IPv6 address itself")
)

// Start probes a target every so often, Shortest at least. It fails with
// ErrPrivilege where the system lets this user send no ICMP.
func Start(ctx context.Context, t Target, every time.Duration) (*Prober, error) {
	p := newProber(t, every)
	addr, err := netip.ParseAddr(t.host)
	p.addr = addr
	switch t.kind {
	case "http":
		p.ask = visitor(t.url)
	case "tcp":
		p.ask = p.connect
	default: // also where the address comes later, what is not allowed is said at once
		if err := p.ping.open(addr.Is6() && !addr.Is4In6()); err != nil {
			return nil, err
		}
		p.ask = p.echo
	}
	ctx, p.stop = context.WithCancel(ctx)
	if t.kind != "http" && err != nil {
		p.work.Go(func() { p.lookUp(ctx) })
	}
	p.work.Go(func() { p.schedule(ctx, time.Now()) })
	return p, nil
}

func newProber(t Target, every time.Duration) *Prober {
	every = max(every, Shortest)
	return &Prober{target: t, every: every, noAddr: errNoAddress,
		seen: watch.Probe{Target: t.String(), Every: every.Seconds(), Bins: []watch.Bin{}}}
}

// Close ends it and waits for its probes to end.
func (p *Prober) Close() {
	p.stop()
	p.ping.close()
	p.work.Wait()
}

// Take tells what became of the probes since it was called before.
func (p *Prober) Take() watch.Probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.seen
	taken.Sum()
	p.seen = watch.Probe{Target: taken.Target, Every: taken.Every, Waiting: taken.Waiting, Bins: []watch.Bin{}}
	return taken
}

// schedule sends each probe when it is due, whatever became of those before. One
// that is late by a whole period, since this program did not get to run, is not
// sent: its wait would say nothing of the target.
func (p *Prober) schedule(ctx context.Context, due time.Time) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if missed := time.Since(due) / p.every; missed > 0 {
			p.mu.Lock()
			p.seen.Missed += uint64(missed)
			p.mu.Unlock()
			due = due.Add(missed * p.every)
		}
		at := due
		p.work.Go(func() { p.one(ctx, at) })
		due = due.Add(p.every)
		timer.Reset(time.Until(due))
	}
}

// one probes once; the time of an answer counts from when the probe was due.
func (p *Prober) one(ctx context.Context, due time.Time) {
	limited, cancel := context.WithDeadline(ctx, due.Add(patience))
	defer cancel()
	p.mu.Lock()
	p.seen.Waiting++
	p.mu.Unlock()
	at, err := p.ask(limited)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.Waiting--
	switch {
	case ctx.Err() != nil: // it is closed
	case err != nil:
		p.seen.Lost++
		p.seen.Error = why(err)
	default:
		p.seen.Answer(uint64(max(at.Sub(due), 0).Microseconds()))
	}
}

// why is an error in few words.
func why(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in " + patience.String()
	}
	var system syscall.Errno
	var request *url.Error
	switch {
	case errors.As(err, &system):
		err = system
	case errors.As(err, &request): // it begins with the URL
		err = request.Err
	}
	text := err.Error()
	return text[:min(len(text), errorText)]
}

// address is that of the target.
func (p *Prober) address() (netip.Addr, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.addr.IsValid() {
		return p.addr, p.noAddr
	}
	return p.addr.Unmap(), nil
}

func (p *Prober) echo(ctx context.Context) (time.Time, error) {
	addr, err := p.address()
	if err != nil {
		return time.Time{}, err
	}
	return p.ping.echo(ctx, addr)
}

func (p *Prober) connect(ctx context.Context) (time.Time, error) {
	addr, err := p.address()
	if err != nil {
		return time.Time{}, err
	}
	dialer := net.Dialer{KeepAlive: -1}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(addr.String(), p.target.port))
	at := time.Now()
	if err != nil {
		return at, err
	}
	conn.Close()
	return at, nil
}

// usable addresses are of the family of the ICMP socket.
func (p *Prober) usable(a netip.Addr) bool { return p.target.kind != "icmp" || a.Unmap().Is4() }

// lookUp keeps the address of a name, beside the probes, whose time it is no part of.
func (p *Prober) lookUp(ctx context.Context) {
	for {
		limited, cancel := context.WithTimeout(ctx, patience)
		list, err := net.DefaultResolver.LookupNetIP(limited, "ip", p.target.host)
		cancel()
		p.mu.Lock()
		if i := slices.IndexFunc(list, p.usable); i >= 0 {
			p.addr = list[i]
		} else if p.noAddr = err; err == nil {
			p.noAddr = errIPv6
		}
		known := p.addr.IsValid()
		p.mu.Unlock()
		wait := nameAfter
		if !known {
			wait = p.every
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
