package watch

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/system"
)

// Options say how a host is watched.
type Options struct {
	Interval time.Duration // 0: as often as costs the host little
	// Path is zero when not declared; Role is empty then.
	Path netpath.Path
	Role string
	// Open connects to the host, again when it went away.
	Open func(context.Context) (host.Conn, error)
	Name string
}

// ErrSystem is wrapped for hosts that cannot be watched.
var ErrSystem = errors.New("only hosts that run Linux, FreeBSD or OpenBSD can be watched")

// judgeEvery is how often the rules of inspect judge the window: it takes as long
// as many samples.
const judgeEvery = 30 * time.Second

// Follow watches a host until ctx ends, and tells each state. A host that goes
// away is asked again at every interval; what cannot be watched at all is an error.
func Follow(ctx context.Context, opt Options, tell func(State)) error {
	f := follower{opt: opt, watcher: NewWatcher(), base: make(chan *facts.Facts, 1)}
	if err := f.connect(ctx); err != nil {
		return err
	}
	defer f.close()
	var tick *time.Ticker
	for {
		if st := f.next(ctx); ctx.Err() == nil {
			tell(st)
		}
		if tick == nil { // the first look tells how the host is read
			tick = time.NewTicker(cmp.Or(opt.Interval, f.every))
			defer tick.Stop()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// follower watches one host.
type follower struct {
	opt     Options
	conn    host.Conn
	reader  *Reader
	every   time.Duration // that the reader wants
	watcher *Watcher
	last    State
	base    chan *facts.Facts // what the host is, read once beside the samples
	facts   *facts.Facts
	before  *Sample // of the rules' window
	speeds  map[string]float64
	owners  map[string]string // address, interface
	ceiling *Ceiling
	found   []Problem
}

// connect opens the host and asks what it is. Its facts are read on a connection
// of their own, since programs are started for them.
func (f *follower) connect(ctx context.Context) error {
	conn, err := f.opt.Open(ctx)
	if err != nil {
		return err
	}
	if _, replay := conn.(*host.Replay); replay {
		conn.Close()
		return errors.New("a capture does not change: inspect reads it")
	}
	uname, err := host.Run(ctx, conn, "uname", "-s")
	reader := NewReader(conn, f.watcher.looks)
	if s := system.Named(strings.TrimSpace(uname)); err == nil && s != system.Linux {
		if reader = NewBSDReader(conn, s); reader.glance == nil {
			err = ErrSystem
		}
	}
	if err != nil {
		conn.Close()
		return err
	}
	f.conn, f.reader = conn, reader
	if f.facts == nil {
		go func() {
			second, err := f.opt.Open(ctx)
			if err != nil {
				return
			}
			defer second.Close()
			if known, err := facts.Collect(ctx, withoutFlows{second}, facts.Options{}); err == nil {
				f.base <- known
			}
		}()
	}
	return nil
}

// withoutFlows is a host that is not asked for its connections, of which there may
// be many: they are watched already.
type withoutFlows struct{ host.Conn }

// Do answers the question for connections with nothing.
func (c withoutFlows) Do(ctx context.Context, ops ...host.Op) ([]host.Answer, error) {
	ops = slices.Clone(ops)
	for i, op := range ops {
		if op.Action == host.ActRun && strings.Contains(strings.Join(op.Args, " "), "ss -tin") {
			ops[i] = host.Command("true")
		}
	}
	return c.Conn.Do(ctx, ops...)
}

func (f *follower) close() {
	if f.conn != nil {
		f.conn.Close()
	}
}

func (f *follower) next(ctx context.Context) State {
	if f.conn == nil {
		if err := f.connect(ctx); err != nil {
			return f.gone(err)
		}
	}
	s, err := f.reader.Read(ctx)
	f.every = f.reader.Interval()
	if err != nil {
		if ctx.Err() == nil {
			f.conn.Close()
			f.conn = nil
		}
		return f.gone(err)
	}
	st := f.watcher.Add(s)
	st.Every = cmp.Or(f.opt.Interval, f.every).Seconds()
	f.reader.Recycle(s)
	select {
	case f.facts = <-f.base:
		f.learn()
	default:
	}
	f.judge(s)
	st.Host, st.Ceiling = f.opt.Name, f.ceiling
	st.Problems = append(st.Problems, f.found...)
	for i := range st.Flows {
		st.Flows[i].Interface = f.owners[hostOf(st.Flows[i].Local)]
	}
	for i := range st.Interfaces {
		st.Interfaces[i].Speed = f.speeds[st.Interfaces[i].Name]
	}
	f.last = st
	return st
}

// gone is the last state, with the reason why there is no new one.
func (f *follower) gone(err error) State {
	st := f.last
	st.Schema, st.Host, st.Time, st.Gone = 1, f.opt.Name, time.Now(), err.Error()
	st.Verdict = Verdict{Limit: NoLimit, Since: st.Time}
	st.Flows, st.Moving, st.Traffic = []Flow{}, 0, Traffic{}
	if st.Interfaces == nil {
		st.Interfaces, st.Processors, st.Levels, st.Problems = []Interface{}, []Busy{}, []Level{}, []Problem{}
	}
	return st
}

// learn takes what the host is: the speeds of its interfaces, its ceilings.
func (f *follower) learn() {
	f.speeds, f.owners = map[string]float64{}, map[string]string{}
	for i := range f.facts.NICs {
		n := &f.facts.NICs[i]
		f.speeds[n.Name] = float64(n.Speed)
		for _, a := range n.Addrs {
			address, _, _ := strings.Cut(a, "/")
			f.owners[address] = n.Name
		}
	}
	d := diagnose.Question{Facts: f.facts, Path: f.opt.Path, Role: f.opt.Role}.Answer()
	if b, ok := diagnose.Binding(d.Ceilings); ok && b.Metric == diagnose.Goodput {
		f.ceiling = &Ceiling{b.Resource, b.Value}
	}
}

// judge lets the rules of inspect judge the time since they did so before. Only
// what goes on now is told: the evidence is of the window.
func (f *follower) judge(s *Sample) {
	if f.facts == nil {
		return
	}
	if f.before == nil {
		f.before = kept(s)
		return
	}
	window := s.Time.Sub(f.before.Time)
	if window < judgeEvery {
		return
	}
	now, err := f.facts.Again(f.before.Texts, s.Texts, window)
	f.before = kept(s)
	if err != nil {
		return
	}
	findings, _ := diagnose.Evaluate(diagnose.Input{Facts: now, Path: f.opt.Path, Role: f.opt.Role})
	f.found = nil
	for _, d := range findings {
		current := false
		for _, e := range d.Evidence {
			current = current || e.From == "second sample"
		}
		if current && d.Severity.AtLeast(diagnose.Warning) {
			f.found = append(f.found, Problem{d.Rule, string(d.Severity), d.Subject, d.Summary})
		}
	}
}

// hostOf is the address of an address with a port.
func hostOf(address string) string {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return ""
	}
	return a.Addr().String()
}

func kept(s *Sample) *Sample {
	return &Sample{Time: s.Time, Texts: maps.Clone(s.Texts)}
}
