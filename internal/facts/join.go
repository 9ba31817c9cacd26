package facts

import (
	"cmp"
	"maps"
	"slices"
)

// What was posted in several pastes is joined: parts of one answer complete each other, and of what stands in two of
// them the later one counts, with what the earlier one said.

// join adds what a later round says.
func (f *Facts) join(later *Facts, r Round) {
	f.joinTexts(later, r)
	for part, p := range later.Parts {
		if f.Parts[part].State != Read && p.State != Absent {
			f.Parts[part] = p
		}
	}
	maps.Copy(f.Settings, later.Settings)
	if f.Boot == nil {
		f.Boot = later.Boot
	}
	maps.Copy(f.Boot, later.Boot)
	joinCounters(f.Counters, later.Counters, r.Seconds)
	for i := range later.NICs {
		l := &later.NICs[i]
		if n := f.NIC(l.Name); n != nil {
			n.join(l, r.Seconds)
		} else {
			f.NICs = append(f.NICs, *l)
		}
	}
	f.Cores, f.Memory = cmp.Or(f.Cores, later.Cores), cmp.Or(f.Memory, later.Memory)
	f.PageSize, f.Processor = cmp.Or(f.PageSize, later.PageSize), cmp.Or(f.Processor, later.Processor)
	f.ThreadsPerCore = cmp.Or(f.ThreadsPerCore, later.ThreadsPerCore)
	f.Uptime, f.Distribution = cmp.Or(later.Uptime, f.Uptime), cmp.Or(f.Distribution, later.Distribution)
	if f.DistributionSource.Text == "" {
		f.DistributionSource = later.DistributionSource
	}
	f.joinProcessors(later, r.Seconds)
	f.joinRows(later, r.Seconds)
}

// joinTexts puts the later lines of a source behind the earlier ones, as their numbers already say.
func (f *Facts) joinTexts(later *Facts, r Round) {
	for from, lines := range later.texts {
		at := from
		if r.Places[at] == nil {
			at = OutputOfCommand(from)
		}
		if r.Places[at] == nil {
			continue // what only completes the round
		}
		f.places[at] = append(padded(f.places[at], len(f.texts[from])), padded(r.Places[at], len(lines))...)
		f.texts[from] = append(f.texts[from], lines...)
		if f.used[from] == nil {
			f.used[from] = map[int]bool{}
		}
		maps.Copy(f.used[from], later.used[from])
	}
}

// padded are as many places as there are lines.
func padded(places []int, lines int) []int {
	return append(slices.Clone(places[:min(len(places), lines)]), make([]int, max(0, lines-len(places)))...)
}

func joinCounters(into, later map[string]Counter, seconds map[string]float64) {
	for name, l := range later {
		if c, have := into[name]; have {
			l = c.then(l, seconds[l.Source.From], isState(name))
		}
		into[name] = l
	}
}

// then is a counter that was read again after so many seconds, 0 where that is not known.
func (c Counter) then(later Counter, seconds float64, state bool) Counter {
	switch {
	case state:
		return later
	case c.Partial != later.Partial: // the one since the start says more
		if later.Partial {
			return c
		}
		return later
	}
	grown := c
	if seconds > 0 {
		grown.grow(later, seconds)
		later.Rate = grown.Rate
	}
	later.Earlier = cmp.Or(c.Earlier, &Reading{c.Value, c.Source})
	return later
}

// fewer reports whether a later reading counts fewer packets than this one: it is of another machine, or of one that was
// started anew, and says nothing of what this one counted.
func (n *NIC) fewer(later *NIC) bool {
	for _, name := range []string{"link.rx_packets", "rx_packets", "netstat.ipackets"} {
		a, b := n.Counters[name], later.Counters[name]
		if b.Source.Text != "" && !a.Partial && !b.Partial && b.Value < a.Value {
			return true
		}
	}
	return false
}

