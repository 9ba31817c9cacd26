package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// netisrThread finds all protocol work queued to one netisr thread.
func netisrThread() Rule {
	return Rule{
		ID: "one-netisr-thread", Title: "One netisr thread does all the deferred protocol processing", Systems: onFreeBSD(),
		Needs: []string{"netisr"}, Severity: Warning,
		Settings: []string{"net.isr.maxthreads", "net.isr.bindthreads"},
		Because:  "With deferred dispatch every packet goes through a netisr thread; a single thread means a single core.",
		Check: func(in Input) []Finding {
			streams := map[int]uint64{}
			var queued, handled uint64
			var busiest facts.NetISR
			for _, w := range in.Facts.NetISR {
				streams[w.CPU] += w.Queued
				queued, handled = queued+w.Queued, handled+w.Handled
				if w.Queued > busiest.Queued {
					busiest = w
				}
			}
			if in.Facts.Cores < 2 || queued < 1_000_000 || queued*2 < handled ||
				float64(streams[busiest.CPU]) < 0.95*float64(queued) {
				return nil
			}
			return one("netisr", []facts.Source{busiest.Source}, "CPU %d handled %.0f%% of the %d queued packets, on %d cores",
				busiest.CPU, 100*float64(streams[busiest.CPU])/float64(queued), queued, in.Facts.Cores)
		},
		Fires: freebsdExample("sysctl -a", "hw.ncpu: 8\n", "netstat -Q", netisrTable(0, 9000000, 9100000)),
		Quiet: freebsdExample("sysctl -a", "hw.ncpu: 8\n", "netstat -Q", netisrTable(0, 900, 9100000)),
	}
}
