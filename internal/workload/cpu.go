package workload

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
)

// CPU is how busy a host's processors were. Time of the class nice is not
// busy: it is work that yields to everything else, such as the spinners that
// keep virtual processors awake.
type CPU struct {
	Busy    float64 `json:"busy"`    // all cores together, 0 to 1
	Busiest float64 `json:"busiest"` // the busiest core, 0 to 1
	SoftIRQ float64 `json:"softirq"` // of all cores, in interrupts and softirq
	Nice    float64 `json:"nice"`    // of all cores, in programs of lowered priority; not in Busy
	// Shared is that client and server run on the same processors, those of a
	// machine with namespaces; Own is then the part of all cores that the host's own
	// programs used, and Link what this one used, which emulates the lab's links; 0
	// where that is not known.
	Shared bool    `json:"shared,omitempty"`
	Own    float64 `json:"own,omitempty"`
	Link   float64 `json:"link,omitempty"`
	Cores  []Core  `json:"cores,omitempty"`
}

// Core is what one processor did, as shares of the run's time.
type Core struct {
	Name    string  `json:"name"`
	User    float64 `json:"user"`
	Nice    float64 `json:"nice"`
	System  float64 `json:"system"`
	IRQ     float64 `json:"irq"`
	SoftIRQ float64 `json:"softirq"`
	Steal   float64 `json:"steal"`
	Idle    float64 `json:"idle"` // waiting for disks included
}

// coreTicks are one core's counters of /proc/stat, in ticks.
type coreTicks struct {
	total, free, softirq float64    // free: idle, waiting for disks, nice
	kinds                [8]float64 // as /proc/stat orders them
}

type cpuSample map[string]coreTicks

// parseStat reads the cpu lines of /proc/stat; nil when they cannot be read.
func parseStat(text string) cpuSample {
	all, err := kerneltext.Stat(text)
	if err != nil {
		return nil
	}
	sample := cpuSample{}
	for _, c := range all {
		var t coreTicks
		for i, ticks := range c.Ticks {
			v := float64(ticks)
			t.total += v
			t.kinds[i] = v
			switch i {
			case 1, 3, 4:
				t.free += v
			case 5, 6:
				t.softirq += v
			}
		}
		name := "cpu"
		if c.ID != kerneltext.AllCPUs {
			name += strconv.Itoa(c.ID)
		}
		sample[name] = t
	}
	return sample
}

func (s cpuSample) since(later cpuSample) *CPU {
	all, ok := later["cpu"]
	if s == nil || !ok || all.total <= s["cpu"].total {
		return nil
	}
	span := all.total - s["cpu"].total
	cpu := &CPU{Busy: share(span-(all.free-s["cpu"].free), span),
		SoftIRQ: share(all.softirq-s["cpu"].softirq, span), Nice: share(all.kinds[1]-s["cpu"].kinds[1], span)}
	for name, t := range later {
		if total := t.total - s[name].total; name != "cpu" && total > 0 {
			cpu.Busiest = max(cpu.Busiest, share(total-(t.free-s[name].free), total))
			cpu.Cores = append(cpu.Cores, s[name].core(name, t, total))
		}
	}
	slices.SortFunc(cpu.Cores, func(a, b Core) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return cpu
}

// cpuUntil is what the processors did until a later reading.
func (s snapshot) cpuUntil(later snapshot, shared bool) *CPU {
	c := s.cpu.since(later.cpu)
	if c == nil {
		return nil
	}
	c.Shared = shared
	if s.own >= 0 && later.own >= s.own {
		span := later.cpu["cpu"].total - s.cpu["cpu"].total
		c.Own, c.Link = share(float64(later.own-s.own), span), share(float64(later.link-s.link), span)
	}
	return c
}

// ownProcesses prints the times of the processes of a PID namespace, where /proc is
// that namespace's: a process then finds itself in it by its own number.
const ownProcesses = `read -r own rest </proc/self/stat && [ "$own" = $$ ] && cat /proc/[0-9]*/stat 2>/dev/null; true`

// ownTicks adds up the ticks of processes and of those that they waited for, as
// /proc/PID/stat has them (proc_pid_stat(5)); -1 where there are none.
func ownTicks(text string) int64 {
	sum := int64(-1)
	for line := range strings.Lines(text) {
		// A program's name may hold anything, and ends with the last parenthesis.
		f := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
		if len(f) < 15 {
			continue
		}
		for _, ticks := range f[11:15] { // utime, stime, cutime, cstime
			n, err := strconv.ParseInt(ticks, 10, 64)
			if err != nil {
				return -1
			}
			sum = max(sum, 0) + n
		}
	}
	return sum
}

func (t coreTicks) core(name string, later coreTicks, span float64) Core {
	of := func(kinds ...int) (sum float64) {
		for _, k := range kinds {
			sum += share(later.kinds[k]-t.kinds[k], span)
		}
		return min(sum, 1)
	}
	return Core{Name: name, User: of(0), Nice: of(1), System: of(2), IRQ: of(5), SoftIRQ: of(6), Steal: of(7),
		Idle: of(3, 4)}
}

func share(part, whole float64) float64 { return min(max(part/whole, 0), 1) }

// steal is the share of all cores' time that the hypervisor gave to others.
func (c *CPU) steal() float64 {
	if c == nil || len(c.Cores) == 0 {
		return 0
	}
	sum := 0.0
	for _, core := range c.Cores {
		sum += core.Steal
	}
	return sum / float64(len(c.Cores))
}
