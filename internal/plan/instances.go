package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/name"
)

// instance is one concrete setting of a record: of a record for interfaces
// there is one for each interface that has it.
type instance struct {
	name    string
	running string
	has     bool // the host is known to have it
	inputs  catalog.Inputs
}

// shortFeatures are the short names that ethtool -K takes for features, and
// what ethtool -k prints for them (ethtool(8)); other features have one name.
var shortFeatures = map[string]string{
	"rx": "rx-checksumming", "tx": "tx-checksumming", "sg": "scatter-gather", "tso": "tcp-segmentation-offload",
	"ufo": "udp-fragmentation-offload", "gso": "generic-segmentation-offload", "gro": "generic-receive-offload",
	"lro": "large-receive-offload", "rxvlan": "rx-vlan-offload", "txvlan": "tx-vlan-offload",
	"ntuple": "ntuple-filters", "rxhash": "receive-hashing", "gro-list": "rx-gro-list",
}

// LongFeature returns the name that ethtool -k prints for a feature.
func LongFeature(name string) string {
	if long := shortFeatures[name]; long != "" {
		return long
	}
	return name
}

// instances are the concrete settings of a record on a machine, in the order
// of their names.
func instances(rec *catalog.Record, m Machine, in catalog.Inputs) []instance {
	name := rec.Name
	switch {
	case strings.HasPrefix(name, "ethtool:"), strings.HasPrefix(name, "link:"), strings.HasPrefix(name, "ifconfig:"):
		return perNIC(rec, m, in)
	case strings.HasPrefix(name, "route:"):
		return []instance{at(m, name+"@default", in)}
	case !driverFits(rec, m):
		return nil
	case !strings.Contains(name, "*"):
		return []instance{at(m, name, in)}
	case strings.HasPrefix(name, "net.ipv4.conf.*."), strings.HasPrefix(name, "net.ipv6.conf.*."):
		found := []instance{at(m, strings.Replace(name, "*", "all", 1), in)}
		if !strings.HasSuffix(name, ".forwarding") {
			found = append(found, at(m, strings.Replace(name, "*", "default", 1), in))
		}
		return found
	case strings.HasPrefix(name, "dev."):
		return perDevice(rec, m, in)
	}
	return perMatch(rec, m, in)
}

func at(m Machine, name string, in catalog.Inputs) instance {
	v, has := m.Running[name]
	return instance{name, normal(v), has, in}
}

// perNIC are the settings of the physical interfaces. Without a host there is
// no interface to name.
func perNIC(rec *catalog.Record, m Machine, in catalog.Inputs) []instance {
	var found []instance
	for _, nic := range m.Interfaces {
		if len(rec.Drivers) > 0 && !slices.Contains(rec.Drivers, nic.Driver) {
			continue
		}
		v, has := nic.Running[rec.Name]
		found = append(found, instance{rec.Name + "@" + string(nic.Name), normal(v), has, nic.with(in)})
	}
	return found
}

// perDevice are FreeBSD's dev.DRIVER.UNIT settings: the interface ix0 has
// dev.ix.0. With nothing but the driver's name, unit 0 stands for all.
func perDevice(rec *catalog.Record, m Machine, in catalog.Inputs) []instance {
	nics := m.Interfaces
	if len(nics) == 0 && m.Driver != "" {
		nics = []Interface{{Name: name.Interface(m.Driver + "0"), Driver: m.Driver}}
	}
	var found []instance
	for _, nic := range nics {
		driver, unit := nic.driverUnit()
		setting := rec.Name
		if strings.HasPrefix(setting, "dev.*.") {
			setting = strings.Replace(setting, "*", driver, 1)
		}
		setting = strings.Replace(setting, "*", unit, 1)
		if strings.Contains(setting, ".iflib.") && !onIflib(driver) {
			continue
		}
		if unit == "" || !strings.HasPrefix(setting, "dev."+driver+".") || strings.Contains(setting, "*") {
			continue
		}
		found = append(found, at(m, setting, nic.with(in)))
	}
	return found
}

// driverUnit takes the number off an interface's name: ix0 is unit 0 of ix.
func (i Interface) driverUnit() (driver, unit string) {
	driver = strings.TrimRight(string(i.Name), "0123456789")
	return driver, string(i.Name[len(driver):])
}

// perMatch are the running settings that a pattern of the catalog names.
func perMatch(rec *catalog.Record, m Machine, in catalog.Inputs) []instance {
	var names []string
	for name := range m.Running {
		if ok, _ := path.Match(rec.Name, name); ok && !strings.Contains(name, "*") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var found []instance
	for _, name := range names {
		found = append(found, at(m, name, in))
	}
	return found
}

// driverFits tells whether the machine has an interface that a driver's
// setting is for.
func driverFits(rec *catalog.Record, m Machine) bool {
	if len(rec.Drivers) == 0 || slices.Contains(rec.Drivers, m.Driver) {
		return true
	}
	return slices.ContainsFunc(m.Interfaces, func(n Interface) bool {
		return slices.Contains(rec.Drivers, n.Driver) ||
			slices.Contains(rec.Drivers, strings.TrimRight(string(n.Name), "0123456789"))
	})
}
