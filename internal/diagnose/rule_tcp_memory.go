package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// tcpMemory finds TCP's memory near its limits.
func tcpMemory() Rule {
	return Rule{
		ID: "tcp-memory", Title: "TCP is under memory pressure", Systems: onLinux(),
		Needs: []string{"sockets|messages", "settings|messages"}, Severity: Critical,
		Settings: []string{"net.ipv4.tcp_mem"},
		Because: "Above the pressure threshold the kernel shrinks windows and stops growing buffers; above the limit it " +
			"drops data.",
		Check: func(in Input) []Finding {
			f := in.Facts
			mem, ok := f.Triple("net.ipv4.tcp_mem")
			used, has := f.Counter("sockstat.TCP.mem")
			if ok && has && mem[1] > 0 && int64(used.Value) >= mem[1] {
				return one("tcp", []facts.Source{used.Source, f.Settings["net.ipv4.tcp_mem"].Source},
					"TCP uses %d pages, at or above the pressure threshold of %d (limit %d)", used.Value, mem[1], mem[2])
			}
			// The kernel's log is that of all namespaces, the counters are this one's.
			_, counts := f.Counter("TcpExt.TCPAbortOnMemory")
			if lines, n := logged(f, "tcp: out of memory"); n > 0 && !counts {
				return one("tcp", lines, "the kernel reported that TCP was out of memory (%s)", counted(n, "line"))
			}
			found := counters(f, "TcpExt.TCPMemoryPressures", "TcpExt.TCPAbortOnMemory")
			if len(found) == 0 {
				return nil
			}
			s := Info
			if found[0].Rate != nil && *found[0].Rate > 0 {
				s = Critical
			}
			return with(s, one("tcp", sources(found), "TCP was under memory pressure: %s", happened(found[0])))
		},
		Fires: linuxExample("/proc/net/sockstat", "sockets: used 9\nTCP: inuse 4 orphan 0 tw 4 alloc 17 mem 30000\n",
			"sysctl -a", "net.ipv4.tcp_mem = 18000\t24000\t36000\n"),
		Quiet: linuxExample("/proc/net/sockstat", "sockets: used 9\nTCP: inuse 4 orphan 0 tw 4 alloc 17 mem 3\n",
			"sysctl -a", "net.ipv4.tcp_mem = 18000\t24000\t36000\n"),
	}
}
