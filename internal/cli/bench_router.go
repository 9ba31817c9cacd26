package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
)

// endsPrefix begins a part of an arm that sets the ends of a path although the
// arms of the trial set the router between them.
const endsPrefix = "ends:"

// addRouter declares the flags that name a host between the two ends.
func (f *benchFlags) addRouter(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.via, "via", "", "router or firewall between the two: `HOST`, which the arms then set, not the ends")
	cmd.Flags().BoolVar(&f.router, "router", false, "with --lab: put a router between the two, which the arms then set, not the ends")
}

// routed tells whether a host between the ends is what the arms set.
func (f *benchFlags) routed() bool { return f.via != "" || f.router }

// whereRouter checks what goes with a router.
func (f *benchFlags) whereRouter() error {
	switch {
	case !f.routed():
		return nil
	case f.alone():
		return fmt.Errorf("%s runs on one HOST: no router is in its way", f.spec.Workload)
	case f.via != "" && f.lab != "":
		return errors.New("--lab brings its own hosts: --router puts a router among them, --via does not go with it")
	case f.router && f.lab == "":
		return errors.New("--router is for --lab; a router that is there is named with --via HOST")
	case f.via != "" && (f.via == f.peer || f.via == f.host || f.host == "" && f.via == "local"):
		return fmt.Errorf("--via %s is one of the two ends: a router is a third host, which forwards between them", f.via)
	}
	return nil
}

// checkEnds refuses parts for the ends where there is no router: all parts are
// theirs then.
func checkEnds(specs []armSpec, routed bool) error {
	for _, a := range specs {
		if !routed && slices.ContainsFunc(a.parts, func(p armPart) bool { return p.ends }) {
			return fmt.Errorf("arm %q: %s is for trials with a router (--via HOST, or --lab LINK --router): without one an arm sets the ends anyway", a.name, endsPrefix)
		}
	}
	return nil
}

// labTopology is the lab of a trial.
func (f *benchFlags) labTopology(l link.Link) lab.Topology {
	if f.router {
		return lab.Routed(l)
	}
	return lab.Pair(l)
}

// targets are the hosts that a part of an arm sets.
func (s *benchSession) targets(p armPart) []*end {
	all := s.hosts()
	if !s.flags.routed() {
		return all
	}
	return slices.DeleteFunc(all, func(e *end) bool { return (e == &s.router) == p.ends })
}

// toPlan are the hosts that the part plan of an arm sets.
func (s *benchSession) toPlan(specs []armSpec) []*end {
	var out []*end
	for _, a := range specs {
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
func (s *benchSession) roleOf(e *end) string {
	if e == &s.router {
		return "router"
	}
	return s.flags.role
}

// armSide is the first host that the arms set.
func (s *benchSession) armSide() string {
	if s.flags.routed() {
		return s.router.side
	}
	return s.client.side
}

// sides names the hosts in the order of their results.
func (s *benchSession) sides() []string {
	var out []string
	for _, e := range s.hosts() {
		out = append(out, e.side)
	}
	return out
}

// cutEnds takes the mark off a part that is for the ends.
func cutEnds(text string) (string, bool) { return strings.CutPrefix(text, endsPrefix) }
