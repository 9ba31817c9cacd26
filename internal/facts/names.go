package facts

import (
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/name"
)

// Unfit is a name that a host gave to something and that its system cannot
// have, or that cannot be written into files: it is text to show, and nothing
// else of the facts is named by it.
type Unfit struct {
	Kind    name.Kind `json:"kind"`
	Text    string    `json:"text"`
	Because string    `json:"because"`
	Source  Source    `json:"source"`
}

// Bounds of what is kept of names that are none.
const (
	unfitLimit = 256
	unfitBytes = 300
)

// fits tells whether a name is one that the host's system can have; else it is
// noted once.
func (f *Facts) fits(kind name.Kind, text string, src Source) bool {
	err := kind.Check(f.System, text)
	if err == nil {
		return true
	}
	u := Unfit{Kind: kind, Text: strings.ToValidUTF8(text[:min(len(text), unfitBytes)], "?"),
		Because: err.Error(), Source: src}
	known := slices.ContainsFunc(f.Unfit, func(o Unfit) bool { return o.Kind == u.Kind && o.Text == u.Text })
	if !known && len(f.Unfit) < unfitLimit {
		f.Unfit = append(f.Unfit, u)
	}
	return false
}

// word keeps a name that fits and empties another one.
func (f *Facts) word(kind name.Kind, text *string, src Source) {
	if *text != "" && !f.fits(kind, *text, src) {
		*text = ""
	}
}

// checkNames drops what has a name that its system cannot have, after each
// round of questions: what is asked next, and everything that is made of facts,
// meets checked names alone.
func (f *Facts) checkNames() {
	if f.System == "" {
		return
	}
	f.word(name.OfHost, &f.Node, Source{From: "uname -a"})
	f.word(name.OfRelease, &f.Release, Source{From: "uname -a"})
	f.checkLinks()
	f.checkSettings(f.Settings)
	f.checkSettings(f.Boot)
	f.Modules = slices.DeleteFunc(f.Modules, func(m string) bool { return !f.fits(name.OfModule, m, Source{}) })
	f.Interrupts = slices.DeleteFunc(f.Interrupts,
		func(i Interrupt) bool { return !f.fits(name.OfInterrupt, i.ID, i.Total.Source) })
	for i := range f.Interrupts {
		f.word(name.OfProcessors, &f.Interrupts[i].Affinity, f.Interrupts[i].Total.Source)
	}
	f.Disks = slices.DeleteFunc(f.Disks, func(d Disk) bool { return !f.fits(name.OfDisk, d.Name, d.Source) })
	f.checkPools()
	f.checkSockets()
}

// checkLinks checks interfaces, what belongs to them, and routes through them.
func (f *Facts) checkLinks() {
	f.NICs = slices.DeleteFunc(f.NICs, func(n NIC) bool {
		// A card of which only the bus tells is named by its address there.
		onBus := n.Name == n.Device && name.OfDevice.Check(f.System, n.Name) == nil
		return n.Name != UnnamedLink && !onBus && !f.fits(name.OfInterface, n.Name, n.Source)
	})
	for i := range f.NICs {
		n := &f.NICs[i]
		f.word(name.OfDriver, &n.Driver, n.Source)
		f.word(name.OfDevice, &n.Device, n.Source)
		f.word(name.OfDevice, &n.Bus, n.Source)
		f.word(name.OfInterface, &n.Master, n.Source)
		f.word(name.OfHash, &n.Hash, n.Source)
		f.word(name.OfAddress, &n.MAC, n.Source)
		n.Addrs = slices.DeleteFunc(n.Addrs, func(a string) bool { return !f.fits(name.OfAddress, a, n.Source) })
		n.Qdiscs = slices.DeleteFunc(n.Qdiscs, func(q Qdisc) bool { return !f.fits(name.OfQdisc, q.Kind, n.Source) })
		for _, masks := range []map[string]string{n.RPS, n.XPS} {
			maps.DeleteFunc(masks, func(queue, mask string) bool { return !f.fits(name.OfMask, mask, n.Source) })
		}
	}
	f.Routes = slices.DeleteFunc(f.Routes, func(r Route) bool { return !f.fits(name.OfInterface, r.Interface, r.Source) })
	for _, r := range f.Routes {
		if control, ok := r.Attributes["congctl"]; ok && !f.fits(name.OfCongestion, control, r.Source) {
			delete(r.Attributes, "congctl")
		}
	}
}

// checkSettings checks the names of settings, each with its interface.
func (f *Facts) checkSettings(settings map[string]Setting) {
	for _, setting := range slices.Sorted(maps.Keys(settings)) {
		base, nic, of := strings.Cut(setting, "@")
		if !f.fits(name.OfSetting, base, settings[setting].Source) ||
			of && !f.fits(name.OfInterface, nic, settings[setting].Source) {
			delete(settings, setting)
		}
	}
}

func (f *Facts) checkPools() {
	f.PoolWaits = slices.DeleteFunc(f.PoolWaits, func(w PoolWait) bool {
		return !f.fits(name.OfPool, w.Pool, w.Source) || w.Device != "" && !f.fits(name.OfPool, w.Device, w.Source)
	})
	if f.ZFS == nil {
		return
	}
	z := f.ZFS
	z.Pools = slices.DeleteFunc(z.Pools, func(p ZPool) bool { return !f.fits(name.OfPool, p.Name, p.Source) })
	for i := range z.Pools {
		z.Pools[i].Vdevs = slices.DeleteFunc(z.Pools[i].Vdevs,
			func(v ZVdev) bool { return !f.fits(name.OfPool, v.Name, v.Source) })
	}
	z.Datasets = slices.DeleteFunc(z.Datasets,
		func(d ZDataset) bool { return !f.fits(name.OfPool, d.Name, Source{From: "zfs get all"}) })
}

// checkSockets checks the addresses of both ends.
func (f *Facts) checkSockets() {
	for i := range f.Flows {
		f.word(name.OfAddress, &f.Flows[i].Local, f.Flows[i].Source)
		f.word(name.OfAddress, &f.Flows[i].Peer, f.Flows[i].Source)
	}
	f.Listeners = slices.DeleteFunc(f.Listeners,
		func(l Listener) bool { return !f.fits(name.OfAddress, l.Local, l.Source) })
	f.Datagrams = slices.DeleteFunc(f.Datagrams,
		func(d DatagramSocket) bool { return !f.fits(name.OfAddress, d.Local, d.Source) })
	for i := range f.Transfers {
		f.word(name.OfAddress, &f.Transfers[i].Local, f.Transfers[i].Source)
		f.word(name.OfAddress, &f.Transfers[i].Peer, f.Transfers[i].Source)
	}
	f.Neighbours = slices.DeleteFunc(f.Neighbours, func(n Neighbour) bool {
		return !f.fits(name.OfAddress, n.Address, n.Source) ||
			n.Interface != "" && !f.fits(name.OfInterface, n.Interface, n.Source)
	})
}
