package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// oneCore finds the interrupts of several queues on a single CPU.
func oneCore() Rule {
	return Rule{
		ID: "interrupts-on-one-core", Title: "The interrupts of all queues go to one core", Systems: onLinux(),
		Needs: []string{"interrupts"}, Severity: Warning,
		Because: "Several queues serve several cores only when their interrupts are spread.",
		Confirm: "That core is busy in softirq while others are idle.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				sums, queues, evidence := queueInterrupts(in.Facts, n.Name)
				if queues < 2 || len(sums) < 2 {
					continue
				}
				var all, most uint64
				core := 0
				for id, v := range sums {
					all += v
					if v > most {
						most, core = v, id
					}
				}
				if all < 10000 || float64(most) < 0.95*float64(all) {
					continue
				}
				out = append(out, do("spread them: start irqbalance, or write one CPU for each queue into "+
					"/proc/irq/*/smp_affinity_list",
					one(n.Name, sample(evidence), "CPU %d took %.0f%% of the interrupts of %d queues", core,
						100*float64(most)/float64(all), queues))...)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/proc/interrupts",
			"       CPU0       CPU1\n 40: 900000          0   PCI-MSI 1-edge      eth0-TxRx-0\n 41: 800000          "+
				"0   PCI-MSI 2-edge      eth0-TxRx-1\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/proc/interrupts",
			"       CPU0       CPU1\n 40: 900000          0   PCI-MSI 1-edge      eth0-TxRx-0\n 41:      0     "+
				"800000   PCI-MSI 2-edge      eth0-TxRx-1\n"),
	}
}

// queueInterrupts adds up the interrupts of an interface's busy queues by CPU,
// over the window when there is one.
func queueInterrupts(f *facts.Facts, nic string) (sums []uint64, queues int, evidence []facts.Source) {
	for _, irq := range f.Interrupts {
		numbers := irq.PerCPU
		if irq.Grown != nil {
			numbers = irq.Grown
		}
		if irq.NIC != nic || !receives(irq.Name) || irq.Total.Value < 100 {
			continue
		}
		if sums == nil {
			sums = make([]uint64, len(numbers))
		}
		for id, v := range numbers {
			if id < len(sums) {
				sums[id] += v
			}
		}
		queues++
		evidence = append(evidence, irq.Total.Source)
	}
	return sums, queues, evidence
}

// receives tells the interrupts of receive queues from those for sending and
// for control.
func receives(name string) bool {
	lower := strings.ToLower(name)
	for _, other := range []string{"config", "async", "output", "pme", ":aq", "mgmt", "-event"} {
		if strings.Contains(lower, other) {
			return false
		}
	}
	return !strings.Contains(lower, "-tx") || strings.Contains(lower, "txrx")
}
