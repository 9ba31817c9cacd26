package experiment

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

// end is one end of the path, or the router between them.
type end struct {
	side  string // client, server or router
	conn  host.Conn
	facts *facts.Facts
	plan  plan.Plan
	tried []assigned // what of the plan can be tried now, in its order
	tuned trial.Side
}

// session is the open hosts on which runs are made under arms, and what must be
// put back when it ends.
type session struct {
	Config
	catalog        *catalog.Catalog
	lab            *lab.Lab
	stateDir       string // of a lab's journals, removed with it
	client, server end
	router         end // without a connection where the trial has none
	address        string
	path           netpath.Path
	known          bool // whether the path's rate and round-trip time are known
	rtt            time.Duration
	warnings       []string
	watch          watch
	bench          *trial.Bench
	makeRun        func(context.Context, trial.Values) (workload.Run, error) // on the bench
}

// within opens a session for as long as do takes and restores the hosts,
// however it ends.
func within[T any](ctx context.Context, c Config, kind string, do func(*session) (T, error)) (found T, err error) {
	c.kind = kind
	s, err := open(ctx, c)
	if err != nil {
		return found, err
	}
	defer s.close()
	found, err = do(s)
	if restored := s.restore(); restored != nil {
		return found, failed(errors.Join(err, restored))
	}
	return found, err
}

// withArms is within, with the arms resolved and the journals open.
func withArms[T any](ctx context.Context, c Config, kind string, do func(*session, []*armValues) (T, error)) (T,
	error) {
	return within(ctx, c, kind, func(s *session) (none T, err error) {
		arms, err := s.arrange(ctx)
		if err != nil {
			return none, err
		}
		return do(s, arms)
	})
}

// open connects to the hosts.
func open(ctx context.Context, c Config) (*session, error) {
	if err := c.checkArms(ctx, host.NewLocal()); err != nil {
		return nil, err
	}
	known, err := catalog.Load()
	if err != nil {
		return nil, failed(err)
	}
	s := &session{Config: c, catalog: known, client: end{side: "client"}, server: end{side: "server"},
		router: end{side: "router"}}
	if c.Lab != "" {
		err = s.bringLab(ctx)
	} else {
		err = s.openHosts(ctx)
	}
	if err == nil {
		err = s.look(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// bringLab is a lab whose link need not have a rate or a round-trip time.
func (s *session) bringLab(ctx context.Context) (err error) {
	if s.path, err = PathOf(s.Link); err == nil {
		s.known = true
	}
	s.rtt = s.Link.RTT()
	if err := lab.EnterUserNamespace(ctx, s.Args); err != nil {
		return classified(err)
	}
	if s.stateDir, err = host.TempDir("lab"); err != nil {
		return failed(err)
	}
	if s.lab, err = lab.Bring(ctx, s.topology()); err != nil {
		return classified(err)
	}
	if err := s.lab.OnKill(host.Leftover{Lock: s.stateDir, Tree: s.stateDir}); err != nil {
		return failed(err)
	}
	s.client.conn, s.server.conn, s.address = s.lab.Client(), s.lab.Server(), s.lab.PeerAddr()
	if s.Router {
		s.router.conn = s.lab.Host(lab.RouterHost)
	}
	s.note("lab is up: %s", s.Link)
	return nil
}

func (s *session) topology() lab.Topology {
	if s.Router {
		return lab.Routed(s.Link)
	}
	return lab.Pair(s.Link)
}

// PathOf describes a lab's link as a path; one without a rate or a round-trip
// time is none that can be planned for.
func PathOf(link link.Link) (netpath.Path, error) {
	p := netpath.Path{Rate: link.Up.Rate, RTT: link.Up.Delay + link.Down.Delay, Loss: link.Up.Loss.Rate(),
		MTU: link.PathMTU()}
	if p.Rate == 0 {
		return p, errors.New("--lab: a rate is needed to plan for the path, such as rate=1gbit,rtt=50ms")
	}
	if p.RTT == 0 {
		return p, errors.New("--lab: a round-trip time is needed to plan for the path, such as rate=1gbit,rtt=50ms")
	}
	return p, p.Check()
}

func (s *session) openHosts(ctx context.Context) (err error) {
	if s.client.conn, err = s.openLive(ctx, s.Host); err != nil || s.Alone() {
		return err
	}
	if s.server.conn, err = s.openLive(ctx, s.Peer); err != nil || s.Via == "" {
		return err
	}
	s.router.conn, err = s.openLive(ctx, s.Via)
	return err
}

func (s *session) openLive(ctx context.Context, name string) (host.Conn, error) {
	c, err := s.Open(ctx, name)
	if _, recorded := c.(*host.Replay); recorded {
		return nil, wrongf("%s is a capture: live hosts are needed; try wirerate inspect or plan", name)
	}
	return c, err
}

// hosts are the ends that the session has: one where the workload needs no
// peer.
func (s *session) hosts() []*end {
	if s.Alone() {
		return []*end{&s.client}
	}
	if s.Routed() {
		return []*end{&s.client, &s.server, &s.router}
	}
	return []*end{&s.client, &s.server}
}

// look collects the hosts' facts, the address and what is known of the path.
func (s *session) look(ctx context.Context) error {
	for _, e := range s.hosts() {
		f, err := facts.Collect(ctx, e.conn, facts.Options{})
		if err != nil {
			return classified(err)
		}
		e.facts = f
		e.tuned = trial.Side{Conn: e.conn, System: catalog.System(f.System)}
	}
	if s.lab != nil {
		return nil
	}
	if s.path, s.rtt, s.known = s.Path, s.Path.RTT, s.Path.Rate > 0; s.Alone() || s.Live != nil && !s.MeasurePath {
		return nil // nothing goes from one host to the other
	}
	var err error
	if s.address, err = s.serverAddress(); err != nil {
		return wrong(err)
	}
	switch {
	case s.MeasurePath:
		err = s.measurePath(ctx)
		s.known, s.rtt = err == nil, s.path.RTT
	case !s.known:
		if s.rtt, err = s.ping(ctx, 3); err != nil {
			s.rtt = 0 // runs then have the length of a short path
		}
		return nil
	}
	return err
}

// pair is the hosts of a run.
func (s *session) pair() workload.Pair {
	return workload.Pair{Client: s.client.conn, Server: s.server.conn, Addr: s.address}
}

// ends returns the sending and the receiving end.
func (s *session) ends(d workload.Direction) (sender, receiver *end) {
	if d == workload.Down {
		return &s.server, &s.client
	}
	return &s.client, &s.server
}

// targets are the hosts that a part of an arm sets.
func (s *session) targets(p part) []*end {
	all := s.hosts()
	if !s.Routed() {
		return all
	}
	return slices.DeleteFunc(all, func(e *end) bool { return (e == &s.router) == p.ends })
}

// toPlan are the hosts that the part plan of an arm sets.
func (s *session) toPlan() []*end {
	var out []*end
	for _, a := range s.Arms {
		for _, p := range a.parts {
			if p.kind != "plan" {
				continue
			}
			for _, e := range s.targets(p) {
				if !slices.Contains(out, e) {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// roleOf is what a host is planned for.
func (s *session) roleOf(e *end) string {
	if e == &s.router {
		return "router"
	}
	return s.Role
}

func (s *session) close() {
	if s.lab != nil {
		s.lab.Close()
	}
	if s.stateDir != "" {
		os.RemoveAll(s.stateDir)
	}
	if s.lab != nil {
		return
	}
	for _, e := range s.hosts() {
		if e.conn != nil {
			e.conn.Close()
		}
	}
}