func (n *NIC) join(l *NIC, seconds map[string]float64) {
	if n.StateUnknown || !l.StateUnknown {
		n.Up, n.StateUnknown = l.Up, l.StateUnknown
	}
	if l.Kind != "ethernet" {
		n.Kind = l.Kind
	}
	for _, s := range []struct {
		into  *string
		later string
	}{{&n.Driver, l.Driver}, {&n.Version, l.Version}, {&n.Firmware, l.Firmware}, {&n.Bus, l.Bus}, {&n.Device, l.Device},
		{&n.MAC, l.MAC}, {&n.Duplex, l.Duplex}, {&n.Media, l.Media}, {&n.Master, l.Master}, {&n.EEE, l.EEE},
		{&n.Hash, l.Hash},
		{&n.BondMode, l.BondMode}, {&n.Aggregator, l.Aggregator}} {
		*s.into = cmp.Or(s.later, *s.into)
	}
	n.Speed, n.Fastest = cmp.Or(l.Speed, n.Speed), cmp.Or(l.Fastest, n.Fastest)
	n.Advertised, n.Offered = cmp.Or(l.Advertised, n.Advertised), cmp.Or(l.Offered, n.Offered)
	n.MTU, n.TXQueue = cmp.Or(l.MTU, n.MTU), cmp.Or(l.TXQueue, n.TXQueue)
	n.Queues, n.Rings = cmp.Or(l.Queues, n.Queues), cmp.Or(l.Rings, n.Rings)
	n.PCIe, n.Pause, n.NUMANode = cmp.Or(l.PCIe, n.PCIe), cmp.Or(l.Pause, n.Pause), cmp.Or(l.NUMANode, n.NUMANode)
	for _, a := range l.Addrs {
		if !slices.Contains(n.Addrs, a) {
			n.Addrs = append(n.Addrs, a)
		}
	}
	n.Features, n.Coalesce = joined(n.Features, l.Features), joined(n.Coalesce, l.Coalesce)
	n.RPS, n.XPS, n.Shown = joined(n.RPS, l.RPS), joined(n.XPS, l.XPS), joined(n.Shown, l.Shown)
	if n.Counters == nil {
		n.Counters = map[string]Counter{}
	}
	if !n.fewer(l) {
		joinCounters(n.Counters, l.Counters, seconds)
	}
	for _, q := range l.Qdiscs {
		at := slices.IndexFunc(n.Qdiscs, func(o Qdisc) bool {
			return o.Kind == q.Kind && o.Handle == q.Handle && o.Parent == q.Parent
		})
		if at < 0 {
			n.Qdiscs = append(n.Qdiscs, q)
			continue
		}
		o, after := n.Qdiscs[at], seconds[q.Sent.Source.From]
		q.Sent, q.Dropped = o.Sent.then(q.Sent, after, false), o.Dropped.then(q.Dropped, after, false)
		q.Overlimits, q.Requeues = o.Overlimits.then(q.Overlimits, after, false), o.Requeues.then(q.Requeues, after, false)
		n.Qdiscs[at] = q
	}
	n.Classes = joinedBy(n.Classes, l.Classes, func(c Class) string { return c.ID })
}

func joined[V any](into, later map[string]V) map[string]V {
	if into == nil {
		return later
	}
	maps.Copy(into, later)
	return into
}

// joinedBy are the rows of both; of two with one key the later one counts.
func joinedBy[T any](rows, later []T, key func(T) string) []T {
	at := map[string]int{}
	for i, r := range rows {
		at[key(r)] = i
	}
	for _, l := range later {
		if i, have := at[key(l)]; have {
			rows[i] = l
		} else if len(rows) < rowLimit {
			rows = append(rows, l)
		}
	}
	return rows
}

func (f *Facts) joinProcessors(later *Facts, seconds map[string]float64) {
	for _, l := range later.Processors {
		p := f.processor(l.ID)
		if l.Source.Text == "" {
			l.User, l.Nice, l.System, l.Interrupt, l.Idle, l.Stolen, l.Sampled = p.User, p.Nice, p.System, p.Interrupt, p.Idle,
				p.Stolen, p.Sampled
			l.ticks, l.Source = p.ticks, p.Source
		}
		if s := l.Softnet; s == nil {
			l.Softnet = p.Softnet
		} else if p.Softnet != nil {
			after := seconds[s.Processed.Source.From]
			s.Processed, s.Dropped = p.Softnet.Processed.then(s.Processed, after, false), p.Softnet.Dropped.then(s.Dropped,
				after, false)
			s.Squeezed, s.Steered = p.Softnet.Squeezed.then(s.Squeezed, after, false), p.Softnet.Steered.then(s.Steered, after,
				false)
		}
		if l.NetRX == nil {
			l.NetRX = p.NetRX
		}
		*p = l
	}
	f.AllProcessors = cmp.Or(later.AllProcessors, f.AllProcessors)
	f.Threads = append(f.Threads, later.Threads...)
}

