package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// socketsNearLimit finds sockets, or connections that no program holds any more, near their limit.
func socketsNearLimit() Rule {
	return Rule{
		ID: "sockets-near-limit", Title: "Sockets or orphaned connections are near their limit", Severity: Warning,
		Systems: []string{"linux", "freebsd"}, Needs: []string{"freebsd:settings", "linux:settings", "linux:sockets"},
		Because: "At the limit, closed connections with undelivered data are reset (from a quarter of the limit " +
			"on, if they seem stuck).",
		Confirm: "During the problem the number is at the limit, or the kernel log says so.",
		Check: func(in Input) []Finding {
			f := in.Facts
			if f.System == "freebsd" {
				used, src, ok := setting(f, "kern.ipc.numopensockets")
				limit, src2, ok2 := setting(f, "kern.ipc.maxsockets")
				if !ok || !ok2 {
					return nil
				}
				found := nearLimit("sockets", float64(used), float64(limit), src, src2)
				for i := range found {
					found[i].Because = "At the limit the kernel refuses new sockets: programs cannot accept or open connections."
				}
				return withFix(Fix{Setting: "kern.ipc.maxsockets", Formula: "twice the number of sockets at peak load"}, found)
			}
			orphans, ok := f.Counter("sockstat.TCP.orphan")
			limit, src, ok2 := setting(f, "net.ipv4.tcp_max_orphans")
			if !ok || !ok2 {
				return nil
			}
			found := nearLimit("orphaned connections", float64(orphans.Value), float64(limit), orphans.Source, src)
			return withFix(Fix{Setting: "net.ipv4.tcp_max_orphans", Formula: "four times the number of orphans at peak load, 64 " +
				"KiB of memory each"}, found)
		},
		Fires: freebsdExample("sysctl -a", "kern.ipc.numopensockets: 130944\nkern.ipc.maxsockets: 131072\n"),
		Quiet: linuxExample("/proc/net/sockstat", "TCP: inuse 4 orphan 7 tw 4 alloc 17 mem 3\n", "sysctl -a",
			"net.ipv4.tcp_max_orphans = 65536\n"),
	}
}

// nearLimit finds a number at 90% of its limit or above; from 98% on it is critical.
func nearLimit(what string, used, limit float64, evidence ...facts.Source) []Finding {
	if limit <= 0 || used < 0.9*limit {
		return nil
	}
	s := Warning
	if used >= 0.98*limit {
		s = Critical
	}
	return with(s, one(what, evidence, "%.0f of %.0f in use", used, limit))
}
