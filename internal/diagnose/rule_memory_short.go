package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// memoryShort finds hosts whose memory is so short that programs wait for it: sar -B and -W of sysstat show the pages that the
// kernel looked at in the search of free ones (pgscank by kswapd, pgscand by the programs themselves) and those that it read
// back from swap.
func memoryShort() Rule {
	return Rule{
		ID: "memory-short", Title: "Memory is short, and programs stall on it", Systems: onLinux(),
		Needs:    []string{"activity|memory pressure|virtual memory|memory in use"},
		Severity: Warning,
		Because: "While the kernel reclaims pages, programs and packet reception wait: connections stall, health checks time " +
			"out, and network buffer allocations fail.",
		Confirm: "free -m shows little available, and vmstat 1 shows si and so above 0 while it is slow.",
		Check: func(in Input) []Finding {
			const byPrograms, aside, swapped = 1000, 100_000, 1000 // pages a second: 4, 400 and 4 MB
			rate := func(name string) float64 {
				if c := in.Facts.Counters[name]; c.Rate != nil {
					return *c.Rate
				}
				return 0
			}
			for _, c := range []struct {
				name  string
				least float64
				what  string
			}{{"VM.ScannedByPrograms", byPrograms, "programs that allocate memory had to scan %.0f pages/s (direct reclaim)"},
				{"VM.SwappedIn", swapped, "%.0f pages/s were read back from swap"},
				{"VM.ScannedAside", aside, "the kernel scanned %.0f pages/s for free ones"}} {
				if v := rate(c.name); v >= c.least {
					return do(memoryRemedy, one("memory", []facts.Source{in.Facts.Counters[c.name].Source}, c.what, v))
				}
			}
			const waits = 0.1
			if p := in.Facts.MemoryPressure; p != nil && p.Full >= waits {
				return do(memoryRemedy, one("memory", []facts.Source{p.Source}, "all programs were stalled on memory for %s%% of "+
					"the last minute", units.Digits(100*p.Full, 3)))
			}
			const least, full = 0.03, 0.8
			const enough = 2 * units.GiB // however large the memory is: huge pages may take most of it
			if m := in.Facts.FreeMemory; m != nil && m.Available < least && m.Available*float64(in.Facts.Memory) < float64(enough) && (!m.HasSwap || m.Swapped >= full) {
				found := one("memory", []facts.Source{m.Source}, "only %s of it is available", percent(m.Available))
				if m.HasSwap {
					found[0].Summary += fmt.Sprintf(", and swap is %.0f%% used", 100*m.Swapped)
				}
				return do(memoryRemedy, found)
			}
			return nil
		},
		Fires: linuxExample("sar", pagingExample("2328.18")),
		Quiet: linuxExample("sar", pagingExample("0.00")),
	}
}

const memoryRemedy = "find what uses the memory (ps aux --sort -rss), limit it or add memory; a larger " +
	"vm.min_free_kbytes keeps more free for packet bursts"

func pagingExample(direct string) string {
	return "10:00:01 AM  pgpgin/s pgpgout/s   fault/s  majflt/s  pgfree/s pgscank/s pgscand/s pgsteal/s    %vmeff\n" +
		"10:10:01 AM   4011.20    996.10   3619.54      6.13   7933.61      0.00   " + direct + "   2406.23     50.13\n"
}
