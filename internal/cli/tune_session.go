package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/trial"
)

// end is one end of the path that is tuned.
type end struct {
	side  string // client or server
	conn  host.Conn
	facts *facts.Facts
	plan  plan.Plan
	tuned trial.Side
	tried map[string]string // runtime settings of the plan and their values
}

// tuneSession holds what must be put back when tune ends.
type tuneSession struct {
	env            *Env
	opt            tuneOptions
	catalog        *catalog.Catalog
	lab            *lab.Lab
	link           lab.Link
	stateDir       string // of a lab's journals, removed with it
	client, server end
	address        string
	path           facts.Path
	warnings       []string
}

// openTune connects to both ends.
func openTune(ctx context.Context, env *Env, opt tuneOptions) (*tuneSession, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, failure(err)
	}
	s := &tuneSession{env: env, opt: opt, catalog: c, client: end{side: "client"}, server: end{side: "server"}}
	if opt.lab != "" {
		err = s.openLab(ctx)
	} else {
		err = s.openHosts(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *tuneSession) openLab(ctx context.Context) error {
	link, err := lab.ParseLink(s.opt.lab)
	if err != nil {
		return usage(err)
	}
	if s.path, err = pathOf(link); err != nil {
		return usage(err)
	}
	return s.bringUp(ctx, link)
}

// bringUp brings up the lab and takes its two hosts.
func (s *tuneSession) bringUp(ctx context.Context, link lab.Link) (err error) {
	if err := lab.EnterUserNamespace(); err != nil {
		return labError(err)
	}
	if s.stateDir, err = host.TempDir("lab"); err != nil {
		return failure(err)
	}
	s.link = link
	if s.lab, err = lab.Up(ctx, link); err != nil {
		return labError(err)
	}
	s.client.conn, s.server.conn, s.address = s.lab.Client(), s.lab.Server(), s.lab.PeerAddr()
	s.env.note("lab is up: %s", link)
	return nil
}

// pathOf describes a lab's link as a path.
func pathOf(link lab.Link) (facts.Path, error) {
	p := facts.Path{Rate: link.Up.Rate, RTT: link.Up.Delay + link.Down.Delay, Loss: link.Up.Loss.Rate(), MTU: link.PathMTU()}
	if p.Rate == 0 {
		return p, errors.New("--lab: a rate is needed to plan for the path, such as rate=1gbit,rtt=50ms")
	}
	if p.RTT == 0 {
		return p, errors.New("--lab: a round-trip time is needed to plan for the path, such as rate=1gbit,rtt=50ms")
	}
	return p, p.Check()
}

func (s *tuneSession) openHosts(ctx context.Context) (err error) {
	if s.client.conn, err = s.openLive(ctx, s.opt.host); err != nil {
		return err
	}
	if s.server.conn, err = s.openLive(ctx, s.opt.peer); err != nil {
		return err
	}
	return nil
}

func (s *tuneSession) openLive(ctx context.Context, name string) (host.Conn, error) {
	c, err := s.env.open(ctx, name)
	if _, recorded := c.(*host.Replay); recorded {
		return nil, usagef("%s is a capture: tune needs live hosts; try wirerate inspect or plan", name)
	}
	return c, err
}

// inspect collects both hosts' facts and settles the address and the path.
func (s *tuneSession) inspect(ctx context.Context) error {
	for _, e := range []*end{&s.client, &s.server} {
		f, err := facts.Collect(ctx, e.conn, facts.Options{})
		if err != nil {
			return environment(err)
		}
		e.facts = f
	}
	if s.lab != nil {
		return nil
	}
	var err error
	if s.address, err = s.serverAddress(); err != nil {
		return usage(err)
	}
	if s.opt.path != "auto" {
		s.path, err = facts.ParsePath(s.opt.path)
		return usage(err)
	}
	return s.measurePath(ctx)
}

// environment classifies an error about reaching a host.
func environment(err error) error {
	if errors.Is(err, host.ErrUnreachable) || errors.Is(err, os.ErrPermission) {
		return missing(err)
	}
	return failure(err)
}

// serverAddress is where the client reaches the server.
func (s *tuneSession) serverAddress() (string, error) {
	if s.opt.address != "" {
		return s.opt.address, nil
	}
	if u, err := url.Parse(s.opt.peer); err == nil && u.Scheme == "ssh" && net.ParseIP(u.Hostname()) != nil {
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
	if u, err := url.Parse(s.opt.peer); err == nil && u.Scheme == "ssh" {
		return u.Hostname(), nil
	}
	if first == "" {
		return "", fmt.Errorf("%s has no address that %s could reach; give one with --address", s.server.conn.Name(), s.client.conn.Name())
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

// makePlans plans both ends and notes which changes can be tried now.
func (s *tuneSession) makePlans() error {
	for _, e := range []*end{&s.client, &s.server} {
		machine := plan.MachineOf(e.facts)
		_, machine.Namespace = e.conn.(*host.Agent)
		p, err := plan.Make(s.catalog, plan.Request{Path: s.path, Role: s.opt.role, Machine: machine})
		if err != nil {
			return usage(err)
		}
		e.plan, e.tried = p, map[string]string{}
		e.tuned = trial.Side{Conn: e.conn, System: p.System}
		for _, c := range p.Changes {
			// What is set on an interface or a route can take the link down for
			// a moment: it is planned, but not switched between runs.
			if (c.Kind == catalog.Runtime || c.Kind == catalog.Both) && c.Belongs == "sysctl" && change.Supports(p.System, c.Setting) == nil {
				e.tried[c.Setting] = c.To
				e.tuned.Order = append(e.tuned.Order, c.Setting)
			}
		}
		for _, w := range p.Warnings {
			s.warnings = append(s.warnings, e.conn.Name()+": "+w)
		}
	}
	return nil
}

// begin opens the journals: from here on the hosts are changed.
func (s *tuneSession) begin(ctx context.Context) error {
	for _, e := range []*end{&s.client, &s.server} {
		if len(e.tuned.Order) == 0 {
			continue
		}
		opt := change.Options{StateDir: s.journalDir(e), Now: time.Now(), Within: s.opt.budget + 10*time.Minute}
		c, err := change.Begin(ctx, e.conn, e.tuned.System, e.tuned.Order, opt)
		if err != nil {
			if errors.Is(err, change.ErrPending) {
				return usage(err)
			}
			return environment(err)
		}
		e.tuned.Change = c
	}
	return nil
}

// journalDir keeps the journals of a lab where they end with it.
func (s *tuneSession) journalDir(e *end) string {
	if s.lab == nil {
		return ""
	}
	return s.stateDir + "/" + e.side
}

// restore takes everything back, also after an interruption.
func (s *tuneSession) restore() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	for _, e := range []*end{&s.client, &s.server} {
		c := e.tuned.Change
		if c == nil {
			continue
		}
		e.tuned.Change = nil
		r, err := c.Rollback(ctx)
		errs = append(errs, err)
		for _, f := range r.Foreign {
			s.env.note("%s: %s", e.conn.Name(), f)
		}
	}
	return errors.Join(errs...)
}

func (s *tuneSession) close() {
	if s.lab != nil {
		s.lab.Close()
		os.RemoveAll(s.stateDir)
		return
	}
	for _, e := range []*end{&s.client, &s.server} {
		if e.conn != nil {
			e.conn.Close()
		}
	}
}

// withPlan is the host as the plan would have it.
func (e *end) withPlan() *facts.Facts {
	f := *e.facts
	f.Settings = maps.Clone(e.facts.Settings)
	for name, v := range e.tried {
		set := f.Settings[name]
		set.Value = v
		f.Settings[name] = set
	}
	return &f
}
