package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
)

// MachineOf says what facts tell about a machine.
func MachineOf(f *facts.Facts) Machine {
	release, _ := catalog.ParseVersion(f.Release)
	m := Machine{Host: f.Host, System: f.System, Release: release, Memory: f.Memory, Page: f.PageSize,
		Cores: f.Cores, Running: map[string]string{}, Denied: map[string]string{}, Modules: f.Modules}
	for name, v := range f.Settings {
		if v.State == facts.Denied {
			m.Denied[name] = "it may not be read: " + v.Because
			continue
		}
		m.Running[name] = v.Value
	}
	if nic := f.Outlet(); nic != nil {
		m.NICRate, m.Driver = nic.Speed, nic.Driver
	}
	for i := range f.NICs {
		if n := &f.NICs[i]; n.Kind == "ethernet" && n.Up {
			m.Interfaces = append(m.Interfaces, interfaceOf(f, n))
		}
	}
	for i := range f.NICs {
		if n := &f.NICs[i]; n.Kind == "bond" || n.Kind == "lagg" {
			m.Aggregates = append(m.Aggregates, aggregateOf(f, n))
		}
	}
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

func aggregateOf(f *facts.Facts, n *facts.NIC) Aggregate {
	a := Aggregate{Name: n.Name, Exists: true}
	a.Hash, _, _ = strings.Cut(n.Hash, " ")
	for _, link := range f.NICs {
		if link.Master == n.Name {
			a.Links = append(a.Links, link.Name)
		}
	}
	return a
}

func interfaceOf(f *facts.Facts, n *facts.NIC) Interface {
	i := Interface{Name: n.Name, Driver: n.Driver, Rate: n.Speed, Queues: n.Queues.RX, RingMax: n.Rings.RXMax, Running: map[string]string{}}
	for name, v := range f.Settings {
		if base, nic, ok := strings.Cut(name, "@"); ok && nic == n.Name && v.State == facts.Read {
			i.Running[base] = v.Value
		}
	}
	onOff := map[bool]string{true: "on", false: "off"}
	for short, long := range shortFeatures {
		if ft, ok := n.Features[long]; ok && !ft.Fixed {
			i.Running["ethtool:features/"+short] = onOff[ft.On]
		}
	}
	for option, flags := range map[string][]string{"tso": {"TSO4", "TSO6"}, "lro": {"LRO"}, "vlanhwtso": {"VLAN_HWTSO"}, "rxcsum": {"RXCSUM"}, "txcsum": {"TXCSUM"}} {
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
		if irq.NIC == n.Name {
			i.IRQs = append(i.IRQs, IRQ{irq.ID, irq.Affinity, queueOf(irq.Name)})
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
