package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/stats"
)

// unproved are the settings that are planned for a host and that the experiment
// does not bear out, with the reasons. One is borne out that was part of a plan
// that helps, and whose own share says so where shares were measured; what it
// needs stays with it. Where the plan helps and no share by itself is clear,
// what was tried stays as it was measured, but for what is shown to do nothing or
// harm.
func (s *session) unproved(r Result, e *end) map[string]string {
	shares := map[string]Share{}
	for _, share := range r.Shares {
		shares[share.Setting] = share
	}
	why := map[string]string{}
	for _, ch := range e.plan.Changes {
		share, shared := shares[ch.Setting]
		tried := slices.ContainsFunc(e.tried, func(a assigned) bool { return a.name == ch.Setting })
		switch {
		case !tried && ch.Kind == catalog.Boot:
			why[ch.Setting] = "it takes effect at the next boot, so that it was not tried"
		case !tried:
			why[ch.Setting] = "it cannot be switched between runs, so that it was not tried"
		case r.Verdict != stats.Helps:
			why[ch.Setting] = "the plan as a whole was not shown to help: " + r.Verdict.Words()
		case shared && !share.Kept:
			why[ch.Setting] = fmt.Sprintf("%s (×%.3f, %.3f to %.3f)", share.Because, share.Ratio, share.Low, share.High)
		}
	}
	s.keepNeeds(e.plan, why)
	return why
}

// keeps is unproved as a choice of settings.
func (s *session) keeps(r Result, e *end) plan.Keep {
	why := s.unproved(r, e)
	return func(setting string) (bool, string) {
		because, dropped := why[setting]
		return !dropped, because
	}
}

// keepNeeds takes out of the reasons against settings those of what a kept one
// needs.
func (s *session) keepNeeds(p plan.Plan, why map[string]string) {
	var open []string
	for _, ch := range p.Changes {
		if why[ch.Setting] == "" {
			open = append(open, ch.Setting)
		}
	}
	for len(open) > 0 {
		setting := open[0]
		open = open[1:]
		for _, need := range p.Before(s.catalog, setting) {
			if why[need] != "" {
				delete(why, need)
				open = append(open, need)
			}
		}
	}
}

// nextCommands are what puts the proved plans in place, one for each host that
// has something to set. They name the plan in the folder of the results.
func (s *session) nextCommands(r Result) []string {
	if s.lab != nil || s.Out == "" || s.CommandFor == nil || r.Verdict != stats.Helps {
		return nil
	}
	var commands []string
	for _, e := range s.hosts() {
		if len(e.plan.Only(s.keeps(r, e)).Changes) > 0 {
			command := s.CommandFor(s.nameOf(e))
			commands = append(commands, command("apply", strings.TrimSuffix(s.Out, "/")+"/plan.json",
				"--confirm-within", "60s"))
		}
	}
	return commands
}

// nameOf is a host as it was given.
func (s *session) nameOf(e *end) string {
	return map[string]string{"client": s.Host, "server": s.Peer, "router": s.Via}[e.side]
}
