package catalog

import (
	"slices"
	"strings"
	"sync"

	embedded "github.com/wirerate/wirerate/catalog"
)

// Hardening is a value whose purpose is security.
type Hardening struct {
	System  System `json:"system"`
	Setting string `json:"setting"`
	Value   string `json:"value"`
	// Cost is what it takes away; Source who says so, empty where it follows
	// from what the setting does.
	Cost   string `json:"cost"`
	Source string `json:"source"`
}

// Refused is a value that guides call hardening and that protects nothing, or
// costs more than it protects.
type Refused struct {
	System  System `json:"system"`
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Because string `json:"because"`
}

// Driver is a driver of network cards.
type Driver struct {
	System System `json:"system"`
	// Name is what the system calls it, Also are other names of it.
	Name string   `json:"name"`
	Also []string `json:"also"`
	// Cards are the Linux drivers of the same cards.
	Cards []string `json:"cards"`
	// Iflib tells a FreeBSD driver on iflib(4).
	Iflib bool `json:"iflib,string"`
	// Queues is the most receive queues it makes, RingMax the largest receive
	// ring in descriptors, Ring the one it starts with; 0 where the card or
	// the hypervisor decides.
	Queues  int `json:"queues,string"`
	RingMax int `json:"ring_max,string"`
	Ring    int `json:"ring,string"`
	// Has and Lacks are beginnings of settings.
	Has   []string `json:"has"`
	Lacks []string `json:"lacks"`
}

// HasSetting reports whether the driver is known to have a setting that only
// some drivers have.
func (d Driver) HasSetting(name string) bool { return beginsWithOne(name, d.Has) }

// LacksSetting reports whether the driver is known to lack a setting that most
// drivers have.
func (d Driver) LacksSetting(name string) bool { return beginsWithOne(name, d.Lacks) }

func beginsWithOne(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(name, b) })
}

// hardenings is catalog/hardening.yaml.
var hardenings = sync.OnceValue(func() (t struct {
	Set     []Hardening
	Refused []Refused
}) {
	table("hardening.yaml", &t)
	return t
})

// Hardenings lists the values whose purpose is security, of one system.
func Hardenings(system System) []Hardening {
	return slices.DeleteFunc(slices.Clone(hardenings().Set), func(h Hardening) bool { return h.System != system })
}

// RefusedHardenings lists what guides call hardening and is better left alone.
func RefusedHardenings(system System) []Refused {
	return slices.DeleteFunc(slices.Clone(hardenings().Refused), func(r Refused) bool { return r.System != system })
}

var drivers = sync.OnceValue(func() (t struct{ Drivers []Driver }) {
	table("drivers.yaml", &t)
	return t
})

// Drivers lists the drivers of network cards of all systems, in the order of
// catalog/drivers.yaml. The list must not be changed.
func Drivers() []Driver { return drivers().Drivers }

// DriverOf finds a driver by its name on a system.
func DriverOf(system System, name string) (Driver, bool) {
	i := slices.IndexFunc(Drivers(), func(d Driver) bool { return d.System == system && d.Name == name })
	if i < 0 {
		return Driver{}, false
	}
	return Drivers()[i], true
}

// OwnDriver is what a driver of any of the systems is called on this one: the
// driver of the same cards, else the name itself.
func OwnDriver(system System, name string) string {
	for _, d := range Drivers() {
		if slices.Contains(d.Also, name) {
			name = d.Name
		}
	}
	if _, ok := DriverOf(system, name); ok {
		return name
	}
	for _, card := range Drivers() {
		if card.System != Linux || len(card.Cards) == 0 {
			continue
		}
		same, own := false, ""
		for _, d := range Drivers() {
			if !slices.Contains(d.Cards, card.Name) {
				continue
			}
			same = same || d.Name == name
			if d.System == system {
				own = d.Name
			}
		}
		if same && own != "" {
			return own
		}
	}
	return name
}

// table reads a table of the catalog. The tests read each, so that an error is
// that of a damaged program; what was not read is then not known.
func table(name string, into any) {
	if text, err := embedded.Files.ReadFile(name); err == nil {
		_ = decode(string(text), into)
	}
}
