package facts

import (
	"slices"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/system"
)

// Glance is what a host that runs a BSD is asked again and again: the few
// questions of Collect that tell what goes on, in one batch.
type Glance struct {
	system  system.System
	readers []reader
}

// NewGlance returns the questions for a system; nil for one that is not asked so.
func NewGlance(s system.System) *Glance {
	g := &Glance{system: s}
	parts := []string{"interface counters", "counters", "mbufs", "ticks", "flows", "listeners"}
	for _, c := range collectors() {
		if !slices.Contains(c.on, s) || !slices.Contains(parts, c.part) || s == system.Linux {
			continue
		}
		r := reader{c.part, c.op, c.parse}
		if c.part == "interface counters" { // with bytes, in FreeBSD's beside packets
			if s == system.FreeBSD {
				r.op = host.Command("netstat", "-ibdnW")
			} else {
				g.readers = append(g.readers, reader{"interface bytes", host.Command("netstat", "-ibn"), c.parse})
			}
		}
		g.readers = append(g.readers, r)
	}
	if len(g.readers) == 0 {
		return nil
	}
	return g
}

// Ops are the questions.
func (g *Glance) Ops() []host.Op {
	ops := make([]host.Op, len(g.readers))
	for i, r := range g.readers {
		ops[i] = r.op
	}
	return ops
}

// Facts reads the answers; what was not answered is in Parts.
func (g *Glance) Facts(answers []host.Answer) *Facts {
	f := &Facts{System: g.system, Settings: map[string]Setting{}, Counters: map[string]Counter{}, Parts: map[string]Part{},
		texts: map[string][]string{}, used: map[string]map[int]bool{}}
	for i, r := range g.readers[:min(len(g.readers), len(answers))] {
		f.take(r, answers[i])
	}
	f.checkNames()
	return f
}

// Ticks are the times that a processor spent since it began, in /proc/stat's
// order; nil where they are not known.
func (p *Processor) Ticks() []uint64 { return p.ticks }
