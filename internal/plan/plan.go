// Package plan computes what a path, a role and a machine need from the
// catalog's formulas: each change with its reason, its numbers and its way
// back. The same request gives the same plan, byte for byte.
package plan

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/netpath"
)

// Schema is the version of the plan's JSON.
const Schema = 2

// Request asks for a plan.
type Request struct {
	Path    netpath.Path
	Role    string
	Load    Load // zero fields take the role's assumptions
	Machine Machine
	Harden  bool // add the settings whose purpose is security
}

// Plan is the proposed changes for one host.
type Plan struct {
	Schema  int             `json:"schema"`
	Host    string          `json:"host"`
	System  catalog.System  `json:"os"`
	Release catalog.Version `json:"release"`
	Role    string          `json:"role"`
	Path    string          `json:"path"`
	Inputs  catalog.Inputs  `json:"inputs"`
	Changes []Change        `json:"changes"`
	// Kept are settings that were considered and stay as they are.
	Kept   []Kept `json:"kept"`
	Memory Budget `json:"memory"`
	// Steps are what no setting does: a kernel to build, a link to aggregate.
	Steps []Step `json:"steps"`
	// Aggregates are links that are to be used together, or by another hash.
	Aggregates []Aggregate `json:"aggregates,omitempty"`
	// Bindings are the processors of the queues of a machine that is only
	// described.
	Bindings []Binding `json:"bindings,omitempty"`
	Warnings []string  `json:"warnings"`
}

// Change is one proposed change.
type Change struct {
	Setting string `json:"setting"`
	From    string `json:"running"` // "" when the running value is not known
	To      string `json:"value"`
	Default string `json:"default"` // of this release, "" when not known
	// DefaultNote says how the kernel computes a default that is not known.
	DefaultNote string `json:"default_note,omitempty"`
	// ByMemory marks a value that is right for this machine's memory and below
	// the default of machines with more: lint, which cannot know, is told so.
	ByMemory bool          `json:"by_memory,omitempty"`
	Kind     catalog.Kind  `json:"kind"`
	Belongs  string        `json:"belongs"`
	Does     string        `json:"does"`
	Because  string        `json:"because"`
	Formula  string        `json:"formula"`
	Working  string        `json:"working"`
	Capped   string        `json:"capped,omitempty"`
	Evidence catalog.Grade `json:"evidence"`
	Risk     string        `json:"risk,omitempty"`
	Undo     string        `json:"undo"`
	Sources  []string      `json:"sources"`
}

// Constant tells whether the formula asks nothing of the path or the machine, so
// that it says no more than the value.
func (c Change) Constant() bool { return c.Formula == "" || c.Formula == c.Working }

// EvidenceWords says how well it is known that the change matters.
func (c Change) EvidenceWords() string {
	if c.Evidence == catalog.Follows {
		return "not measured, it follows from what the source says"
	}
	return string(c.Evidence)
}

// Kept is a setting that stays as it is, and why.
type Kept struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Because string `json:"because"`
	// Missing are the inputs that are not known and without which nothing was
	// decided; Refused, that guides set the setting and a plan never does.
	Missing []string `json:"missing,omitempty"`
	Refused bool     `json:"refused,omitempty"`
	// Wanted is what the formulas propose and what changes nothing on this path.
	Wanted string `json:"wanted,omitempty"`
}

// Make computes the plan.
func Make(c *catalog.Catalog, r Request) (Plan, error) {
	if err := r.Path.Check(); err != nil {
		return Plan{}, fmt.Errorf("path: %w", err)
	}
	load, ok := roleLoads()[r.Role]
	if !ok {
		return Plan{}, fmt.Errorf("role %q: one of %s is expected", r.Role, strings.Join(catalog.Roles(), ", "))
	}
	r.Load = r.Load.or(load).or(Load{PacketRate: packetRate(r.Path)})
	release, warnings := knownRelease(r.Machine)
	r.Machine.Release = release
	r.Machine = r.Machine.complete()
	r.Load.States = r.states()
	in := r.inputs()
	p := Plan{Schema: Schema, Host: r.Machine.Host, System: r.Machine.System, Release: release,
		Role: r.Role, Path: r.Path.String(), Inputs: in, Changes: []Change{}, Kept: []Kept{}, Steps: []Step{},
		Warnings: append([]string{}, slices.Concat(warnings, r.Machine.Assumed, contradictions(r))...)}
	outlet := in
	if len(r.Machine.Interfaces) > 0 {
		outlet = r.Machine.Interfaces[0].with(in)
	}
	for _, rec := range c.All(r.Machine.System) {
		rec = rec.In(release)
		if len(rec.Formulas) == 0 || rec.StateIn(release) != catalog.Present {
			continue
		}
		for _, inst := range instances(rec, r.Machine, outlet) {
			if err := p.consider(rec, inst, r); err != nil {
				return Plan{}, err
			}
		}
	}
	p.spread(r)
	p.describedInterrupts(r)
	if r.Harden {
		p.harden(c, r.Machine)
		p.refuse(c, r.Machine)
	}
	p.modules(c, r.Machine)
	p.order(c)
	p.unfit(c, r.Machine.Unfit)
	p.budget(r)
	p.procedures(r)
	p.withoutUnsound() // procedures plan some too
	return p, nil
}

