package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// ports finds local ports that run out.
func ports() Rule {
	return Rule{
		ID: "ephemeral-ports", Title: "Connections in TIME_WAIT use up the local ports",
		Needs: []string{"settings|messages", "linux:sockets|messages|flows|socket table", "freebsd:counters|messages"}, Severity: Warning,
		Systems: []string{"linux", "freebsd"},
		Because: "Each outgoing connection to one peer address and port needs its own local port; a closed one holds its port " +
			"for a while.",
		Confirm: "connect() fails with EADDRNOTAVAIL.",
		Check: func(in Input) []Finding {
			f := in.Facts
			waiting, has := f.Counter("sockstat.TCP.tw")
			if f.System == "freebsd" {
				waiting, has = f.Counter("tcp_states.connection_in_time_wait_state")
			}
			size, src, ok := portRange(f)
			if over := f.Counters["TcpExt.TCPTimeWaitOverflow"]; ok && over.Value > 0 && still(over) {
				return one("tcp", []facts.Source{over.Source}, "the TIME_WAIT table was full %d times since boot", over.Value)
			}
			// Where most connections come in, those in TIME_WAIT hold no port of
			// their own.
			incoming, outgoing := total(f, "Tcp.PassiveOpens")+total(f, "tcp.connection_accept"),
				total(f, "Tcp.ActiveOpens")+total(f, "tcp.connection_request")
			if incoming > outgoing {
				return nil
			}
			if !has || !ok || float64(waiting.Value) < 0.5*float64(size) {
				return refusedPorts(f)
			}
			found := one("tcp", []facts.Source{waiting.Source, src}, "%d connections in TIME_WAIT, %d local ports",
				waiting.Value, size)
			found[0].Fix = portFixes(f)
			return found
		},
		Fires: linuxExample("/proc/net/sockstat", "TCP: inuse 4 orphan 0 tw 26000 alloc 17 mem 3\n", "sysctl -a",
			"net.ipv4.ip_local_port_range = 32768\t60999\n"),
		Quiet: linuxExample("/proc/net/sockstat", "TCP: inuse 4 orphan 0 tw 260 alloc 17 mem 3\n", "sysctl -a",
			"net.ipv4.ip_local_port_range = 32768\t60999\n"),
	}
}

// refusedPorts finds what programs say when a connection out found no free local port. The same error of bind(), or
// towards ::1 where IPv6 is off, means an address that the host does not have.
func refusedPorts(f *facts.Facts) []Finding {
	const many = 10000 // a third of Linux' default range
	waiting := f.Counters["sockstat.TCP.tw"]
	lines, n := logLines(f, func(line string) bool {
		lower := strings.ToLower(line)
		if waiting.Value >= many && strings.Contains(lower, "assign requested address") {
			return true
		}
		return noPort.MatchString(lower) && !strings.Contains(lower, "bind() to") && !strings.Contains(lower, "[::1]") ||
			noPortBound.MatchString(lower)
	})
	if n == 0 {
		return nil
	}
	found := one("tcp", lines, "a program found no free local port for an outgoing connection (%s)", counted(n, "message"))
	if waiting.Value >= many {
		found[0].Summary += fmt.Sprintf("; %d connections are in TIME_WAIT", waiting.Value)
		found[0].Evidence = append(found[0].Evidence, waiting.Source)
	}
	found[0].Fix = portFixes(f)
	found[0].Confirm = "ss -s (netstat -an) shows about as many connections in TIME_WAIT to one peer " +
		"as there are local ports."
	return found
}

// portFixes give connections out more local ports, or let them need fewer.
func portFixes(f *facts.Facts) []Fix {
	reuse := Fix{Action: "keep connections open and reuse them; use more local or peer addresses"}
	if f.System == system.Linux {
		return []Fix{{Setting: "net.ipv4.ip_local_port_range"}, {Setting: "net.ipv4.tcp_tw_reuse", Value: "1"}, reuse}
	}
	const usual = 10000 // below it are ports of services
	if first, known := f.Integer("net.inet.ip.portrange.first"); known && first > usual {
		return []Fix{{Setting: "net.inet.ip.portrange.first", Value: strconv.Itoa(usual)}, reuse}
	}
	return []Fix{reuse}
}

// noPort is EADDRNOTAVAIL of connect() as the C library, Go, Node.js, Java and Python say it; noPortBound is bind() to port 0 in
// strace.
var (
	noPort = regexp.MustCompile(`(connect|dial|^\[error\] socket|connectexception|noroutetohostexception|` +
		`a new connection)\b.*(can(not|\\?'t) assign requested address|eaddrnotavail)|` +
		`connect\(\) failed for (?:backend|server) \S+ no free ports|` +
		`\bconnect(?:ion to \S+)? (?:failed (?:due to|with) )?eaddrinuse`)
	noPortBound = regexp.MustCompile(`bind\(.*port=htons\(0\).*= -1 eaddrinuse`)
)

// portRange is the number of local ports for connections out.
func portRange(f *facts.Facts) (size int64, src facts.Source, ok bool) {
	if f.System == "linux" {
		v, _ := f.Setting("net.ipv4.ip_local_port_range")
		low, high, err := kerneltext.PortRange(v)
		return int64(high) - int64(low) + 1, f.Settings["net.ipv4.ip_local_port_range"].Source, err == nil
	}
	first, _, ok := setting(f, "net.inet.ip.portrange.first")
	if f.System == "openbsd" {
		first, _, ok = setting(f, "net.inet.ip.portfirst")
		last, src, ok2 := setting(f, "net.inet.ip.portlast")
		return last - first + 1, src, ok && ok2 && last > first
	}
	last, src, ok2 := setting(f, "net.inet.ip.portrange.last")
	return last - first + 1, src, ok && ok2 && last > first
}
