package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// acceptQueueFull finds accept queues that are full right now.
func acceptQueueFull() Rule {
	return Rule{
		ID: "accept-queue-full", Title: "An accept queue is full now", Systems: []string{"linux", "freebsd"},
		Needs: []string{"listeners"}, Severity: Critical,
		Because: "New connections to this socket are being dropped or refused right now.",
		Check: func(in Input) (out []Finding) {
			for _, l := range in.Facts.Listeners {
				if l.Backlog == 0 {
					out = append(out, longQueue(l)...)
				}
				if l.Backlog <= 0 || l.Queue < l.Backlog {
					continue
				}
				action := "find the program listening on " + l.Local + " (" + programOf(in.Facts, l.Local) + ") and find out why it " +
					"does not accept connections: its workers may all be busy, or blocked on a disk or a backend server"
				if programsBacklog(in.Facts) {
					action = fmt.Sprintf("raise the backlog in the configuration of the program listening on %s (%s; "+
						"it requested %d, the kernel allows more) and restart it; check whether it is overloaded "+
						"or stuck", l.Local, programOf(in.Facts, l.Local), l.Backlog)
				}
				found := do(action,
					one(l.Local, []facts.Source{l.Source}, "%d connections are waiting to be accepted, the backlog is %d",
						l.Queue, l.Backlog))
				// Linux takes one more than the backlog, FreeBSD half as many more.
				most := l.Backlog
				if in.Facts.System == "freebsd" {
					most = l.Backlog * 3 / 2
				}
				if l.Queue <= most {
					found = with(Warning, found)
					found[0].Because = "Further connections to this socket will be dropped or refused unless the program accepts."
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: freebsdExample("netstat -Lan", "Current listen queue sizes (qlen/incqlen/maxqlen)\nProto Listen      "+
			"                     Local Address\ntcp4  4/0/2                            *.5003\n"),
		Quiet: linuxExample("ss -ltn", "State  Recv-Q Send-Q Local Address:Port Peer Address:Port\nLISTEN 0      "+
			"511          0.0.0.0:80        0.0.0.0:*\n"),
	}
}

// longQueue finds a queue of which netstat shows no limit.
func longQueue(l facts.Listener) []Finding {
	const many, usual = 50, 128 // the least backlog that programs ask for, and net.core.somaxconn before Linux 5.4
	if l.Queue < many {
		return nil
	}
	found := with(Warning, one(l.Local, []facts.Source{l.Source}, "%d connections are waiting to be accepted", l.Queue))
	if l.Queue == usual+1 {
		found[0].Summary += fmt.Sprintf("; the queue is full if its backlog is %d (the limit before Linux 5.4)", usual)
	}
	found[0].Because = "The program accepts connections too slowly or not at all; when the queue is full, new " +
		"connections are dropped."
	found[0].Confirm = "ss -ltn shows the backlog as Send-Q; TcpExtListenOverflows (nstat -az) grows while the " +
		"queue is full."
	return do("find out why the program listening on "+l.Local+" does not accept connections (strace -f -p "+
		"PID): its workers may all be busy, or blocked on a disk or a backend server", found)
}