// or fills the zero fields of l from other.
func (l Load) or(other Load) Load {
	pick := func(a, b float64) float64 {
		if a > 0 {
			return a
		}
		return b
	}
	return Load{pick(l.Connections, other.Connections), pick(l.ConnRate, other.ConnRate),
		pick(l.PacketRate, other.PacketRate), pick(l.States, other.States), pick(l.Hosts, other.Hosts)}
}

// newerBranch compares the branches of two releases: 6.18.44 is of branch 6.18.
func newerBranch(v, newest catalog.Version) bool {
	parts := strings.SplitN(string(v), ".", 3)
	return catalog.Version(strings.Join(parts[:min(2, len(parts))], ".")).Compare(newest) > 0
}

// consider decides about one setting.
func (p *Plan) consider(rec *catalog.Record, inst instance, r Request) error {
	def := cmp.Or(defaultOf(rec, r.Machine.Release, inst.inputs), driverDefault(rec, inst, r.Machine))
	earlier, atMost := boundedDefault(rec, r.Machine.Release)
	if inst.running != "" || def != "" {
		earlier, atMost = "", ""
	}
	if reference, ok := number(standard(inst.running, cmp.Or(def, earlier))); ok {
		inst.inputs = maps.Clone(inst.inputs)
		inst.inputs["standard"] = reference
	}
	proposal, missing, err := rec.Propose(inst.inputs)
	if err != nil {
		return err
	}
	if proposal == nil {
		if len(missing) > 0 {
			missing = slices.Compact(missing)
			p.Kept = append(p.Kept, Kept{Setting: inst.name, Value: inst.running, Missing: missing,
				Because: "not decided: " + strings.Join(missing, ", ") + " not known"})
			return nil
		}
		return p.enough(rec, inst, def)
	}
	to := proposal.Result.Text()
	if why := p.obstacle(rec, inst, r.Machine); why != "" {
		p.keep(inst.name, inst.running, "would be "+to+", but "+why)
		return nil
	}
	from := inst.running
	if from == "" {
		from = def
	}
	wanted := to
	to = notLower(rec, cmp.Or(from, atMost), to)
	if to == from && wanted != to {
		p.keep(inst.name, from, "would be "+wanted+", which is lower, and a plan takes nothing away")
		return nil
	}
	if to == from || rec.Type == catalog.TypeBool && SameSwitch(from, to) {
		p.keep(inst.name, from, "already what the path needs")
		return nil
	}
	if why := p.boundByLoss(inst.name, inst.inputs, r.Path); why != "" {
		p.Kept = append(p.Kept, Kept{Setting: inst.name, Value: from, Because: why, Wanted: to})
		return nil
	}
	ch := change(rec, proposal, inst.running, to, def)
	ch.Setting, ch.DefaultNote = inst.name, defaultNote(rec, r.Machine.Release, def)
	ch.ByMemory = smallMemory(rec, r, to)
	p.Changes = append(p.Changes, ch)
	return nil
}

// enough keeps a setting whose formulas for the role ask for nothing, and
// shows with which numbers.
func (p *Plan) enough(rec *catalog.Record, inst instance, def string) error {
	var conditions []string
	standard := false // whether the first one compares with the default
	for _, f := range rec.Formulas {
		if len(f.Roles) > 0 && !slices.Contains(f.Roles, p.Role) {
			continue
		}
		res, err := rec.Eval(f.When, inst.inputs)
		if err != nil {
			return fmt.Errorf("%s: %w", rec.Name, err)
		}
		text := res.Working
		if res.Working != f.When {
			text += " (" + f.When + ")"
		}
		standard = standard || len(conditions) == 0 && strings.HasPrefix(f.When, "standard == ")
		conditions = append(conditions, text)
	}
	if len(conditions) > 0 {
		because := "no need, as this does not hold: " + strings.Join(conditions, "; ")
		if standard {
			because = "already what the path needs"
		}
		p.keep(inst.name, cmp.Or(inst.running, def), because)
	}
	return nil
}

