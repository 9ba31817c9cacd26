package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// zoneFailures finds FreeBSD's object zones that could not give.
func zoneFailures() Rule {
	return Rule{
		ID: "zone-failures", Title: "A network memory zone (UMA or pool) was exhausted", Systems: onBSD(),
		Needs: []string{"freebsd:zones", "openbsd:pools"}, Severity: Warning,
		Because: "Connections, states or packets that get no object from their zone are refused or dropped.",
		Check: func(in Input) (out []Finding) {
			for _, p := range in.Facts.Memories {
				name, zone := strings.CutPrefix(p.Name, "zone ")
				lower := strings.ToLower(name)
				if !zone || p.Denied == 0 || !slices.ContainsFunc([]string{"mbuf", "tcp", "socket", "syncache", "udp",
					"pf ", "pfstate", "ipfw", "netgraph", "sackhole", "hostcache", "tw"},
					func(s string) bool { return strings.Contains(lower, s) }) {
					continue
				}
				if strings.HasPrefix(lower, "pfstate") && len(counters(in.Facts, "pf.memory")) > 0 {
					continue // the same refusals, which pf-states-near-full names with their limit
				}
				action, limit := "raise the zone's limit", fmt.Sprintf(", limit %d", p.Limit)
				switch {
				case in.Facts.System == "openbsd" && strings.HasPrefix(lower, "pf"):
					action, limit = "compare with pfctl -sm, and raise its limit in /etc/pf.conf (set limit)", ""
				case in.Facts.System == "openbsd": // the table does not show limits
					action, limit = "check free pages with vmstat -s and top: the pool was at its limit, or memory was short", ""
				case p.Limit == 0:
					action = "add memory or find what uses it: the zone has no limit of its own, so physical memory was short"
				}
				s := Warning
				if strings.HasPrefix(lower, "mbuf") && p.Limit > 0 && float64(p.Used) >= 0.98*float64(p.Limit) {
					s = Critical // it is full now
				}
				fix := Fix{Action: action}
				if limit := zoneLimit(lower); p.Limit > 0 && in.Facts.System == "freebsd" && limit != "" {
					fix = Fix{Setting: limit}
				}
				out = append(out, withFix(fix, with(s, one(name, []facts.Source{p.Source}, "%d requests failed since boot, %d in "+
					"use%s", p.Denied, p.Used, limit)))...)
			}
			return out
		},
		Fires: freebsdExample("vmstat -z", "ITEM                   SIZE  LIMIT     USED     FREE      REQ     FAIL "+
			"SLEEP\n\ntcpcb:                1096,  1000,     998,       2,   91234,      17,   0\n"),
		Quiet: freebsdExample("vmstat -z", "ITEM                   SIZE  LIMIT     USED     FREE      REQ     FAIL "+
			"SLEEP\n\ntcpcb:                1096,  1000,      98,     102,   91234,       0,   0\nUMA Kegs:         "+
			"     384,      0,     110,       6,     110,       3,   0\n"),
	}
}

// zoneLimit is the setting that bounds a zone of FreeBSD (sys/kern/kern_mbuf.c, sys/kern/uipc_socket.c, sys/netinet).
func zoneLimit(zone string) string {
	switch zone {
	case "mbuf":
		return "kern.ipc.nmbufs"
	case "socket", "tcpcb", "tcp_inpcb", "udp_inpcb", "udpcb", "unpcb", "inpcb":
		return "kern.ipc.maxsockets"
	case "tcptw":
		return "net.inet.tcp.maxtcptw"
	case "syncache":
		return "net.inet.tcp.syncache.cachelimit"
	case "pf states", "pf state keys":
		return "pf:set/limit/states"
	case "pf source nodes", "pf src nodes":
		return "pf:set/limit/src-nodes"
	case "netgraph items":
		return "net.graph.maxalloc"
	case "netgraph data items":
		return "net.graph.maxdata"
	}
	if strings.HasPrefix(zone, "mbuf_") {
		return poolLimit(system.FreeBSD, strings.Replace(zone, "mbuf_jumbo", "jumbo", 1))
	}
	return ""
}
