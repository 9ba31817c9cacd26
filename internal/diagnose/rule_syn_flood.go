package diagnose

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// synFlood finds the kernel's report of a SYN flood.
func synFlood() Rule {
	return Rule{
		ID: "syn-flooding", Title: "The kernel reported a possible SYN flood on a port", Systems: onLinux(),
		Needs: []string{"messages"}, Severity: Warning,
		Because: "The port's SYN queue was full: an attack, or more clients than the backlog holds.",
		Check: func(in Input) []Finding {
			if lines, n := matching(in.Facts, refusedOpen); n > 0 {
				return refusedOpens(lines, n)
			}
			m, ok := in.Facts.Message("possible syn flooding")
			// The kernel's log is that of all namespaces, the counters are this one's.
			if c, known := in.Facts.Counter("TcpExt.SyncookiesSent"); !ok || known && c.Value+total(in.Facts,
				"TcpExt.TCPReqQFullDrop") == 0 {
				return nil
			}
			found := one("half-open connections", []facts.Source{m.Source}, "%s", m.Text)
			if lines, n := matching(in.Facts, floodedPort); n > 0 {
				found = floodedPorts(in.Facts, lines, n)
			}
			found[0].Fix = floodFixes(in.Facts)
			return found
		},
		Fires: linuxExample("dmesg", "[ 99.1] TCP: request_sock_TCP: Possible SYN flooding on port 443. Sending cookies.\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] e1000e 0000:00:19.0 eth0: NIC Link is Up\n"),
	}
}

// refusedOpen is what the kernel says of a SYN that it drops because three quarters of net.ipv4.tcp_max_syn_backlog are
// in use (net/ipv4/tcp_input.c, tcp_conn_request): only where it sends no SYN cookies.
var refusedOpen = regexp.MustCompile(`(?i)\bdrop open request from `)

func refusedOpens(lines []facts.Source, n int) []Finding {
	found := one("half-open connections", lines, "the SYN queue was full: the kernel dropped new connections (%s)", counted(n, "message"))
	found[0].Because = "SYN cookies are disabled, and three quarters of net.ipv4.tcp_max_syn_backlog were in use, " +
		"because of an attack or more clients than the queue can hold. Clients retry after 1 s, 3 s and 7 s."
	found[0].Fix = []Fix{{Setting: "net.ipv4.tcp_syncookies", Value: "1"}, {Setting: "net.ipv4.tcp_max_syn_backlog"}}
	found[0].Confirm = "The messages stop, and ss -tn state syn-recv shows fewer half-open connections than the limit."
	return found
}

// floodedPorts names the port that most of the lines report.
func floodedPorts(f *facts.Facts, lines []facts.Source, n int) []Finding {
	ports := map[string]int{}
	for _, line := range f.Lines("dmesg") {
		if port := floodedPort.FindStringSubmatch(line); port != nil {
			ports[port[1]]++
		}
	}
	most := slices.MaxFunc(slices.Sorted(maps.Keys(ports)), func(a, b string) int { return ports[a] - ports[b] })
	said := "the kernel reported a possible SYN flood in " + counted(n, "line")
	if len(ports) > 1 {
		said += fmt.Sprintf(", %d of them for this port", ports[most])
	}
	return one("port "+most, lines, "%s", said)
}

// floodedPort is the port in such a line; newer kernels name the address before it.
var floodedPort = regexp.MustCompile(`(?i)possible SYN flooding on port (?:\S+:)?(\d{1,5})\b`)
