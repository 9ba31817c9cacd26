// Package catalog is what wirerate knows about the settings of FreeBSD, OpenBSD
// and Linux: what each one does, in which versions it exists, its defaults,
// what it should be on a given path, and the sources that prove it.
//
// The knowledge is data: YAML files under catalog/, checked by this package's
// tests and embedded as they are.
package catalog

import "github.com/wirerate/wirerate/internal/system"

// System is one of the operating systems that the catalog describes.
type System = system.System

// The systems.
const (
	Linux   = system.Linux
	FreeBSD = system.FreeBSD
	OpenBSD = system.OpenBSD
)

// Systems lists every system, in the order in which reports name them.
func Systems() []System { return system.All() }

// Kind says when a setting takes effect.
type Kind string

// The kinds of a setting.
const (
	Runtime  Kind = "runtime"   // written on the running system
	Boot     Kind = "boot"      // read once, at boot or when a module loads
	Both     Kind = "both"      // a boot-time tunable that can be written later too
	ReadOnly Kind = "read-only" // reported by the kernel, never written
	Unknown  Kind = "unknown"   // not established
)

// Scope says what one value of a setting governs.
type Scope string

// The scopes of a setting.
const (
	ScopeHost      Scope = "host"      // the whole machine
	ScopeNetns     Scope = "netns"     // one Linux network namespace
	ScopeUserns    Scope = "userns"    // one Linux user namespace
	ScopeIPC       Scope = "ipcns"     // one Linux IPC namespace
	ScopeUTS       Scope = "utsns"     // one Linux UTS namespace
	ScopeVnet      Scope = "vnet"      // one FreeBSD virtual network stack
	ScopeInterface Scope = "interface" // one network interface
	ScopeRoute     Scope = "route"     // one route
	ScopeUnknown   Scope = "unknown"
)

// Type is the form of a setting's value.
type Type string

// The types of a value. A triple is "min default max"; a list has a free
// number of words; opaque values are not judged.
const (
	TypeBool    Type = "bool"
	TypeInt     Type = "int"
	TypeUint    Type = "uint"
	TypeTriple  Type = "triple"
	TypeList    Type = "list"
	TypeEnum    Type = "enum"
	TypeBitmask Type = "bitmask"
	TypeString  Type = "string"
	TypeOpaque  Type = "opaque"
)

// Grade says how well it is known that a setting matters.
type Grade string

// The grades of evidence, strongest first; refuted stands apart.
const (
	Proven     Grade = "proven"     // a trial on this host or lab found an effect
	Published  Grade = "published"  // a controlled measurement with its conditions
	Documented Grade = "documented" // the system's authors say so
	Claimed    Grade = "claimed"    // a guide says so, nobody measured
	Refuted    Grade = "refuted"    // measured to do nothing or harm, or gone
	// Follows is the grade of a proposal whose record has no evidence: nobody
	// measured or claimed it, it follows from what the sources say.
	Follows Grade = "follows"
)

