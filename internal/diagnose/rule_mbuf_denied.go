package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// mbufDenied finds network memory that was asked for in vain.
func mbufDenied() Rule {
	return Rule{
		ID: "mbuf-denied", Title: "Requests for network memory (mbufs) " +
			"were denied", Systems: onBSD(), Needs: []string{"mbufs|pools"},
		Severity: Critical,
		Because:  "A packet or a socket write that gets no mbuf is dropped or fails; TCP then stalls or retransmits.",
		Confirm:  "netstat -m, repeated under load: the denied counts grow.",
		Check: func(in Input) []Finding {
			pools := map[string][]facts.Pool{}
			for _, p := range in.Facts.Memories {
				if p.Denied > 0 && !strings.HasPrefix(p.Name, "zone ") && !strings.HasPrefix(p.Name, "requests for I/O") {
					limit := poolLimit(in.Facts.System, p.Name)
					pools[limit] = append(pools[limit], p)
				}
			}
			var out []Finding
			for _, limit := range slices.Sorted(maps.Keys(pools)) {
				found := deniedPools(pools[limit], limit)
				if limit == "kern.ipc.nmbjumbo9" || limit == "kern.ipc.nmbjumbo16" {
					found = do("9k and 16k jumbo clusters need contiguous memory, which runs out first: lower the MTU, or make the "+
						"driver use page-sized (4k) clusters", found)
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: freebsdExample("netstat -m", "10/5/15 mbufs in use (current/cache/total)\n900/100/1000/1000 mbuf "+
			"clusters in use (current/cache/total/max)\n0/37/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n"),
		Quiet: openbsdExample("netstat -m", "14 mbufs in use:\n\t10 mbufs allocated to data\n4/40 mbuf 2048 byte "+
			"clusters in use (current/peak)\n0 requests for memory denied\n"),
	}
}

// poolLimit is the setting that bounds a pool of network memory.
func poolLimit(on system.System, pool string) string {
	switch {
	case on == system.OpenBSD:
		return "kern.maxclusters"
	case !strings.Contains(pool, "jumbo"):
		return "kern.ipc.nmbclusters"
	case strings.Contains(pool, "16k"):
		return "kern.ipc.nmbjumbo16"
	case strings.Contains(pool, "9k"):
		return "kern.ipc.nmbjumbo9"
	}
	return "kern.ipc.nmbjumbop"
}

// deniedPools is one finding for pools that share a cause.
func deniedPools(pools []facts.Pool, setting string) []Finding {
	var what []string
	var evidence []facts.Source
	low := false
	for _, p := range pools {
		what = append(what, fmt.Sprintf("%d for %s", p.Denied,
			strings.TrimSuffix(strings.TrimPrefix(p.Name, "requests for "), " denied")))
		if !slices.Contains(evidence, p.Source) {
			evidence = append(evidence, p.Source)
		}
		low = low || p.Limit > 0 && p.Used+p.Cached < p.Limit/10
	}
	if len(what) == 0 {
		return nil
	}
	found := one("network memory", evidence, "requests denied since boot: %s", strings.Join(what, ", "))
	if low {
		return do("the pool is far below its limit now: memory itself was short, and a higher limit does not help; only if "+
			"the pool was fuller before, raise "+setting, found)
	}
	found[0].Fix = append(found[0].Fix, Fix{Setting: setting})
	return found
}
