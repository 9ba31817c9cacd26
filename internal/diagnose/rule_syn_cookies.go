package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// synCookies finds SYN queues that overflowed.
func synCookies() Rule {
	return Rule{
		ID: "syn-queue-overflow", Title: "The SYN queue (half-open connections) overflowed",
		Systems: []string{"linux", "freebsd"}, Needs: []string{"counters"}, Severity: Warning,
		Because: "Connections answered with a SYN cookie may lose TCP options; dropped SYNs are retried after a second or more.",
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
				"the SYN queue overflowed: %s", strings.TrimSpace(found[0].Source.Text)))
			out[0].Fix = floodFixes(f)
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
		one("half-open connections", []facts.Source{drops.Source}, "listening sockets dropped SYNs, with no sign of a full "+
			"accept queue: %s", happened(drops)))
	found[0].Fix = append(halfOpenFixes(f), Fix{Action: "check whether connections pile up in SYN-RECV (ss -tn state " +
		"syn-recv)"})
	return found
}

// floodFixes are those of a host to which more connections are opened than it takes.
func floodFixes(f *facts.Facts) []Fix {
	return append(halfOpenFixes(f),
		Fix{Action: "check the sources of the SYNs: this may also be an attack"})
}

// halfOpenFixes raise the limit of a listener's half-open connections. Linux bounds them by the listener's own backlog since
// 4.4, and by net.ipv4.tcp_max_syn_backlog only where it sends no SYN cookies (net/ipv4/tcp_input.c, tcp_conn_request).
func halfOpenFixes(f *facts.Facts) []Fix {
	if f.System == system.FreeBSD {
		return []Fix{{Setting: "net.inet.tcp.syncache.hashsize"}}
	}
	fixes := backlogFixes(f)
	v, err := catalog.ParseVersion(f.Release)
	if cookies, known := f.Integer("net.ipv4.tcp_syncookies"); known && cookies == 0 ||
		err == nil && v != "" && !v.AtLeast("4.4") {
		fixes = append(fixes, Fix{Setting: "net.ipv4.tcp_max_syn_backlog"})
	}
	return fixes
}

// backlogFixes raise the backlog of listening sockets: what the kernel allows, where that may be the limit, and what
// their programs ask for.
func backlogFixes(f *facts.Facts) []Fix {
	const ample = 4096 // the default since Linux 5.4, above what programs ask for by themselves
	setting := map[system.System]string{system.Linux: "net.core.somaxconn", system.FreeBSD: "kern.ipc.soacceptqueue"}[f.System]
	limit, known := f.Integer(setting)
	if programsBacklog(f) || known && limit >= ample {
		return []Fix{{Action: fmt.Sprintf("raise the backlog that the program passes to listen(), in its configuration, and "+
			"restart it (the kernel allows %d), or accept faster", limit)}}
	}
	return []Fix{{Setting: setting}, {Action: "raise the backlog that the program passes to listen(), or accept faster"}}
}