// Record is everything known about one setting of one system.
type Record struct {
	// Name is the canonical name: a sysctl or tunable as the system spells
	// it, or a form such as ethtool:ring/rx, route:initcwnd, ifconfig:tso. A
	// "*" stands for one component (an interface, a unit number).
	Name    string   `yaml:"name" json:"name"`
	System  System   `yaml:"system,omitempty" json:"os"`
	Aliases []string `yaml:"aliases,omitempty" json:"aliases,omitempty"`

	Kind  Kind  `yaml:"kind" json:"kind"`
	Scope Scope `yaml:"scope,omitempty" json:"scope,omitempty"`
	Type  Type  `yaml:"type" json:"type"`
	// Unit of the value as written: bytes, pages, packets, ms, ticks, ...
	Unit string `yaml:"unit,omitempty" json:"unit,omitempty"`
	// Range is what the kernel accepts (inclusive).
	Range *Range `yaml:"range,omitempty" json:"range,omitempty"`
	// Values are the meanings of an enum's or bitmask's values.
	Values []Value `yaml:"values,omitempty" json:"values,omitempty"`

	// Since is the first version that has the setting (empty: older than the
	// oldest version described), Removed the first one that lacks it again.
	Since   Version `yaml:"since,omitempty" json:"since,omitempty"`
	Removed Version `yaml:"removed,omitempty" json:"removed,omitempty"`
	// Backported are the long-term releases older than Since that got the setting
	// in one of their later updates.
	Backported []Version `yaml:"backported,omitempty" json:"backported,omitempty"`
	// Combine says how the values of all and of an interface make one, of settings
	// below conf of Linux: and, or, max, or own (that of all is not looked at).
	Combine string `yaml:"combine,omitempty" json:"combine,omitempty"`
	// RenamedTo is the name that took over, with Removed (or, while both
	// names work, without it).
	RenamedTo string `yaml:"renamed-to,omitempty" json:"renamed_to,omitempty"`
	// Became says what became of a removed setting, in one sentence.
	Became string `yaml:"became,omitempty" json:"became,omitempty"`
	// Lifetimes are the spans of versions that have the setting, oldest first,
	// where it was removed and came back, or its kind changed; Since and Removed
	// are then empty, and Kind is that of the last one.
	Lifetimes []Lifetime `yaml:"lifetimes,omitempty" json:"lifetimes,omitempty"`
	// NoEffectSince is the first version that still accepts the setting but
	// ignores it.
	NoEffectSince Version `yaml:"no-effect-since,omitempty" json:"no_effect_since,omitempty"`

	Default Defaults `yaml:"default,omitempty" json:"default,omitempty"`
	// Belongs names the places where the setting is written: sysctl, loader,
	// rc, hostname.if, ethtool, link-file, network-file, route, link, module,
	// sysfs, pf, ifconfig, kernel-config, zfs-property, build, interface-file, tuned, nft.
	Belongs []string `yaml:"belongs" json:"belongs"`
	// Drivers limits a setting to these NIC drivers.
	Drivers []string `yaml:"drivers,omitempty" json:"drivers,omitempty"`
	// Needs lists what must be set or loaded first, Conflicts what must not
	// be set beside it (by name, or name=value).
	Needs     []string `yaml:"needs,omitempty" json:"needs,omitempty"`
	Conflicts []string `yaml:"conflicts,omitempty" json:"conflicts,omitempty"`
	See       []string `yaml:"see,omitempty" json:"see,omitempty"`

	// Does says in one or two plain sentences what the setting really does.
	Does string `yaml:"does" json:"does"`
	// Risk is what can go wrong, empty when nothing is known to.
	Risk string `yaml:"risk,omitempty" json:"risk,omitempty"`
	// Undo is how a change is taken back: restore, reboot or none. Empty
	// means restore for runtime settings and reboot for boot settings.
	Undo string `yaml:"undo,omitempty" json:"undo,omitempty"`
	// Hardening marks a setting whose purpose is security.
	Hardening bool `yaml:"hardening,omitempty" json:"hardening,omitempty"`

	Judge    []Judgement `yaml:"judge,omitempty" json:"judge,omitempty"`
	Formulas []Formula   `yaml:"formulas,omitempty" json:"formulas,omitempty"`
	Evidence []Evidence  `yaml:"evidence,omitempty" json:"evidence,omitempty"`
	// Sources prove the record: repository and path at a commit or release,
	// manual page with its release, RFC with its section.
	Sources []string `yaml:"sources" json:"sources"`

	// Checked are the releases whose running kernels were seen to agree with the
	// record; they are not of its YAML.
	Checked []Version `yaml:"-" json:"checked,omitempty"`

	expressions *compiler // of the catalog, nil without one
}

// Lifetime is a span of versions that have a setting: from Since (empty: older
// than the oldest version described) until Removed, the first that lacks it
// (empty: it is there still).
type Lifetime struct {
	Since   Version `yaml:"since,omitempty" json:"since,omitempty"`
	Removed Version `yaml:"removed,omitempty" json:"removed,omitempty"`
	Kind    Kind    `yaml:"kind" json:"kind"`
	Note    string  `yaml:"note,omitempty" json:"note,omitempty"`
}

// Range is an inclusive interval of integers; a nil end is open.
type Range struct {
	Min *int64 `yaml:"min,omitempty" json:"min,omitempty"`
	Max *int64 `yaml:"max,omitempty" json:"max,omitempty"`
	// Since is the first version that is known to refuse what is outside (empty: all do).
	Since Version `yaml:"since,omitempty" json:"since,omitempty"`
	// Before is what earlier versions accept; nil: any number, or not known.
	Before *Range `yaml:"before,omitempty" json:"before,omitempty"`
}

