package watch

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wirerate/wirerate/internal/kerneltext"
)

// The limits of a host that are none of a single connection, beside those of flow.
const (
	NoLimit     = "none"
	AcceptQueue = "accept-queue"      // connections wait for the program to accept them, and are dropped
	Conntrack   = "conntrack"         // the table of tracked connections is full
	DeviceQueue = "device-queue"      // an interface's queue is full
	Ring        = "ring"              // an interface's receive ring is full
	Backlog     = "processor-backlog" // a processor's queue of received packets is full
	UDPBuffer   = "udp-buffer"        // programs do not read their datagrams in time
	Mbufs       = "mbufs"             // the kernel's packet buffers are used up (the BSDs)
	TCPMemory   = "tcp-memory"        // the memory of all TCP sockets
	Processor   = "processor"         // a processor has no time left
)

// HostLimits are those of a host.
func HostLimits() []string {
	return []string{AcceptQueue, Conntrack, DeviceQueue, Ring, Backlog, UDPBuffer, Mbufs, TCPMemory, Processor}
}

// cause is a limit of the host with what shows it.
type cause struct {
	limit   string
	subject string
	rate    float64 // events a second, or the share of the limit in use
}

// hostChange is what the host's counters did between two samples.
type hostChange struct {
	seconds    float64
	grown      map[string]float64            // a second
	devices    map[string]map[string]float64 // a second
	processors []Busy
	softDrops  float64
	causes     []cause
}

// compare measures the host between two samples. A counter that went back, or was
// not there before, did not grow; one of 32 bits may have wrapped.
func compare(a, b *Sample) hostChange {
	c := hostChange{grown: map[string]float64{}, devices: map[string]map[string]float64{}}
	if a == nil {
		return c
	}
	if c.seconds = b.Time.Sub(a.Time).Seconds(); c.seconds <= 0 {
		return hostChange{grown: c.grown, devices: c.devices}
	}
	rates(c.grown, a.Counters, b.Counters, c.seconds)
	for name, after := range b.Devices {
		before, known := a.Devices[name]
		if !known {
			continue
		}
		c.devices[name] = map[string]float64{}
		rates(c.devices[name], before, after, c.seconds)
	}
	c.processors = busy(a.Processors, b.Processors)
	for i := range b.Softnet {
		if i < len(a.Softnet) && b.Softnet[i].CPU == a.Softnet[i].CPU {
			c.softDrops += grown(a.Softnet[i].Dropped, b.Softnet[i].Dropped) / c.seconds
		}
	}
	c.judge(b)
	return c
}

func rates(to map[string]float64, before, after map[string]uint64, seconds float64) {
	for name, n := range after {
		if was, ok := before[name]; ok {
			to[name] = grown(was, n) / seconds
		}
	}
}

func grown(before, after uint64) float64 {
	switch {
	case after >= before:
		return float64(after - before)
	case before < 1<<32 && before >= 3<<30 && after < 1<<30:
		return float64(after + 1<<32 - before)
	}
	return 0 // it was reset
}

// Busy is what a processor did: shares of its time, 0 to 1.
type Busy struct {
	ID        int     `json:"id"`
	Busy      float64 `json:"busy"`
	Interrupt float64 `json:"interrupt"` // hard and soft
	Stolen    float64 `json:"stolen"`
}

func busy(before, after []kerneltext.CPU) []Busy {
	var all []Busy
	for i, l := range after {
		if l.ID == kerneltext.AllCPUs || i >= len(before) || before[i].ID != l.ID || len(l.Ticks) < 7 ||
			len(before[i].Ticks) != len(l.Ticks) {
			continue
		}
		var grew [8]float64
		var total float64
		for j := range min(len(l.Ticks), len(grew)) {
			grew[j] = grown(before[i].Ticks[j], l.Ticks[j])
			total += grew[j]
		}
		if total > 0 {
			all = append(all, Busy{l.ID, 1 - (grew[3]+grew[4])/total, (grew[5] + grew[6]) / total, grew[7] / total})
		}
	}
	return all
}

// few is how many events a second may be chance.
const few = 0.5

// judge finds the limits that the counters show.
func (c *hostChange) judge(s *Sample) {
	add := func(limit, subject string, rate float64) {
		if rate > few {
			c.causes = append(c.causes, cause{limit, subject, rate})
		}
	}
	add(AcceptQueue, "", c.grown["TcpExt.ListenOverflows"])
	dropped := c.grown["conntrack.drop"] + c.grown["conntrack.early_drop"]
	if limit := s.Counters["conntrack.max"]; limit > 0 &&
		(dropped > few || float64(s.Counters["conntrack.used"]) >= 0.98*float64(limit)) {
		c.causes = append(c.causes, cause{Conntrack, fmt.Sprintf("%d of %d", s.Counters["conntrack.used"], limit), 1})
	}
	for _, name := range slices.Sorted(maps.Keys(c.devices)) {
		d := c.devices[name]
		add(DeviceQueue, name, d["queue_dropped"])
		add(Ring, name, d["rx_missed"]+d["rx_fifo"])
	}
	add(Backlog, "", c.softDrops)
	add(UDPBuffer, "", c.grown["Udp.RcvbufErrors"]+c.grown["Udp6.RcvbufErrors"])
	add(Mbufs, "", c.grown["mbufs.denied"])
	if limit := s.Counters["tcp_mem.max"]; limit > 0 && s.Counters["sockstat.TCP.mem"] >= limit {
		c.causes = append(c.causes, cause{TCPMemory, "", 1})
	}
	for _, p := range c.processors {
		if p.Busy > 0.97 && p.Interrupt > 0.5 {
			c.causes = append(c.causes, cause{Processor, fmt.Sprintf("processor %d", p.ID), p.Busy})
		}
	}
}

// listeners finds programs that do not accept in time.
func (c *hostChange) listeners(all []Connection) {
	for i := range all {
		l := &all[i]
		if l.Send > 0 && l.Receive > l.Send {
			c.causes = slices.DeleteFunc(c.causes, func(k cause) bool { return k.limit == AcceptQueue && k.subject == "" })
			c.causes = append(c.causes, cause{AcceptQueue, fmt.Sprintf("port %d", l.Local.Port()), 1})
		}
	}
}
