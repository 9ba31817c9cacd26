package workload

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/host"
)

// CPU is how busy a host's processors were.
type CPU struct {
	Busy    float64 `json:"busy"`    // all cores together, 0 to 1
	Busiest float64 `json:"busiest"` // the busiest core, 0 to 1
	SoftIRQ float64 `json:"softirq"` // of all cores, in interrupts and softirq
}

// coreTicks are one core's counters of /proc/stat, in ticks.
type coreTicks struct{ total, idle, softirq float64 }

type cpuSample map[string]coreTicks

type cpuSamples struct{ client, server cpuSample }

// sampleBoth reads the processors' counters; hosts without /proc/stat give none.
func sampleBoth(ctx context.Context, p Pair) cpuSamples {
	return cpuSamples{sampleCPU(ctx, p.Client), sampleCPU(ctx, p.Server)}
}

func sampleCPU(ctx context.Context, c host.Conn) cpuSample {
	data, err := host.ReadFile(ctx, c, "/proc/stat")
	if err != nil {
		return nil
	}
	return parseStat(data)
}

// parseStat reads the cpu lines of /proc/stat (proc_stat(5)): user, nice,
// system, idle, iowait, irq, softirq, steal.
func parseStat(data []byte) cpuSample {
	sample := cpuSample{}
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) < 8 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		var t coreTicks
		for i, f := range fields[1:min(len(fields), 9)] {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil
			}
			t.total += v
			switch i {
			case 3, 4:
				t.idle += v
			case 5, 6:
				t.softirq += v
			}
		}
		sample[fields[0]] = t
	}
	return sample
}

func (s cpuSamples) since(later cpuSamples) (client, server *CPU) {
	return s.client.since(later.client), s.server.since(later.server)
}

func (s cpuSample) since(later cpuSample) *CPU {
	all, ok := later["cpu"]
	if s == nil || !ok || all.total <= s["cpu"].total {
		return nil
	}
	span := all.total - s["cpu"].total
	cpu := &CPU{Busy: share(span-(all.idle-s["cpu"].idle), span), SoftIRQ: share(all.softirq-s["cpu"].softirq, span)}
	for name, t := range later {
		if total := t.total - s[name].total; name != "cpu" && total > 0 {
			cpu.Busiest = max(cpu.Busiest, share(total-(t.idle-s[name].idle), total))
		}
	}
	return cpu
}

func share(part, whole float64) float64 { return min(max(part/whole, 0), 1) }
