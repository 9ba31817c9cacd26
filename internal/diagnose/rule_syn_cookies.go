package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// synCookies finds SYN queues that overflowed.
func synCookies() Rule {
	return Rule{
		ID: "syn-queue-overflow", Title: "The queue of half-open connections overflowed",
		Systems: []string{"linux", "freebsd"}, Needs: []string{"counters"}, Severity: Warning,
		Because: "Connections that are answered with a cookie, or whose SYN is dropped, lose options or wait a " +
			"second and more for a retry.",
		Check: func(in Input) []Finding {
			f := in.Facts
			// FreeBSD computes a cookie for every answer: those sent are no sign
			// of trouble, those that come back are.
			names := []string{"TcpExt.TCPReqQFullDrop", "TcpExt.TCPReqQFullDoCookies", "TcpExt.SyncookiesSent"}
			if always, ok := f.Integer("net.ipv4.tcp_syncookies"); ok && always == 2 {
				names = names[:1] // cookies are sent whatever the queue
			}
			found := counters(f, append(names,
				"tcp.syncache_entry_added.bucket_overflow", "tcp.syncache_entry_added.cache_overflow", "tcp.cookie_received")...)
			if len(found) == 0 {
				return dropsAlone(f)
			}
			s := graded(found[0], max(total(f, "Tcp.PassiveOpens"), total(f, "TcpExt.TW"))+total(f, "tcp.syncache_entry_added"),
				Warning)
			out := with(s, one("half-open connections", sources(found),
				"the queue of half-open connections overflowed: %s", strings.TrimSpace(found[0].Source.Text)))
			out[0].Fix = []Fix{{Setting: map[system.System]string{"linux": "net.ipv4.tcp_max_syn_backlog",
				"freebsd": "net.inet.tcp.syncache.hashsize"}[f.System]},
				{Action: "more arrivals than the host can accept may also be an attack: look at the sources of the SYNs"}}
			return out
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: SyncookiesSent TCPReqQFullDoCookies "+
			"TCPReqQFullDrop\nTcpExt: 90 90 4\n"),
		Quiet: freebsdExample("netstat -s", "tcp:\n\t675 syncache entries added\n\t\t0 bucket overflow\n\t\t0 cache "+
			"overflow\n\t675 cookies sent\n\t0 cookies received\n"),
	}
}

// dropsAlone finds SYNs that listening sockets dropped although no accept queue
// was full: Linux counts those in both.
func dropsAlone(f *facts.Facts) []Finding {
	drops, ok := f.Counters["TcpExt.ListenDrops"]
	if overflows := total(f, "TcpExt.ListenOverflows"); !ok || overflows > 0 || drops.Value < 100 {
		return nil
	}
	found := with(graded(drops, total(f, "Tcp.PassiveOpens"), Warning),
		one("half-open connections", []facts.Source{drops.Source}, "listening sockets dropped SYNs, and nothing "+
			"shows that an accept queue was full: %s", happened(drops)))
	found[0].Fix = []Fix{{Setting: "net.ipv4.tcp_max_syn_backlog"}, {Action: "look whether connections pile up in " +
		"SYN-RECV (ss -tn state syn-recv)"}}
	return found
}
