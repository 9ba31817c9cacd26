package diagnose

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// mbufNearLimit finds cluster pools that are nearly used up.
func mbufNearLimit() Rule {
	return Rule{
		ID: "mbuf-near-limit", Title: "Mbuf clusters are near their limit", Systems: onBSD(), Needs: []string{"mbufs"},
		Severity: Warning,
		Because:  "At the limit, requests are denied and packets are dropped.",
		Confirm:  "netstat -m at peak load shows use at the limit, or denied requests.",
		Check: func(in Input) (out []Finding) {
			for _, p := range in.Facts.Memories {
				if p.Limit > 0 && !strings.HasPrefix(p.Name, "zone ") && float64(p.Used) > 0.8*float64(p.Limit) {
					out = append(out, withFix(Fix{Setting: poolLimit(in.Facts.System, p.Name)}, one(p.Name,
						[]facts.Source{cmp.Or(p.InUse, p.Source)}, "%d of %d in use (%.0f%%)", p.Used, p.Limit,
						100*float64(p.Used)/float64(p.Limit)))...)
				}
			}
			return append(out, mbufsWithoutClusters(in.Facts)...)
		},
		Fires: freebsdExample("netstat -m", "10/5/15 mbufs in use (current/cache/total)\n950/50/1000/1000 mbuf "+
			"clusters in use (current/cache/total/max)\n"),
		Quiet: openbsdExample("netstat -m", "10/50 mbuf 2048 byte clusters in use (current/peak)\n100/300/524288 "+
			"Kbytes allocated to network (current/peak/max)\n"),
	}
}

// mbufsWithoutClusters finds far more mbufs in use than clusters: small packets that nobody takes, or that nobody frees.
// What sendfile(2) sends looks the same, so it is a hint.
func mbufsWithoutClusters(f *facts.Facts) []Finding {
	const many, perCluster = 200_000, 50
	mbufs, clusters := facts.Pool{}, facts.Pool{}
	for _, p := range f.Memories {
		switch p.Name {
		case "mbufs":
			mbufs = p
		case "mbuf clusters":
			clusters = p
		}
	}
	if f.System != "freebsd" || mbufs.Used < many || clusters.Source.From == "" || clusters.Used*perCluster > mbufs.Used {
		return nil
	}
	found := with(Info, do("repeat netstat -m while the host is idle, and compare it with netstat -an (Recv-Q, "+
		"Send-Q) and vmstat -z; if no queue holds the mbufs, they leak: update the system, and remove the driver, "+
		"tunnel or program that was added last",
		one(mbufs.Name, []facts.Source{cmp.Or(mbufs.InUse, mbufs.Source), cmp.Or(clusters.InUse, clusters.Source)},
			"%d in use, but only %d clusters", mbufs.Used, clusters.Used)))
	found[0].Because = "Packets of normal size use a cluster. So many mbufs without one are small packets waiting " +
		"in a queue, pages sent by sendfile, or a leak that will exhaust kernel memory."
	found[0].Confirm = "The number does not drop when the traffic stops, and it grows from day to day."
	return decisive(found)
}
