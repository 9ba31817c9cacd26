package facts

import (
	"strings"
)

// datagramLimit is from how much unread data on a UDP socket is kept, in bytes:
// less is what any program has waiting at times.
const datagramLimit = 64 << 10

func (f *Facts) datagramSocket(unread uint64, local, program string, src Source) {
	if unread < datagramLimit || len(f.Datagrams) >= flowLimit {
		return
	}
	f.Datagrams = append(f.Datagrams, DatagramSocket{Local: local, Unread: unread, Program: shorten(program), Source: src})
}

// readSocketTable reads netstat -an of the three systems: "tcp 0 0 LOCAL PEER
// STATE", UDP without a state, for net-tools with the program at the end. The
// titles are translated, the columns are not (net-tools netstat.c; FreeBSD
// usr.bin/netstat/inet.c).
func (f *Facts) readSocketTable(t text) error {
	found := false
	waiting := map[string]uint64{}
	shown := map[string]Source{}
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 5 || !strings.HasPrefix(words[0], "tcp") && !strings.HasPrefix(words[0], "udp") {
			continue
		}
		recv, ok := count(words[1])
		send, ok2 := count(words[2])
		if !ok || !ok2 || recv > 1<<40 || send > 1<<40 {
			continue
		}
		found = true
		src := f.Line(t.from, i+1)
		if words[0][0] == 'u' {
			f.datagramSocket(recv, words[3], strings.Join(words[5:], " "), src)
			continue
		}
		if len(words) < 6 {
			continue
		}
		state := words[5]
		if waiting[state]++; shown[state].Text == "" {
			shown[state] = src
		}
		if state == "ESTABLISHED" && len(f.Flows) < flowLimit && f.Parts["flows"].State != Read {
			f.Flows = append(f.Flows, Flow{Local: words[3], Peer: words[4], RecvQ: int64(recv), SendQ: int64(send),
				Values: map[string]float64{}, Source: src})
		}
	}
	if !found {
		return errNothing
	}
	for state, name := range map[string]string{"TIME_WAIT": "sockstat.TCP.tw", "CLOSE_WAIT": "tcp_states.close_wait",
		"SYN_RECV": "tcp_states.syn_recv"} {
		if _, have := f.Counters[name]; !have && waiting[state] > 0 {
			f.Counters[name] = Counter{Value: waiting[state], Source: shown[state]}
		}
	}
	if f.Parts["flows"].State != Read {
		f.Parts["flows"] = Part{From: t.from, State: Read}
	}
	return nil
}
