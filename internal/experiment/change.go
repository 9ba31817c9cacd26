package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

// makePlans plans hosts, once, and notes which changes can be tried now.
func (s *session) makePlans(ctx context.Context, hosts []*end) error {
	said := hostTexts{hosts: map[string][]string{}}
	for _, e := range hosts {
		if e.plan.Schema != 0 {
			continue
		}
		machine := plan.MachineOf(e.facts)
		_, machine.Namespace = e.conn.(*host.Agent)
		if s.Disk != nil {
			s.Disk.Describe(&machine)
		}
		p, err := change.MakePlan(ctx, e.conn, s.catalog,
			plan.Request{Path: s.path, Role: s.roleOf(e), Machine: machine})
		switch {
		case errors.Is(err, host.ErrUnreachable):
			return classified(err)
		case err != nil:
			return wrong(err)
		}
		e.plan = p
		for _, c := range p.Changes {
			// What is set on an interface or a route can take the link down for
			// a moment: it is planned, but not switched between runs.
			if (c.Kind == catalog.Runtime || c.Kind == catalog.Both) && c.Belongs == "sysctl" &&
				change.Supports(p.System, c.Setting) == nil {
				if change.OnlyRaised(p.System, c.Setting) {
					said.add(e.conn.Name(), c.Setting+" is planned and not tried: "+onlyRaised)
					continue
				}
				e.tried = append(e.tried, assigned{c.Setting, c.To})
			}
		}
		for _, w := range p.Warnings {
			said.add(e.conn.Name(), w)
		}
	}
	s.warnings = append(s.warnings, said.lines()...)
	return nil
}

// hostTexts are texts about hosts; one about several is said once.
type hostTexts struct {
	texts []string
	hosts map[string][]string
}

func (h *hostTexts) add(host, text string) {
	if h.hosts[text] == nil {
		h.texts = append(h.texts, text)
	}
	h.hosts[text] = append(h.hosts[text], host)
}

func (h *hostTexts) lines() (lines []string) {
	for _, text := range h.texts {
		lines = append(lines, strings.Join(h.hosts[text], " and ")+": "+text)
	}
	return lines
}

// onlyRaised says why a setting is no part of an experiment.
const onlyRaised = "its kernel raises it and never lowers it while it runs, so that it cannot be switched between runs"

// prepare opens the journals for everything that the arms change and finds
// out what the kernels accept.
func (s *session) prepare(ctx context.Context, arms []*armValues, within time.Duration) error {
	for _, e := range s.hosts() {
		order := unionOrder(arms, e.side)
		if len(order) == 0 {
			continue
		}
		opt := change.Options{StateDir: s.journalDir(e), Now: time.Now(), Within: within, SkipAbsent: true,
			Passing: s.lab != nil}
		if s.CommandFor != nil && s.lab == nil {
			opt.Command = s.CommandFor(s.nameOf(e))
		}
		c, err := change.Begin(ctx, e.conn, e.tuned.System, order, opt)
		if err != nil {
			if errors.Is(err, change.ErrPending) {
				return wrong(err)
			}
			return classified(err)
		}
		e.tuned.Change = c
		for _, name := range order {
			if why, absent := c.Absent[name]; absent {
				for _, a := range arms {
					if _, ok := a.of(e.side)[name]; ok {
						delete(a.of(e.side), name)
						a.note(trial.Absent, name, "%s: %s is not there and left out: %s", e.conn.Name(), name,
							strings.TrimSpace(why))
					}
				}
				continue
			}
			e.tuned.Order = append(e.tuned.Order, name)
		}
	}
	s.bench = &trial.Bench{Client: s.client.tuned, Server: s.server.tuned, Router: s.router.tuned, Addr: s.address,
		Look: s.watchRun}
	if s.Live != nil {
		s.bench.Measure = func(ctx context.Context) (workload.Run, error) { return s.Live(ctx, s.bench.Spec) }
	}
	s.makeRun = s.bench.Run
	values := make([]trial.Values, len(arms))
	for i, a := range arms {
		values[i] = a.values
	}
	notes, err := s.bench.ProbeArms(ctx, values)
	if err != nil {
		return classified(err)
	}
	for i, a := range arms {
		a.notes = append(a.notes, notes[i]...)
	}
	if err := s.judgeArms(arms); err != nil {
		return err
	}
	for _, e := range s.hosts() {
		keepModules(arms, e)
	}
	return nil
}

// keepModules leaves a module that one arm loads in place under the others: one that
// is in use cannot be unloaded between runs, and unused it changes nothing.
func keepModules(arms []*armValues, e *end) {
	for _, name := range e.tuned.Order {
		for _, a := range arms {
			values := a.of(e.side)
			if _, has := values[name]; !has && values != nil && e.tuned.System == catalog.FreeBSD &&
				strings.HasSuffix(name, "_load") {
				values[name] = "YES"
			}
		}
	}
}

// judgeArms refuses arms of which nothing can be applied.
func (s *session) judgeArms(arms []*armValues) error {
	for _, a := range arms {
		for _, n := range trial.Fold(a.notes, s.Verbose) {
			s.warnings = append(s.warnings, fmt.Sprintf("arm %s: %s", a.name, n))
			s.note("arm %s: %s", a.name, n)
		}
		if a.wanted > 0 && len(a.values.Client)+len(a.values.Server)+len(a.values.Router) == 0 {
			why := ""
			if len(a.notes) > 0 {
				why = ": " + a.notes[len(a.notes)-1].Text
			}
			return withReason(Missing, fmt.Errorf("arm %s cannot be applied: nothing is left of its settings%s",
				a.name, why))
		}
	}
	return nil
}

// journalDir keeps the journals of a lab where they end with it.
func (s *session) journalDir(e *end) string {
	if s.lab == nil {
		return ""
	}
	return s.stateDir + "/" + e.side
}

// restoreLimit is how long one host may take to be restored: a sysctl may wait
// for a lock of its kernel.
const restoreLimit = 5 * time.Minute

// restore takes everything back, also after an interruption.
func (s *session) restore() error {
	var errs []error
	for _, e := range s.hosts() {
		c := e.tuned.Change
		if c == nil {
			continue
		}
		e.tuned.Change = nil
		ctx, cancel := context.WithTimeout(context.Background(), restoreLimit)
		r, err := c.TakeBack(ctx, s.note)
		cancel()
		errs = append(errs, err)
		for _, f := range append(r.Foreign, r.Kept...) {
			s.note("%s: %s", e.conn.Name(), f)
		}
	}
	return errors.Join(errs...)
}
