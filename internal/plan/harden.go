package plan

import (
	"cmp"
	"slices"

	"github.com/wirerate/wirerate/internal/catalog"
)

// harden adds the settings whose purpose is security.
func (p *Plan) harden(c *catalog.Catalog, m Machine) {
	planned := map[string]bool{}
	for _, ch := range p.Changes {
		planned[ch.Setting] = true
	}
	for _, h := range catalog.Hardenings(p.System) {
		rec, ok := c.Lookup(p.System, h.Setting)
		if !ok || rec.StateIn(p.Release) != catalog.Present || planned[h.Setting] {
			continue
		}
		def, _ := rec.DefaultIn(p.Release)
		running, has := m.Running[h.Setting]
		running = normal(running)
		from := cmp.Or(running, knownDefault(def))
		inst := instance{name: h.Setting, running: running, has: has}
		switch why := p.obstacle(rec, inst, m); {
		case why != "":
			p.keep(h.Setting, running, "hardening would be "+h.Value+", but "+why)
			continue
		case from == h.Value || h.Value == "1" && stricter(from):
			p.keep(h.Setting, from, "already as hardening has it")
			continue
		}
		undo := rec.Undo
		if undo == "" {
			undo = "restore"
		}
		cost := h.Cost
		if h.Source != "" {
			cost += " (" + h.Source + ")"
		}
		p.Changes = append(p.Changes, Change{Setting: h.Setting, From: running, To: h.Value,
			Default: knownDefault(def), Kind: rec.Kind, Belongs: rec.Belongs[0],
			Does: rec.Does, Because: "Security. Cost: " + cost + ". Asked for with --harden.",
			Evidence: bestGrade(rec.Evidence),
			Risk:     rec.Risk, Undo: undo, Sources: rec.Sources})
	}
}

// refuse lists what a guide calls hardening and the plan does not set.
func (p *Plan) refuse(c *catalog.Catalog, m Machine) {
	for _, r := range catalog.RefusedHardenings(p.System) {
		rec, ok := c.Lookup(p.System, r.Setting)
		if !ok || rec.StateIn(p.Release) != catalog.Present ||
			slices.ContainsFunc(p.Changes, func(ch Change) bool { return ch.Setting == r.Setting }) {
			continue
		}
		def, _ := rec.DefaultIn(p.Release)
		p.Kept = slices.DeleteFunc(p.Kept, func(k Kept) bool { return k.Setting == r.Setting })
		p.Kept = append(p.Kept, Kept{Setting: r.Setting, Value: cmp.Or(normal(m.Running[r.Setting]), knownDefault(def)),
			Refused: true, Because: "a guide's hardening has " + r.Value + ", refused: " + r.Because})
	}
}

// stricter tells whether a level is above the one that hardening asks for.
func stricter(level string) bool {
	v, ok := number(level)
	return ok && v > 1
}

// Hardening returns what --harden sets a setting to, and its cost.
func Hardening(system catalog.System, setting string) (value, cost string, ok bool) {
	for _, h := range catalog.Hardenings(system) {
		if h.Setting == setting {
			return h.Value, h.Cost, true
		}
	}
	return "", "", false
}
