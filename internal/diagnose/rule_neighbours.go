package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// neighboursFull finds a neighbour table that overflowed.
func neighboursFull() Rule {
	return Rule{
		ID: "neighbour-table-full", Title: "The neighbour table overflowed or is nearly full", Systems: onLinux(),
		Needs:    []string{"settings|messages|neighbour statistics", "neighbours|messages|neighbour statistics"},
		Severity: Critical,
		Because:  "A neighbour without an entry is unreachable: connections on the local network fail at random.",
		Check: func(in Input) []Finding {
			found := fullNeighbours(in.Facts)
			for i := range found {
				found[i].Fix = []Fix{{Setting: "net.ipv4.neigh.default.gc_thresh3"}}
				if ofIPv6.MatchString(found[i].Evidence[0].Text) {
					found[i].Fix[0].Setting = "net.ipv6.neigh.default.gc_thresh3"
				}
			}
			return found
		},
		Fires: linuxExample("sysctl -a", "net.ipv4.neigh.default.gc_thresh3 = 1024\n", "ip neigh show",
			"192.0.2.1 dev eth0 lladdr 02:00:00:00:00:01 REACHABLE\n",
			"dmesg", "[ 1234.5] neighbour: arp_cache: neighbor table overflow!\n"),
		Quiet: linuxExample("sysctl -a", "net.ipv4.neigh.default.gc_thresh3 = 1024\n", "ip neigh show",
			"192.0.2.1 dev eth0 lladdr 02:00:00:00:00:01 REACHABLE\n"),
	}
}

func fullNeighbours(f *facts.Facts) []Finding {
	for _, words := range [][]string{{"neigh", "table overflow"}, {"ndisc_cache", "table overflow"}} {
		if lines, n := logged(f, words...); n > 0 {
			return one("neighbours", lines, "the kernel reported a neighbour table overflow (%s)", counted(n, "line"))
		}
	}
	if full := f.Counters["arp_cache.table_fulls"]; full.Value > 0 {
		return with(Warning, one("neighbours", []facts.Source{full.Source},
			"the table was full %d times since boot", full.Value))
	}
	limit, src, ok := setting(f, "net.ipv4.neigh.default.gc_thresh3")
	var four int64
	for _, n := range f.Neighbours {
		if !strings.Contains(n.Address, ":") {
			four++
		}
	}
	if n := f.Counters["neighbours.counted"]; ok && limit > 0 && float64(n.Value) >= 0.8*float64(limit) {
		return one("neighbours", []facts.Source{n.Source, src}, "%d neighbours, the limit is %d", n.Value, limit)
	}
	if !ok || limit <= 0 || float64(four) < 0.8*float64(limit) {
		return nil
	}
	return one("neighbours", []facts.Source{src}, "%d IPv4 neighbours, the limit is %d", four, limit)
}

// ofIPv6 is the table of IPv6's neighbours in the kernel's message (net/ipv6/route.c, net/ipv6/ndisc.c).
var ofIPv6 = regexp.MustCompile(`\bIPv6: [nN]eigh|\bndisc_cache\b`)