// Value is one member of an enum or one bit of a bitmask.
type Value struct {
	Value string `yaml:"value" json:"value"`
	Means string `yaml:"means" json:"means"`
	// Since and Removed bound the versions that know the value.
	Since   Version `yaml:"since,omitempty" json:"since,omitempty"`
	Removed Version `yaml:"removed,omitempty" json:"removed,omitempty"`
	// Needs is a module or build option without which the value is refused.
	Needs string `yaml:"needs,omitempty" json:"needs,omitempty"`
}

// Default is the value that a setting has from version Since on.
type Default struct {
	Since Version `yaml:"since,omitempty" json:"since,omitempty"`
	// Backported are older long-term releases whose later updates have it too.
	Backported []Version `yaml:"backported,omitempty" json:"backported,omitempty"`
	// Value is the default as the system prints it, "unknown" when it could
	// not be established, or "computed" when the kernel derives it.
	Value string `yaml:"value" json:"value"`
	// Formula computes a computed default from the machine's inputs.
	Formula string `yaml:"formula,omitempty" json:"formula,omitempty"`
	// AtMost bounds an unknown default of a limit from above: a plan that
	// raises the limit never goes below it.
	AtMost string `yaml:"at-most,omitempty" json:"at_most,omitempty"`
	Note   string `yaml:"note,omitempty" json:"note,omitempty"`
}

// Judgement is a condition on a configured value that lint reports.
type Judgement struct {
	// Code is the lint code: harmful, weakens-security, no-effect,
	// wrong-unit, below-default, out-of-range.
	Code string `yaml:"code" json:"code"`
	// When is an expression over value (the number, or the string for types
	// that are not numeric), low, mid and high (of a triple), and the formula
	// inputs. An input that is not known makes the judgement silent.
	When     string   `yaml:"when" json:"when"`
	Severity string   `yaml:"severity,omitempty" json:"severity,omitempty"`
	Because  string   `yaml:"because" json:"because"`
	Sources  []string `yaml:"sources,omitempty" json:"sources,omitempty"`
	// Typical marks what is a mistake for the machines that such files are written
	// for, even where the default of a small one would be less.
	Typical bool `yaml:"typical,omitempty" json:"typical,omitempty"`
	// Fires and Quiet are examples: inputs, among them value, for which When
	// is true, and for which it is false.
	Fires map[string]any `yaml:"fires" json:"-"`
	Quiet map[string]any `yaml:"quiet" json:"-"`
}

// Formula proposes a value.
type Formula struct {
	// Roles limits the formula; empty means every role.
	Roles []string `yaml:"roles,omitempty" json:"roles,omitempty"`
	// When must hold for the formula to fire; empty means always.
	When string `yaml:"when,omitempty" json:"when,omitempty"`
	// Value is the expression of the proposed value.
	Value   string `yaml:"value" json:"value"`
	Because string `yaml:"because" json:"because"`
	// Fires are inputs for which the formula proposes Gives; Quiet are
	// inputs for which it proposes nothing.
	Fires map[string]any `yaml:"fires" json:"-"`
	Gives string         `yaml:"gives" json:"-"`
	Quiet map[string]any `yaml:"quiet,omitempty" json:"-"`
}

// Evidence is one reason to believe that a setting matters, or does not.
type Evidence struct {
	Grade Grade  `yaml:"grade" json:"grade"`
	Says  string `yaml:"says" json:"says"`
	// Hardware, Release and Workload are the conditions of a measurement.
	Hardware string `yaml:"hardware,omitempty" json:"hardware,omitempty"`
	Release  string `yaml:"release,omitempty" json:"release,omitempty"`
	Workload string `yaml:"workload,omitempty" json:"workload,omitempty"`
	// Effect is the measured ratio (with the setting / without it).
	Effect *Effect `yaml:"effect,omitempty" json:"effect,omitempty"`
	Source string  `yaml:"source" json:"source"`
}

// Effect is a measured ratio with its interval (Low and High are 0 when the
// publication gives none).
type Effect struct {
	Metric string  `yaml:"metric" json:"metric"`
	Ratio  float64 `yaml:"ratio" json:"ratio"`
	Low    float64 `yaml:"low,omitempty" json:"low,omitempty"`
	High   float64 `yaml:"high,omitempty" json:"high,omitempty"`
}
