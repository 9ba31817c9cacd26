package facts

import (
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// datagramLimit is from how much unread data on a UDP socket is kept, in bytes:
// less is what any program has waiting at times.
const datagramLimit = 64 << 10

func (f *Facts) datagramSocket(s DatagramSocket) {
	if s.Unread < datagramLimit && s.Drops == 0 || len(f.Datagrams) >= flowLimit {
		return
	}
	s.Program = shorten(s.Program)
	f.Datagrams = append(f.Datagrams, s)
}

// readUDPTable reads /proc/net/udp and udp6: queues in hexadecimal behind the state, the drops of the socket in the
// last column (net/ipv4/udp.c, udp4_format_sock).
func (f *Facts) readUDPTable(t text) error {
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == "sl" {
			found = true
			continue
		}
		if len(words) != 13 || !strings.HasSuffix(words[0], ":") {
			continue
		}
		host, port, ok := strings.Cut(words[1], ":")
		_, queue, ok2 := strings.Cut(words[4], ":")
		unread, err := strconv.ParseUint(queue, 16, 40)
		number, err2 := strconv.ParseUint(port, 16, 16)
		drops, ok3 := count(words[12])
		if !ok || !ok2 || !ok3 || err != nil || err2 != nil {
			return atLine(i+1, "an address, queues and drops are expected")
		}
		found = true
		local := "[::]"
		if a, err := hex.DecodeString(host); err == nil && len(a) == 4 {
			local = netip.AddrFrom4([4]byte{a[3], a[2], a[1], a[0]}).String()
		} else if err == nil && strings.Trim(host, "0") != "" {
			local = "[...]"
		}
		f.datagramSocket(DatagramSocket{Local: local + ":" + strconv.FormatUint(number, 10), Unread: unread, Drops: drops,
			Source: f.Line(t.from, i+1)})
	}
	return nothingUnless(found)
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
		if slices.Contains(words, "Rexmit") {
			return f.readRexmits(t)
		}
		if m := countedState.FindStringSubmatch(line); m != nil {
			n, _ := count(m[1] + m[4])
			state := strings.ReplaceAll(m[2]+m[3], "-", "_")
			waiting[state], found = max(waiting[state], n), true // a second count is one of another time
			shown[state] = f.Line(t.from, i+1)
			continue
		}
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
			f.datagramSocket(DatagramSocket{Local: words[3], Unread: recv, Program: strings.Join(words[5:], " "), Source: src})
			continue
		}
		if len(words) < 6 {
			continue
		}
		state := words[5]
		if waiting[state]++; shown[state].Text == "" {
			shown[state] = src
		}
		if state == "SYN_SENT" {
			f.unanswered(words[4], src)
		}
		if state == "CLOSE_WAIT" {
			f.closedByPeer(int64(recv), src)
		}
		if state == "ESTABLISHED" && len(f.Flows) < flowLimit && f.Parts["flows"].State != Read {
			f.Flows = append(f.Flows, Flow{Local: words[3], Peer: words[4], RecvQ: int64(recv), SendQ: int64(send),
				Values: map[string]float64{}, Source: src})
		}
	}
	if !found {
		return errNothing
	}
	for state, name := range map[string]string{"TIME_WAIT": "sockstat.TCP.tw", "SYN_RECV": "tcp_states.syn_recv",
		"CLOSE_WAIT": "tcp_states.close_wait", "CLOSED": "tcp_states.closed"} {
		if _, have := f.Counters[name]; !have && waiting[state] > 0 {
			f.Counters[name] = Counter{Value: waiting[state], Source: shown[state]}
		}
	}
	if f.Parts["flows"].State != Read {
		f.Parts["flows"] = Part{From: t.from, State: Read}
	}
	return nil
}

// countedState is a row of states that somebody counted (sort | uniq -c).
var countedState = regexp.MustCompile(`^\s*(?:(\d+) +(` + tcpStates + `)|(` + tcpStates + `) +(\d+))\s*$`)

const tcpStates = `ESTAB(?:LISHED)?|CLOSE[_-]WAIT|TIME[_-]WAIT|FIN[_-]WAIT[_-]?[12]|LAST[_-]ACK|SYN[_-]SENT|SYN_RCVD|SYN[_-]RECV|CLOSING|` +
	`CLOSED|LISTEN`

// readRexmits reads netstat -T of FreeBSD: "tcp4  12  0  0  LOCAL  PEER", with what a connection sent again, received
// out of order, and how often its window was closed.
func (f *Facts) readRexmits(t text) error {
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 6 || !strings.HasPrefix(words[0], "tcp") || len(f.Flows) >= flowLimit {
			continue
		}
		fl := Flow{Local: words[4], Peer: words[5], Values: map[string]float64{}, Source: f.Line(t.from, i+1)}
		for j, name := range []string{"Rexmit", "OOORCV", "0-win"} {
			if v, ok := wholeNumber(words[1+j]); ok {
				fl.Values[name] = float64(v)
			}
		}
		f.Flows = append(f.Flows, fl)
	}
	f.Parts["flows"] = Part{From: t.from, State: Read}
	return nil
}
