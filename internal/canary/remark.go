package canary

import (
	"fmt"
	"time"
)

func (s *State) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// remark notes what weakens a design before it begins.
func (s *State) remark(strange int) {
	s.remarkHosts()
	if strange > 0 {
		s.note("%d series are of hosts that are not in the inventory; they are left out", strange)
	}
	if len(s.Design.Blocks) == 0 {
		s.note("without --block a harm on one kind of hosts only is not looked for; name what they differ " +
			"in, such as hardware,role")
	}
	if s.Design.Boot == "" && s.Label != SketchLabel {
		s.note("without --boot hosts that are started anew are not seen")
	}
	if s.Design.window()%(24*time.Hour) != 0 {
		s.note("a window of %s is not a whole number of days: other hours are not covered; --window 24h covers them",
			s.Design.window())
	}
	last := s.Steps[len(s.Steps)-1]
	if last.Information == 0 {
		s.note("after the last step no host is unchanged, so a decay that comes later is not seen; end the steps at 95%% " +
			"to keep some to compare with")
	}
	for i, step := range s.Steps {
		if !step.Decides {
			continue
		}
		for _, g := range s.Design.Guards {
			if half := g.sees(0, step.Information, s.guardLevel(i), s.Design.Power); half == nil ||
				*half > s.Design.GuardMargin {
				s.note("guard %s scatters too much to show that it is not worse by %g%%: without a longer window or more hosts "+
					"nothing is likely to be promoted", g.Query, 100*s.Design.GuardMargin)
			}
		}
	}
}

// remarkHosts notes the hosts of which something is not known.
func (s *State) remarkHosts() {
	count := func(lacks func(Host) bool) (n int) {
		for _, h := range s.Hosts {
			if lacks(h) {
				n++
			}
		}
		return n
	}
	if n := count(func(h Host) bool { return !h.compared() }); n > 0 {
		s.note("%d hosts have no history of the metric: they are changed last and compared with nothing", n)
	}
	for j, g := range s.Design.Guards {
		if n := count(func(h Host) bool { return h.Before[j+1] == nil }); n > 0 {
			s.note("%d hosts have no history of the guard %s: it does not guard them", n, g.Query)
		}
	}
	for k, key := range s.Design.Blocks {
		if n := count(func(h Host) bool { return h.Facts[k] == "" }); n > 0 {
			s.note("%d hosts have no value of %s: they are taken for one kind", n, key)
		}
	}
}
