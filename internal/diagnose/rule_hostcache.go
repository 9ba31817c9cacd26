package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// hostCache finds remembered values that slow new connections down.
func hostCache() Rule {
	return Rule{
		ID: "host-cache-poisoned", Title: "The TCP host cache holds values that slow new connections down",
		Systems: onFreeBSD(), Needs: []string{"host cache"}, Severity: Info,
		Settings: []string{"net.inet.tcp.hostcache.enable"},
		Because: "New connections start with the values of old ones: one bad moment caps slow start for every later " +
			"connection to that peer until the entry expires.",
		Check: func(in Input) (out []Finding) {
			for _, e := range in.Facts.HostCache {
				switch {
				case e.SSThresh > 0 && e.SSThresh < 10*1460:
					out = append(out, one(e.Address, []facts.Source{e.Source},
						"new connections to %s leave slow start at %d bytes", e.Address, e.SSThresh)...)
				case e.MTU > 0 && e.MTU < 576:
					out = append(out, one(e.Address, []facts.Source{e.Source}, "the cached MTU to %s is %d", e.Address, e.MTU)...)
				}
			}
			return out[:min(len(out), 5)]
		},
		Fires: freebsdExample("sysctl net.inet.tcp.hostcache.list", "net.inet.tcp.hostcache.list: \nIP address      "+
			"  MTU  SSTRESH      RTT   RTTVAR     CWND SENDPIPE RECVPIPE HITS  UPD  EXP\n192.0.2.1           0     "+
			"4500      0ms      0ms    18956        0        0    0    1 3600\n"),
		Quiet: freebsdExample("sysctl net.inet.tcp.hostcache.list", "net.inet.tcp.hostcache.list: \nIP address      "+
			"  MTU  SSTRESH      RTT   RTTVAR     CWND SENDPIPE RECVPIPE HITS  UPD  EXP\n192.0.2.1           0   "+
			"450000      0ms      0ms    18956        0        0    0    1 3600\n"),
	}
}
