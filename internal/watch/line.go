package watch

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/units"
)

// Severity of a limit: what loses or stops something is a warning; that a
// program, the path or slow start limits is worth knowing.
func (v Verdict) Severity() diagnose.Severity {
	switch v.Limit {
	case NoLimit, string(flow.Program), string(flow.SlowStart), string(flow.Path), string(flow.Pacing),
		string(flow.Unknown):
		return diagnose.Info
	}
	return diagnose.Warning
}

// Line is the state in one line of text.
func (s State) Line() string {
	if s.Gone != "" {
		return strings.Join(append([]string{"not reached: " + s.Gone}, s.beside()...), "; ")
	}
	parts := []string{s.Verdict.Text(), fmt.Sprintf("sent %s, received %s", diagnose.RateWords(s.Traffic.Sent),
		diagnose.RateWords(s.Traffic.Received))}
	if s.Ceiling != nil {
		parts = append(parts, fmt.Sprintf("of %s (%s)", diagnose.RateWords(s.Ceiling.Value), s.Ceiling.Resource))
	}
	if t := s.Traffic; t.RTT > 0 {
		parts = append(parts, fmt.Sprintf("RTT %s ms (min %s)", units.Digits(t.RTT, 4), units.Digits(t.MinRTT, 4)))
	}
	if s.Traffic.Retransmits > 0 {
		parts = append(parts, fmt.Sprintf("%s%% retransmitted", units.Digits(100*s.Traffic.Loss, 3)))
	}
	for _, p := range s.Problems {
		parts = append(parts, p.Severity+" "+p.Problem+": "+p.Subject)
	}
	if why := s.Missing["connections"]; why != "" {
		parts = append(parts, "connections are not known: "+why)
	}
	return strings.Join(append(parts, s.beside()...), "; ")
}

// beside is what probes and switches told.
func (s State) beside() []string {
	var parts []string
	for _, p := range s.Probes {
		parts = append(parts, p.Text())
	}
	for _, p := range s.Switch {
		parts = append(parts, "switch "+p.Text())
	}
	return parts
}
