package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// listenOverflow finds accept queues that overflowed.
func listenOverflow() Rule {
	return Rule{
		ID: "listen-overflow", Title: "Accept queues overflowed", Systems: []string{"linux", "freebsd"},
		Needs: []string{"counters|messages"}, Severity: Critical,
		Because: "When the accept queue is full, connections with a completed handshake are dropped: the program accepts too " +
			"slowly, or its backlog is too short.",
		Confirm: "The counter grows under load; ss -ltn or netstat -Lan shows the queue at its limit.",
		Check: func(in Input) []Finding {
			f := in.Facts
			found := counters(f, "TcpExt.ListenOverflows", "tcp.listen_queue_overflow")
			if len(found) == 0 {
				return append(listenMessages(f), programsQueues(f)...)
			}
			accepted := max(total(f, "Tcp.PassiveOpens"), total(f, "TcpExt.TW")) + total(f, "tcp.connection_accept")
			s := graded(found[0], accepted, Critical)
			out := with(s, one("listening sockets", sources(found), "connections dropped at full accept queues: %s",
				happened(found[0])))
			out[0].Fix = backlogFixes(f)
			return out
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: ListenOverflows ListenDrops\nTcpExt: 412 412\n"),
		Quiet: freebsdExample("netstat -s", "tcp:\n\t0 connection requests\n\t0 listen queue overflows\n"),
	}
}

// programsBacklog reports whether all full accept queues that were seen are shorter than the kernel allows: their
// programs asked for no more.
func programsBacklog(f *facts.Facts) bool {
	full, limit := false, int64(128) // the lowest default
	for _, name := range []string{"net.core.somaxconn", "kern.ipc.soacceptqueue", "kern.ipc.somaxconn"} {
		if v, known := f.Integer(name); known {
			limit = v
		}
	}
	for _, l := range f.Listeners {
		if l.Queue == 0 || l.Backlog == 0 || l.Queue < l.Backlog {
			continue
		}
		if int64(l.Backlog) >= limit {
			return false
		}
		full = true
	}
	return full
}

// programOf is a command that shows which program listens on an address.
func programOf(f *facts.Facts, local string) string {
	port := local[strings.LastIndexAny(local, ":.")+1:]
	if f.System == "linux" {
		return "ss -ltnp sport = :" + port
	}
	return "sockstat -l -p " + port
}

// listenMessages finds FreeBSD's own report (sys/kern/uipc_socket.c,
// sonewconn): one line at most a minute, with the number of connections lost.
func listenMessages(f *facts.Facts) []Finding {
	lines, n := logged(f, "listen queue overflow")
	if n == 0 {
		return noSocket(f)
	}
	lost, cut := 0, false
	for _, line := range f.Lines("dmesg") {
		if lower := strings.ToLower(line); strings.Contains(lower, "listen queue overflow") && !strings.Contains(lower,
			"acceptance") {
			cut = true // wrapped: the number stands in the next line
		}
		if m := listenOccurrences.FindStringSubmatch(line); m != nil {
			v, _ := strconv.Atoi(m[1])
			lost += v
		}
	}
	subject := "listening sockets"
	if m := listenSocket.FindStringSubmatch(lines[0].Text); m != nil {
		subject = m[1]
	}
	out := one(subject, lines, "the kernel reported full accept queues (%s), %s lost", counted(n, "line"),
		counted(max(lost, n), "connection"))
	if cut {
		out = one(subject, lines, "the kernel reported full accept queues (%s)%s", counted(n, "line"),
			map[bool]string{true: fmt.Sprintf(", at least %s lost", counted(lost, "connection"))}[lost > 0])
	}
	raise := Fix{Action: ownerOf(lines[0].Text) + "find out why it does not accept connections in time, then " +
		"raise the backlog that it passes to listen()"}
	out[0].Fix = []Fix{raise, {Action: "the kernel caps the backlog at this limit when the program calls listen(): raise it, then restart the program",
		Setting: "kern.ipc.soacceptqueue"}}
	if m := listenWaiting.FindStringSubmatch(lines[0].Text); m != nil { // the kernel refuses above 3/2 of the backlog
		waiting, _ := strconv.Atoi(m[1])
		backlog := max(0, (2*(waiting-1)+2)/3)
		out[0].Summary += fmt.Sprintf("; the backlog of the socket is %d", backlog)
		if l := onlyListener(f, backlog); l != nil && subject == "listening sockets" {
			out[0].Summary += "; " + l.Local + " has this backlog"
			out[0].Evidence = append(out[0].Evidence, l.Source)
		}
		limit, known := f.Integer("kern.ipc.soacceptqueue")
		if !known {
			limit = 128 // its default
			for _, l := range f.Listeners {
				limit = max(limit, int64(l.Backlog)) // another program got as much
			}
		}
		if int64(backlog) < limit { // the program asked for no more
			out[0].Fix = []Fix{raise}
		}
	}
	return out
}

// onlyListener is the one socket with this backlog, if there is one alone.
func onlyListener(f *facts.Facts, backlog int) (found *facts.Listener) {
	for i := range f.Listeners {
		if f.Listeners[i].Backlog == backlog {
			if found != nil {
				return nil
			}
			found = &f.Listeners[i]
		}
	}
	return found
}

// ownerOf says how to find the program behind a socket: by its port, or by the address of its control block alone.
func ownerOf(line string) string {
	if m := listenSocket.FindStringSubmatch(line); m != nil {
		return "find the program (sockstat -l -p " + m[1][strings.LastIndexByte(m[1], ':')+1:] + "); "
	}
	if m := controlBlock.FindStringSubmatch(line); m != nil {
		return "find the program (netstat -aAn | grep " + m[1] + ", then sockstat); "
	}
	return "find the program (netstat -Lan, then sockstat -l); "
}

// noSocket finds handshakes for which FreeBSD made no socket (syncache_socket, sys/netinet/tcp_syncache.c).
func noSocket(f *facts.Facts) []Finding {
	lines, n := logged(f, "socket create failed due to limits")
	if n == 0 {
		return nil
	}
	return with(Warning, do("netstat -Lan shows the full queue: raise the backlog that its program passes to listen(); if "+
		"no queue is full, check with vmstat -z and kern.ipc.numopensockets whether sockets ran out",
		one("listening sockets", lines, "the kernel created no socket for a completed handshake (%s)", counted(n, "line"))))
}

// programsQueues finds what programs say of a full accept queue: uWSGI of its own, nginx of the one behind a local
// socket, where connect(2) fails with EAGAIN and for no other reason (unix(7)).
func programsQueues(f *facts.Facts) []Finding {
	lines, n := matching(f, programsQueue)
	if n == 0 {
		return nil
	}
	m := programsQueue.FindStringSubmatch(lines[0].Text)
	if m == nil {
		return nil
	}
	if m[2] == "" { // nginx
		return do("raise the backlog of the program that listens on "+m[1]+" and find out why it does not accept",
			with(Warning, one(m[1], lines, "the accept queue was full (%s)", counted(n, "connection attempt"))))
	}
	found := with(Warning, one(m[2], lines, "uWSGI reports a full accept queue (%s): %s connections, backlog %s",
		counted(n, "line"), m[3], m[4]))
	found[0].Fix = []Fix{{Action: "find out why all its workers are busy, then raise its listen option; the kernel's limit " +
		"is:"}, {Setting: map[bool]string{true: "net.core.somaxconn",
		false: "kern.ipc.soacceptqueue"}[f.System == "linux"]}}
	return found
}

// programsQueue is written by uWSGI (core/master_checks.c) and by nginx (src/event/ngx_event_connect.c).
var programsQueue = regexp.MustCompile(`connect\(\) to unix:/*(/\S+?):? failed \(11: Resource temporarily unavailable\)|` +
	`uWSGI listen queue of socket "([^"]+)".* full !!! \((\d+)/(\d+)\)`)

var (
	listenWaiting     = regexp.MustCompile(`overflow: (\d{1,6}) already`)
	listenOccurrences = regexp.MustCompile(`\((\d+) occurrences\)`)
	controlBlock      = regexp.MustCompile(`\bpcb 0x([0-9a-f]{6,16})\b`)
	listenSocket      = regexp.MustCompile(`\(([0-9a-f.:\[\]]+:\d+) \(proto 6\)\)`)
)