// obstacle says why a setting cannot be changed on the machine.
func (p *Plan) obstacle(rec *catalog.Record, inst instance, m Machine) string {
	switch {
	case m.Denied[inst.name] != "":
		return m.Denied[inst.name]
	case m.Running != nil && p.System == catalog.FreeBSD && slices.Contains(rec.Needs, "pf_load") && !m.filters():
		return "pf is not loaded on this host, which may have another firewall or none"
	case m.Running != nil && !inst.has && rec.Kind != catalog.Boot && !strings.HasPrefix(rec.Name, "route:"):
		return "this host does not have it"
	case m.Running == nil && p.System == catalog.Linux && lacksHere(rec, inst):
		return fmt.Sprintf("the driver %v has no such setting", inst.inputs["driver"])
	case m.NoDefaultRoute && strings.HasPrefix(rec.Name, "route:"):
		return "no default route is known"
	case m.Namespace && rec.Scope == catalog.ScopeHost:
		return "it governs the whole machine, not this namespace"
	case m.Namespace && slices.Contains([]catalog.Scope{catalog.ScopeUserns, catalog.ScopeIPC, catalog.ScopeUTS}, rec.Scope):
		return "it belongs to a namespace of another kind"
	}
	return ""
}

// SameSwitch compares the ways to write yes and no.
func SameSwitch(a, b string) bool {
	words := map[string]string{"on": "1", "yes": "1", "true": "1", "enabled": "1", "off": "0", "no": "0", "false": "0",
		"disabled": "0", "1": "1", "0": "0"}
	a, b = words[strings.ToLower(a)], words[strings.ToLower(b)]
	return a != "" && a == b
}

func (p *Plan) keep(name, value, because string) {
	p.Kept = append(p.Kept, Kept{Setting: name, Value: value, Because: because})
}

func change(rec *catalog.Record, proposal *catalog.Proposal, from, to, def string) Change {
	undo := rec.Undo
	if undo == "" {
		undo = "restore"
		if rec.Kind == catalog.Boot {
			undo = "reboot"
		}
	}
	return Change{
		Setting: rec.Name, From: from, To: to, Default: def, Kind: rec.Kind, Belongs: rec.Belongs[0], Does: rec.Does,
		Because: proposal.Formula.Because, Formula: proposal.Formula.Value, Working: proposal.Result.Working,
		Evidence: bestGrade(rec.Evidence), Risk: rec.Risk, Undo: undo, Sources: rec.Sources,
	}
}

// bestGrade is the strongest grade of the evidence.
func bestGrade(evidence []catalog.Evidence) catalog.Grade {
	if len(evidence) == 0 {
		return catalog.Follows
	}
	for _, g := range []catalog.Grade{catalog.Proven, catalog.Published, catalog.Documented} {
		if slices.ContainsFunc(evidence, func(e catalog.Evidence) bool { return e.Grade == g }) {
			return g
		}
	}
	return catalog.Claimed
}

// standard is the value that a proposal is measured against: what runs, else
// the default; of a triple its maximum.
func standard(running, def string) string {
	v := running
	if v == "" {
		v = def
	}
	if words := strings.Fields(v); len(words) == 3 {
		return words[2]
	}
	return v
}

