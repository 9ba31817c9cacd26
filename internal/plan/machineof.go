package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/regexp"
)

// MachineOf says what facts tell about a machine.
func MachineOf(f *facts.Facts) Machine {
	release, _ := catalog.ParseVersion(f.Release)
	m := Machine{Host: f.Host, System: f.System, Release: release, Memory: f.Memory, Page: f.PageSize,
		Cores: f.Cores, Running: map[string]string{}, Denied: map[string]string{}, Modules: f.Modules}
	for setting, v := range f.Settings {
		if v.State == facts.Denied {
			m.Denied[setting] = "it may not be read: " + v.Because
			continue
		}
		m.Running[setting] = v.Value
	}
	if nic := f.Outlet(); nic != nil {
		m.NICRate, m.Driver = nic.Speed, nic.Driver
	}
	m.links(f)
	m.NoDefaultRoute = true
	for _, r := range f.Routes {
		if !r.Default() {
			continue
		}
		m.NoDefaultRoute = false
		for key, v := range r.Attributes {
			m.Running["route:"+key+"@default"] = v
		}
		break
	}
	return m
}

// links takes in the interfaces whose names can be written, and the aggregates
// of such alone; the others are Unfit.
func (m *Machine) links(f *facts.Facts) {
	m.Unfit = slices.Clone(f.Unfit)
	for i := range f.NICs {
		n := &f.NICs[i]
		physical, joined := n.Kind == "ethernet" && n.Up, n.Kind == "bond" || n.Kind == "lagg"
		if !physical && !joined {
			continue
		}
		own, err := name.ParseInterface(f.System, n.Name)
		switch {
		case err != nil:
			m.Unfit = append(m.Unfit, facts.Unfit{Kind: name.OfInterface, Text: n.Name, Because: err.Error(),
				Source: n.Source})
		case physical:
			m.Interfaces = append(m.Interfaces, interfaceOf(f, n, own))
		default:
			if a, ok := aggregateOf(f, n, own); ok {
				m.Aggregates = append(m.Aggregates, a)
			}
		}
	}
}

// aggregateOf is an aggregate of the host; not ok when one of its links has a
// name that cannot be written.
func aggregateOf(f *facts.Facts, n *facts.NIC, own name.Interface) (a Aggregate, ok bool) {
	a = Aggregate{Name: own, Exists: true}
	a.Hash, _, _ = strings.Cut(n.Hash, " ")
	for _, link := range f.NICs {
		if link.Master != n.Name {
			continue
		}
		parsed, err := name.ParseInterface(f.System, link.Name)
		if err != nil {
			return a, false
		}
		a.Links = append(a.Links, parsed)
	}
	return a, true
}

var irqNumber = regexp.MustCompile(`^(?:irq)?([0-9]{1,9})$`)

func interfaceOf(f *facts.Facts, n *facts.NIC, own name.Interface) Interface {
	i := Interface{Name: own, Driver: n.Driver, Rate: n.Speed, Queues: n.Queues.RX, RingMax: n.Rings.RXMax,
		Running: map[string]string{}}
	for setting, v := range f.Settings {
		if base, nic, ok := strings.Cut(setting, "@"); ok && nic == n.Name && v.State == facts.Read {
			i.Running[base] = v.Value
		}
	}
	onOff := map[bool]string{true: "on", false: "off"}
	for short, long := range shortFeatures {
		if ft, ok := n.Features[long]; ok && !ft.Fixed {
			i.Running["ethtool:features/"+short] = onOff[ft.On]
		}
	}
	for option, flags := range map[string][]string{"tso": {"TSO4", "TSO6"}, "lro": {"LRO"},
		"vlanhwtso": {"VLAN_HWTSO"}, "rxcsum": {"RXCSUM"}, "txcsum": {"TXCSUM"}} {
		if f.System == "linux" {
			break
		}
		on := slices.ContainsFunc(flags, func(flag string) bool { return n.Features[flag].On })
		if on || len(n.Features) > 0 {
			i.Running["ifconfig:"+option] = onOff[on]
		}
	}
	if n.MTU > 0 {
		i.Running["link:mtu"], i.Running["ifconfig:mtu"] = strconv.Itoa(n.MTU), strconv.Itoa(n.MTU)
	}
	if n.TXQueue > 0 {
		i.Running["link:txqueuelen"] = strconv.Itoa(n.TXQueue)
	}
	for _, irq := range f.Interrupts {
		if number := irqNumber.FindStringSubmatch(irq.ID); irq.NIC == n.Name && number != nil {
			i.IRQs = append(i.IRQs, IRQ{number[1], irq.Affinity, queueOf(irq.Name)})
		}
	}
	for _, p := range f.Processors {
		i.Cores = append(i.Cores, p.ID)
	}
	return i
}

var queueNumber = regexp.MustCompile(`(?i)(rx|tx|txrx|que|queue|input|output|fp|comp)[-._: a-z]*([0-9]+)\b`)

// queueOf finds the queue in an interrupt's name: virtio0-input.1,
// eth0-TxRx-3, ix0:rxq2, mlx5_comp4@pci.
func queueOf(name string) int {
	m := queueNumber.FindStringSubmatch(name)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[2])
	if err != nil || n > 4096 {
		return -1
	}
	return n
}
