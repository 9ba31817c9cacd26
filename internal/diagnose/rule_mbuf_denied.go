package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// mbufDenied finds network memory that was asked for in vain.
func mbufDenied() Rule {
	return Rule{
		ID: "mbuf-denied", Title: "Requests for network memory were denied", Systems: onBSD(), Needs: []string{"mbufs"}, Severity: Critical,
		Settings: []string{"kern.ipc.nmbclusters"},
		Because:  "A packet or a socket write that gets no mbuf is dropped or fails; TCP then stalls or retransmits.",
		Confirm:  "netstat -m again under load: the denied counts grow.",
		Check: func(in Input) (out []Finding) {
			for _, p := range in.Facts.Memories {
				if p.Denied == 0 || strings.HasPrefix(p.Name, "zone ") || strings.HasPrefix(p.Name, "requests for I/O") {
					continue
				}
				found := one(p.Name, []facts.Source{p.Source}, "%d requests for %s were denied since boot", p.Denied, strings.TrimPrefix(p.Name, "requests for "))
				if strings.Contains(p.Name, "jumbo") {
					found = do("jumbo clusters need contiguous memory: an MTU of 9000 on a driver that uses 9k clusters runs out first", found)
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: freebsdExample("netstat -m", "10/5/15 mbufs in use (current/cache/total)\n900/100/1000/1000 mbuf clusters in use (current/cache/total/max)\n0/37/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n"),
		Quiet: openbsdExample("netstat -m", "14 mbufs in use:\n\t10 mbufs allocated to data\n4/40 mbuf 2048 byte clusters in use (current/peak)\n0 requests for memory denied\n"),
	}
}
