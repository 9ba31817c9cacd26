package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// unclosed finds connections that their peers closed and a program on this host did not.
func unclosed() Rule {
	return Rule{
		ID: "unclosed-connections", Title: "A program does not close connections that its peers closed",
		Needs: []string{"linux:flows|socket table", "freebsd:socket table", "openbsd:socket table"}, Severity: Warning,
		Because: "The peer has closed, but the program has not: it is stuck, or it leaks descriptors until it can open no " +
			"more. CLOSE-WAIT has no timeout, so no network setting ends it.",
		Confirm: "The same connections are still in CLOSE-WAIT a minute later (ss -tnp state close-wait, sockstat).",
		Check: func(in Input) []Finding {
			const many, unreadMany = 100, 5
			all, unread := in.Facts.Counters["tcp_states.close_wait"], in.Facts.Counters["tcp_states.close_wait_unread"]
			if all.Value < many && unread.Value < unreadMany {
				return append(mostUnclosed(in.Facts, all), keptOpen(in.Facts)...)
			}
			found := one("tcp", sources([]facts.Counter{all}), "%s in CLOSE-WAIT", counted(int(all.Value), "connection"))
			if unread.Value > 0 {
				found = one("tcp", sources([]facts.Counter{unread}), "%s in CLOSE-WAIT, %d of them with data that "+
					"the program has not read", counted(int(all.Value), "connection"), unread.Value)
			}
			return do("find the program (ss -tnp state close-wait) and what it waits for: a blocked thread or worker, or a "+
				"descriptor that is never closed", found)
		},
		Fires: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"+
			strings.Repeat("CLOSE-WAIT 552 0 192.0.2.1:8080 198.51.100.9:5000\n", 5)),
		Quiet: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"+
			strings.Repeat("CLOSE-WAIT 1 0 192.0.2.1:8080 198.51.100.9:5000\n", 5)+
			strings.Repeat("ESTAB 0 0 192.0.2.1:8080 198.51.100.9:5001\n", 15)),
	}
}

// keptOpen finds sockets whose connections are over on both sides, and whose descriptors a program keeps.
func keptOpen(f *facts.Facts) []Finding {
	const many = 1000 // a socket that was made and not yet connected is in this state as well
	c := f.Counters["tcp_states.closed"]
	if c.Value < many {
		return nil
	}
	found := do("find the program that holds them (netstat -an shows the ports, sockstat -s the program), restart "+
		"it, and update it",
		one("tcp", []facts.Source{c.Source}, "%d sockets are in the CLOSED state", c.Value))
	found[0].Because = "Their connections have ended, but a program has not closed the descriptors: a leak that " +
		"continues until no more can be opened."
	found[0].Confirm = "The number grows, and falls when the program is restarted."
	return found
}

// mostUnclosed is worth a word where few connections were shown, and of those many are in this state.
func mostUnclosed(f *facts.Facts, waiting facts.Counter) []Finding {
	const some, share = 5, 0.4
	shown := f.Counters["sockstat.TCP.tw"].Value + uint64(len(f.Flows))
	for name, c := range f.Counters {
		if strings.HasPrefix(name, "tcp_states.") && name != "tcp_states.close_wait_unread" {
			shown += c.Value
		}
	}
	if waiting.Value < some || float64(waiting.Value) < share*float64(shown) {
		return nil
	}
	return with(Info, do("check whether they are still there a minute later; if so, find the program that holds "+
		"them (ss -tnp state close-wait) and what it waits for", one("tcp", []facts.Source{waiting.Source}, "%d of the %d connections shown are in "+
		"CLOSE-WAIT", waiting.Value, shown)))
}
