package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// hyperThreading finds more queues than real cores.
func hyperThreading() Rule {
	return Rule{
		ID: "queue-per-thread", Title: "There are more queues than real cores", Systems: onLinux(),
		Needs: []string{"processor", "channels *"}, Severity: Info,
		Settings: []string{"ethtool:channels/combined"},
		Because:  "Two queues on the two hyper-threads of one core share that core: they add interrupts but little capacity.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				threads := in.Facts.ThreadsPerCore
				if threads < 2 || n.Queues.Combined <= in.Facts.Cores/threads {
					continue
				}
				out = append(out, one(n.Name, []facts.Source{n.Shown["ethtool:channels/combined"]},
					"%d queues on %d cores of %d threads each", n.Queues.Combined, in.Facts.Cores/threads, threads)...)
			}
			return out
		},
		Fires: htExample(4),
		Quiet: htExample(2),
	}
}

func htExample(queues int) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0),
		"/proc/cpuinfo", "processor\t: 0\nphysical id\t: 0\ncore id\t: 0\n\nprocessor\t: 1\nphysical id\t: 0\ncore "+
			"id\t: 0\n\nprocessor\t: 2\nphysical id\t: 0\ncore id\t: 1\n\nprocessor\t: 3\nphysical id\t: 0\ncore id\t: 1\n",
		"ethtool -l eth0", fmt.Sprintf("Channel parameters for eth0:\nPre-set maximums:\nCombined:\t8\nCurrent "+
			"hardware settings:\nCombined:\t%d\n", queues))
}