func number(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// defaultOf is a setting's default in a release; a computed one is computed
// where the machine is known well enough. Empty when it is not known.
func defaultOf(rec *catalog.Record, v catalog.Version, in catalog.Inputs) string {
	def, _ := rec.DefaultIn(v)
	if def.Value == "computed" && def.Formula != "" {
		if res, err := rec.Eval(def.Formula, in); err == nil {
			return res.Text()
		}
	}
	return knownDefault(def)
}

// boundedDefault is, for a release whose default is only known within bounds,
// the last default that is known and the highest that it may be.
func boundedDefault(rec *catalog.Record, v catalog.Version) (earlier, atMost string) {
	def, _ := rec.DefaultIn(v)
	if def.AtMost == "" {
		return "", ""
	}
	for _, d := range rec.Default {
		if known := knownDefault(d); known != "" && d.Since.Compare(v) <= 0 {
			earlier = known
		}
	}
	return earlier, def.AtMost
}

// largeMemory is that of the machine whose defaults lint assumes when it knows
// none.
const largeMemory = 16 << 30

// smallMemory tells whether a value is below the default that a machine with
// more memory has.
func smallMemory(rec *catalog.Record, r Request, to string) bool {
	def, _ := rec.DefaultIn(r.Machine.Release)
	if r.Machine.Memory == 0 || r.Machine.Memory >= largeMemory || !strings.Contains(def.Formula, "memory") {
		return false
	}
	large, err := rec.Eval(def.Formula, catalog.Inputs{"memory": largeMemory, "page": 4096.0, "cores": 8.0,
		"version": string(r.Machine.Release)})
	if err != nil {
		return false
	}
	most, ok := number(standard(large.Text(), ""))
	value, is := number(standard(to, ""))
	return ok && is && value < most
}

// defaultNote is how the kernel comes to a default that def leaves open.
func defaultNote(rec *catalog.Record, v catalog.Version, def string) string {
	if d, ok := rec.DefaultIn(v); ok && def == "" {
		return d.Note
	}
	return ""
}

func knownDefault(d catalog.Default) string {
	if d.Value == "unknown" || d.Value == "computed" {
		return ""
	}
	return d.Value
}

// normal writes a kernel's value with single spaces.
func normal(s string) string { return strings.Join(strings.Fields(s), " ") }

// notLower keeps whatever is already larger than proposed in a quantity: a
// plan raises limits, it does not take away what somebody provided.
func notLower(rec *catalog.Record, from, to string) string {
	if !isQuantity(rec) {
		return to
	}
	have, want := strings.Fields(from), strings.Fields(to)
	if len(have) != len(want) {
		return to
	}
	for i := range want {
		h, errH := strconv.ParseInt(have[i], 10, 64)
		w, errW := strconv.ParseInt(want[i], 10, 64)
		if errH == nil && errW == nil && h > w {
			want[i] = have[i]
		}
	}
	return strings.Join(want, " ")
}

// quantities are the units of what a plan only ever raises.
var quantities = []string{"bytes", "pages", "packets", "entries", "connections", "count", "frames", "buckets",
	"descriptors", "states", "clusters", "sockets", "files", "fragments", "requests"}

func isQuantity(rec *catalog.Record) bool {
	switch rec.Type {
	case catalog.TypeTriple:
		return true
	case catalog.TypeInt, catalog.TypeUint:
		return slices.Contains(quantities, rec.Unit) || strings.HasSuffix(rec.Name, "hashsize")
	}
	return false
}

// order puts what others need before them, ceilings before the values below
// them, and otherwise keeps the order of names.
func (p *Plan) order(c *catalog.Catalog) {
	rank := map[string]int{}
	for i, ch := range p.Changes {
		rank[ch.Setting] = i
	}
	var sorted []Change
	state := map[string]int{} // 1 being placed, 2 placed
	var place func(ch Change)
	place = func(ch Change) {
		if state[ch.Setting] != 0 {
			return
		}
		state[ch.Setting] = 1
		for _, need := range p.Before(c, ch.Setting) {
			if i, ok := rank[need]; ok {
				place(p.Changes[i])
			}
		}
		state[ch.Setting] = 2
		sorted = append(sorted, ch)
	}
	for _, ch := range p.Changes {
		place(ch)
	}
	if sorted != nil {
		p.Changes = sorted
	}
}

// Before lists what must be written before a setting: what its record needs,
// and what makes the kernel rewrite it.
func (p *Plan) Before(c *catalog.Catalog, setting string) []string {
	var names []string
	base, _, _ := strings.Cut(setting, "@")
	if rec, ok := c.Lookup(p.System, base); ok {
		for _, need := range rec.Needs {
			name, _, _ := strings.Cut(need, "=")
			names = append(names, name)
		}
	}
	for _, ch := range p.Changes {
		for _, pattern := range Rewrites(p.System, ch.Setting) {
			if ok, _ := path.Match(pattern, setting); ok && ch.Setting != setting {
				names = append(names, ch.Setting)
			}
		}
		if isModule(ch.Setting) || strings.HasSuffix(ch.Setting, "_load") {
			if strings.HasPrefix(ch.Because, setting+" ") {
				names = append(names, ch.Setting)
			}
		}
	}
	return names
}
