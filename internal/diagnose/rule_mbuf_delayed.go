package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// mbufDelayed finds requests for network memory that had to wait.
func mbufDelayed() Rule {
	return Rule{
		ID: "mbuf-delayed", Title: "Requests for network memory (mbufs) were delayed", Systems: onBSD(),
		Needs: []string{"mbufs"}, Severity: Warning,
		Settings: []string{"kern.ipc.nmbclusters"},
		Because:  "A program that waits for network memory sends nothing meanwhile; the pool was exhausted at that moment.",
		Check: func(in Input) (out []Finding) {
			for _, p := range in.Facts.Memories {
				if p.Delayed > 0 {
					out = append(out, one(p.Name, []facts.Source{p.Source}, "%d %s since boot", p.Delayed, p.Name)...)
				}
			}
			return out
		},
		Fires: freebsdExample("netstat -m", "0/12/0 requests for mbufs delayed (mbufs/clusters/mbuf+clusters)\n"),
		Quiet: freebsdExample("netstat -m", "0/0/0 requests for mbufs delayed (mbufs/clusters/mbuf+clusters)\n"),
	}
}