// joinRows joins the tables whose rows have a key of their own.
func (f *Facts) joinRows(later *Facts, seconds map[string]float64) {
	f.Routes = joinedBy(f.Routes, later.Routes, func(r Route) string { return r.Destination + " " + r.Interface })
	f.Flows = joinedBy(f.Flows, later.Flows, func(fl Flow) string { return fl.Local + " " + fl.Peer })
	f.Listeners = joinedBy(f.Listeners, later.Listeners, func(l Listener) string { return l.Local })
	f.Datagrams = joinedBy(f.Datagrams, later.Datagrams, func(d DatagramSocket) string { return d.Local + d.Program })
	f.Neighbours = joinedBy(f.Neighbours, later.Neighbours, func(n Neighbour) string { return n.Address + n.Interface })
	f.Messages = joinedBy(f.Messages, later.Messages, func(m Message) string { return m.Text })
	for i, l := range later.Disks { // of two times at which a disk was looked at, that at which it was busier
		at := slices.IndexFunc(f.Disks, func(d Disk) bool { return d.Name == l.Name })
		if at >= 0 && f.Disks[at].Load != nil && l.Load != nil && f.Disks[at].Load.Busy > l.Load.Busy {
			later.Disks[i].Load = f.Disks[at].Load
		}
	}
	f.Disks = joinedBy(f.Disks, later.Disks, func(d Disk) string { return d.Name })
	f.CARP = joinedBy(f.CARP, later.CARP, func(g CARPGroup) string { return g.Interface + " " + g.VHID })
	f.HostCache = joinedBy(f.HostCache, later.HostCache, func(h HostEntry) string { return h.Address })
	f.NetISR = joinedBy(f.NetISR, later.NetISR, func(n NetISR) string { return n.Protocol + decimal(n.CPU) })
	f.Transfers = append(f.Transfers, later.Transfers...)
	f.Pings = append(f.Pings, later.Pings...)
	f.Traces, f.Stations = append(f.Traces, later.Traces...), append(f.Stations, later.Stations...)
	f.NFSMounts, f.Symbols = append(f.NFSMounts, later.NFSMounts...), append(f.Symbols, later.Symbols...)
	f.USBDevices = joinedBy(f.USBDevices, later.USBDevices, func(u USBDevice) string { return u.Source.Text })
	f.Relays = append(f.Relays, later.Relays...)
	f.Handshakes, f.Talks = append(f.Handshakes, later.Handshakes...), append(f.Talks, later.Talks...)
	f.Channels, f.Modems = append(f.Channels, later.Channels...), append(f.Modems, later.Modems...)
	f.LossCounts, f.LoadTests = append(f.LossCounts, later.LossCounts...), append(f.LoadTests, later.LoadTests...)
	f.Requests, f.Alarms = append(f.Requests, later.Requests...), append(f.Alarms, later.Alarms...)
	f.ProxyServers = joinedBy(f.ProxyServers, later.ProxyServers,
		func(p ProxyServer) string { return p.Proxy + "/" + p.Server })
	f.Throttled = joinedBy(f.Throttled, later.Throttled, func(t Throttling) string { return t.Subject })
	f.MemoryPressure = cmp.Or(later.MemoryPressure, f.MemoryPressure)
	f.Pollers = joinedBy(f.Pollers, later.Pollers, func(p Poller) string { return p.Name })
	f.TunnelPeers = joinedBy(f.TunnelPeers, later.TunnelPeers, func(p TunnelPeer) string { return p.Interface + p.Name })
	if later.WirelessPowerSave.Value != "" {
		f.WirelessPowerSave = later.WirelessPowerSave
	}
	f.TransferEnds = append(f.TransferEnds, later.TransferEnds...)
	if len(f.Unanswered) == 0 { // of one moment
		f.Unanswered = later.Unanswered
	}
	f.SpeedTests = append(f.SpeedTests, later.SpeedTests...)
	f.Receipts = append(f.Receipts, later.Receipts...)
	f.TestWindows = append(f.TestWindows, later.TestWindows...)
	f.TestProcessors = append(f.TestProcessors, later.TestProcessors...)
	f.ZFS = cmp.Or(f.ZFS, later.ZFS)
	f.PoolWaits = append(f.PoolWaits, later.PoolWaits...)
	for _, m := range later.Modules {
		if !slices.Contains(f.Modules, m) {
			f.Modules = append(f.Modules, m)
		}
	}
	for i, l := range later.Memories { // a grep may have left one line of those that make up a pool
		if at := slices.IndexFunc(f.Memories, func(p Pool) bool { return p.Name == l.Name }); at >= 0 {
			p := f.Memories[at]
			later.Memories[i].Used, later.Memories[i].Cached = cmp.Or(l.Used, p.Used), cmp.Or(l.Cached, p.Cached)
			later.Memories[i].Limit, later.Memories[i].Denied = cmp.Or(l.Limit, p.Limit), cmp.Or(l.Denied, p.Denied)
			if l.Used == 0 && p.Used > 0 {
				later.Memories[i].InUse = cmp.Or(p.InUse, p.Source)
			}
		}
	}
	f.Memories = joinedBy(f.Memories, later.Memories, func(p Pool) string { return p.Name })
	for i, l := range later.Interrupts {
		at := slices.IndexFunc(f.Interrupts, func(o Interrupt) bool { return o.ID == l.ID && o.Name == l.Name })
		if at >= 0 {
			later.Interrupts[i].Total = f.Interrupts[at].Total.then(l.Total, seconds[l.Total.Source.From], false)
		}
	}
	f.Interrupts = joinedBy(f.Interrupts, later.Interrupts, func(i Interrupt) string { return i.ID + " " + i.Name })
}
