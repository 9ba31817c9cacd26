package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// cpuStolen finds a virtual machine that waits for a real processor.
func cpuStolen() Rule {
	return Rule{
		ID: "cpu-stolen", Title: "The hypervisor gives this virtual machine too little CPU time", Severity: Info,
		Systems: onLinux(), Needs: []string{"sampled processors|all processors"},
		Because: "While a virtual CPU waits to run, packets wait or are dropped; no setting in the guest can change that.",
		Check: func(in Input) []Finding {
			var stolen float64
			var evidence []facts.Source
			n := 0
			for _, p := range in.Facts.Processors {
				if p.Sampled {
					stolen += missed(p)
					evidence = append(evidence, p.Source)
					n++
				}
			}
			if all := in.Facts.AllProcessors; n == 0 && all != nil && all.Sampled {
				stolen, evidence, n = missed(*all), append(evidence, all.Source), 1
			}
			if n == 0 || stolen/float64(n) < 0.1 {
				return nil
			}
			found := do("ask the provider, or move the virtual machine to a host with free CPUs",
				one("CPU", sample(evidence),
					"%.0f%% of the CPU time was stolen (steal) while observed", 100*stolen/float64(n)))
			if (strings.HasPrefix(evidence[0].From, "mpstat") || evidence[0].From == "top" || evidence[0].From == "vmstat") && stolen/float64(n) >= 0.3 {
				found = with(Warning, found)
			}
			return found
		},
		Fires: linuxExample("/proc/stat", "cpu0 100 0 100 1000 0 0 100 0\n", "second sample",
			"==> /proc/stat <==\ncpu0 150 0 150 1100 0 0 150 200\n"),
		Quiet: linuxExample("/proc/stat", "cpu0 100 0 100 1000 0 0 100 0\n", "second sample",
			"==> /proc/stat <==\ncpu0 150 0 150 1500 0 0 150 10\n"),
	}
}

// missed is the part of the stolen time that somebody missed: a program of nice
// value 19 that only keeps the processor awake is robbed as well, in proportion.
func missed(p facts.Processor) float64 {
	work := p.User + p.System + p.Interrupt
	if p.Nice == 0 || work+p.Nice == 0 {
		return p.Stolen
	}
	return p.Stolen * work / (work + p.Nice)
}
