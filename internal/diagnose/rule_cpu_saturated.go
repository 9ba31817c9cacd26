package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// cpuSaturated finds a host whose cores all have no time left, most of it in
// interrupts.
func cpuSaturated() Rule {
	return Rule{
		ID: "cpu-saturated", Title: "All cores are busy, most of it with packets", Severity: Critical,
		Needs: []string{"sampled processors|all processors"},
		Because: "No setting for a queue or core helps when no core has time left. Less work per " +
			"packet does (filter rules, interrupt moderation, offloads), or a faster machine.",
		Confirm: "The rate stays the same when more clients send.",
		Check: func(in Input) []Finding {
			var idle, interrupt, system float64
			var evidence []facts.Source
			n := 0
			if everyCore(in.Facts) {
				for _, p := range in.Facts.Processors {
					idle, interrupt, system = idle+p.Idle+p.Nice, interrupt+p.Interrupt, system+p.System
					evidence = append(evidence, p.Source)
					n++
				}
			}
			who := counted(n, "core")
			if p := in.Facts.AllProcessors; n == 0 && p != nil {
				idle, interrupt, system, n, who = p.Idle+p.Nice, p.Interrupt, p.System, 1, "all cores"
				evidence = []facts.Source{p.Source}
			}
			all := float64(n)
			// The BSDs count packets as the kernel's time too: task queues, netisr.
			packets := interrupt/all >= 0.4 ||
				in.Facts.System != "linux" && interrupt/all >= 0.2 && (interrupt+system)/all >= 0.8
			// vmstat counts interrupts as the kernel's time; with a disk or a program other columns would be above zero.
			if p := in.Facts.AllProcessors; p != nil && p.Sampled && in.Facts.System != "linux" &&
				(p.Source.From == "vmstat" || p.Source.From == "systat -vm") {
				packets = system/all >= 0.95
			}
			if n == 0 || idle/all > 0.2 || !packets {
				return fullInKernel(in.Facts)
			}
			severity := Critical
			if idle/all > 0.1 {
				severity = Warning
			}
			return with(severity, do("look for what costs time for each packet: interrupt rate, firewall rules, the number of queues",
				one("processor", sample(evidence),
					"%s: %.0f%% in interrupts, %.0f%% in the kernel, %.0f%% idle", who, 100*interrupt/all, 100*system/all,
					100*idle/all)))
		},
		Fires: freebsdExample("top", "CPU 0:  0.0% user,  0.0% nice,  2.7% system, 97.3% interrupt,  0.0% idle\nCPU "+
			"1:  0.0% user,  0.0% nice,  6.0% system, 93.3% interrupt,  0.7% idle\n"),
		Quiet: freebsdExample("top", "CPU 0:  0.0% user,  0.0% nice,  2.7% system, 97.3% interrupt,  0.0% idle\nCPU "+
			"1:  0.0% user,  0.0% nice,  6.0% system,  3.3% interrupt, 90.7% idle\n"),
	}
}

// everyCore reports whether all that the host has were sampled: of those that
// were not shown nothing is known.
func everyCore(f *facts.Facts) bool {
	for i, p := range f.Processors {
		if p.ID != i || !p.Sampled {
			return false
		}
	}
	return len(f.Processors) >= max(f.Cores, 2) || f.Cores == 1 && len(f.Processors) == 1
}

// fullInKernel finds a BSD of which most cores have no time left, nearly all of it the kernel's: the task queues of its
// cards are counted there, and no program or disk was shown that would explain it.
func fullInKernel(f *facts.Facts) []Finding {
	if f.System == "linux" || !everyCore(f) || len(f.Processors) < 2 {
		return nil
	}
	full, kernel := 0, 0.0
	var evidence []facts.Source
	for _, p := range f.Processors {
		kernel += p.System + p.Interrupt
		if p.Idle+p.Nice <= 0.02 {
			full++
			evidence = append(evidence, p.Source)
		}
	}
	n := len(f.Processors)
	if full*4 < 3*n || kernel/float64(n) < 0.8 {
		return nil
	}
	for _, t := range f.Threads {
		if t.Share >= 0.5 && !packetThreadName.MatchString(t.Name) && !strings.HasPrefix(t.Name, "idle") {
			return nil
		}
		if packetThreadName.MatchString(t.Name) && len(evidence) < full+2 {
			evidence = append(evidence, t.Source)
		}
	}
	return with(Warning, do("top -SHP shows which threads they are: kernel{if_io_tqg_N} and the names of cards handle "+
		"packets; less work for each packet (firewall rules, inspection), or a faster machine helps",
		one("processor", sample(evidence), "%d of %d cores have no time left, %.0f%% of all time in the kernel", full, n,
			100*kernel/float64(n))))
}
