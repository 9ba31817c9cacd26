package watch

import (
	"context"
	"errors"
	"maps"
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
	Interval time.Duration
	// Path is zero when not declared; Role is empty then.
	Path netpath.Path
	Role string
	// Open connects to the host, again when it went away.
	Open func(context.Context) (host.Conn, error)
	Name string
}

// ErrSystem is wrapped for hosts that cannot be watched.
var ErrSystem = errors.New("only Linux hosts can be watched; inspect --for looks at others")

// judgeEvery is how often the rules of inspect judge the window.
const judgeEvery = 5 * time.Second

// Follow watches a host until ctx ends, and tells each state. A host that goes
// away is asked again at every interval; what cannot be watched at all is an error.
func Follow(ctx context.Context, opt Options, tell func(State)) error {
	f := follower{opt: opt, watcher: NewWatcher(), base: make(chan *facts.Facts, 1)}
	if err := f.connect(ctx); err != nil {
		return err
	}
	defer f.close()
	tick := time.NewTicker(opt.Interval)
	defer tick.Stop()
	for {
		if st := f.next(ctx); ctx.Err() == nil {
			tell(st)
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
	watcher *Watcher
	last    State
	base    chan *facts.Facts // what the host is, read once beside the samples
	facts   *facts.Facts
	before  *Sample // of the rules' window
	speeds  map[string]float64
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
	if err == nil && system.Named(strings.TrimSpace(uname)) != system.Linux {
		err = ErrSystem
	}
	if err != nil {
		conn.Close()
		return err
	}
	f.conn, f.reader = conn, NewReader(conn)
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
		if op.Action == host.ActRun && len(op.Args) > 1 && op.Args[0] == "ss" && strings.Contains(op.Args[1], "i") {
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
	if err != nil {
		if ctx.Err() == nil {
			f.conn.Close()
			f.conn = nil
		}
		return f.gone(err)
	}
	st := f.watcher.Add(s)
	f.reader.Recycle(s)
	select {
	case f.facts = <-f.base:
		f.learn()
	default:
	}
	f.judge(s)
	st.Host, st.Ceiling = f.opt.Name, f.ceiling
	st.Problems = append(st.Problems, f.found...)
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
	f.speeds = map[string]float64{}
	for i := range f.facts.NICs {
		f.speeds[f.facts.NICs[i].Name] = float64(f.facts.NICs[i].Speed)
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

func kept(s *Sample) *Sample {
	return &Sample{Time: s.Time, Texts: maps.Clone(s.Texts)}
}
