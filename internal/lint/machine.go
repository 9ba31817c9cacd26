package lint

import (
	"slices"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
)

// MachineOf returns what facts tell about the machine. Unknown facts leave
// their inputs out.
func MachineOf(f *facts.Facts) *Machine {
	m := &Machine{Inputs: catalog.Inputs{}}
	known := func(name string, value float64) {
		if value > 0 {
			m.Inputs[name] = value
		}
	}
	known("memory", float64(f.Memory))
	known("page", float64(f.PageSize))
	known("cores", float64(f.Cores))
	physical := 0
	for _, n := range f.NICs {
		if n.Driver == "" || n.Kind != "ethernet" {
			continue
		}
		physical++
		if !slices.Contains(m.Drivers, n.Driver) {
			m.Drivers = append(m.Drivers, n.Driver)
		}
	}
	known("interfaces", float64(physical))
	if n := f.Outlet(); n != nil {
		known("nic_rate", float64(n.Speed))
		if n.Driver != "" {
			m.Inputs["driver"] = n.Driver
		}
	}
	m.Running = func(name, iface string) (string, bool) {
		if iface != "" {
			if v, ok := f.InterfaceSetting(name, iface); ok {
				return v, true
			}
		}
		return f.Setting(name)
	}
	return m
}
