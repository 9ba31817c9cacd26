package facts

import (
	"strconv"
	"strings"
)

// flowLimit bounds the connections that are kept: a server has a million.
const flowLimit = 4096

// readFlows reads ss -tinm: a line for each connection and an indented one (or
// the rest of the same line) with its details (iproute2 misc/ss.c,
// tcp_stats_print).
func (f *Facts) readFlows(t text) error {
	known, noState := false, false
	var last *Flow
	for i, line := range t.lines() {
		words := withoutNetid(strings.Fields(line))
		if len(words) == 0 {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			if last != nil {
				last.details(words)
				last.Source.Text = shorten(last.Source.Text + " " + strings.Join(words, " "))
			}
			continue
		}
		last = nil
		if words[0] == "State" || words[0] == "Netid" || words[0] == "Recv-Q" {
			known, noState = true, words[0] == "Recv-Q"
			continue
		}
		if noState { // ss was asked for one state, the established
			words = append([]string{"ESTAB"}, words...)
		}
		if len(words) < 5 || words[0] != "ESTAB" || len(f.Flows) >= flowLimit {
			known = known || len(words) >= 5 && socketStates[words[0]]
			continue
		}
		recv, ok := wholeNumber(words[1])
		send, ok2 := wholeNumber(words[2])
		if !ok || !ok2 {
			return atLine(i+1, "no queue lengths after ESTAB")
		}
		known = true
		f.Flows = append(f.Flows, Flow{Local: words[3], Peer: words[4], RecvQ: recv, SendQ: send,
			Values: map[string]float64{}, Source: f.Line(t.from, i+1)})
		last = &f.Flows[len(f.Flows)-1]
		last.details(words[5:])
	}
	if !known {
		return errNothing
	}
	return nil
}

// withoutNetid takes off the first column of an ss that shows other sockets
// than TCP's too; what is not TCP's is left out.
func withoutNetid(words []string) []string {
	if len(words) < 2 || !socketStates[words[1]] {
		return words
	}
	if words[0] == "tcp" {
		return words[1:]
	}
	return nil
}

var socketStates = map[string]bool{"ESTAB": true, "LISTEN": true, "TIME-WAIT": true, "SYN-SENT": true, "SYN-RECV": true,
	"FIN-WAIT-1": true, "FIN-WAIT-2": true, "CLOSE-WAIT": true, "LAST-ACK": true, "CLOSING": true, "UNCONN": true}

// details takes the numbers of "key:value" and "key value" words.
func (fl *Flow) details(words []string) {
	for i, w := range words {
		key, value, ok := strings.Cut(w, ":")
		if !ok {
			if (w == "send" || w == "pacing_rate" || w == "delivery_rate") && i+1 < len(words) {
				fl.number(w, words[i+1])
			} else if wordByte(w[0]) && w[0] > '9' && !strings.HasSuffix(w, "bps") {
				fl.Words = append(fl.Words, w)
			}
			continue
		}
		fl.field(key, value)
	}
}

func (fl *Flow) field(key, value string) {
	first, second, _ := strings.Cut(value, "/")
	switch key {
	case "rtt":
		fl.number("rtt", first)
		fl.number("rttvar", second)
	case "retrans":
		fl.number("retrans_total", second)
	case "wscale":
		snd, rcv, _ := strings.Cut(value, ",")
		fl.number("wscale_send", snd)
		fl.number("wscale_receive", rcv)
	case "rwnd_limited", "sndbuf_limited":
		// rwnd_limited:120ms(60.0%)
		if _, share, ok := strings.Cut(value, "("); ok {
			if v, err := strconv.ParseFloat(strings.TrimSuffix(share, "%)"), 64); err == nil && v >= 0 && v <= 100 {
				fl.Values[key] = v / 100
			}
		}
	case "skmem":
		for _, w := range strings.Split(strings.Trim(value, "()"), ",") {
			name := strings.TrimRight(w, "0123456789")
			fl.number("skmem_"+name, w[len(name):])
		}
	default:
		fl.number(key, value)
	}
}

// number keeps a plain number, one of ms, or a rate of bps, Kbps, Mbps, Gbps.
func (fl *Flow) number(key, value string) {
	factor := 1.0
	value, _, _ = strings.Cut(value, "/") // pacing_rate 463Mbps/900Mbps: now and at most
	for _, u := range []struct {
		suffix string
		factor float64
	}{{"Gbps", 1e9}, {"Mbps", 1e6}, {"Kbps", 1e3}, {"bps", 1}, {"ms", 1}} {
		if v, ok := strings.CutSuffix(value, u.suffix); ok {
			value, factor = v, u.factor
			break
		}
	}
	if v, err := strconv.ParseFloat(value, 64); err == nil && v >= 0 && v < 1e18 {
		fl.Values[key] = v * factor
	}
}

// readListeners reads ss -ltn: for a listening socket Recv-Q is the length of
// the accept queue and Send-Q its limit.
func (f *Facts) readListeners(t text) error {
	known := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) > 5 && words[0] == "udp" && socketStates[words[1]] {
			words = words[1:]
		} else {
			words = withoutNetid(words)
		}
		if len(words) > 0 && (words[0] == "State" || words[0] == "Netid") {
			known = true
		}
		if len(words) > 4 && words[0] == "UNCONN" {
			known = true
			f.datagramSocket(words[1], words[3], strings.Join(words[5:], " "), f.Line(t.from, i+1))
		}
		if len(words) < 5 || words[0] != "LISTEN" {
			continue
		}
		queue, ok := count(words[1])
		backlog, ok2 := count(words[2])
		if !ok || !ok2 || queue > 1<<31 || backlog > 1<<31 {
			return atLine(i+1, "no queue lengths after LISTEN")
		}
		known = true
		f.Listeners = append(f.Listeners, Listener{Local: words[3], Queue: int(queue), Backlog: int(backlog), Source: f.Line(t.from, i+1)})
	}
	if !known {
		return errNothing
	}
	return nil
}

// readNeighbours reads ip neigh show: "ADDRESS dev NAME lladdr MAC STATE".
func (f *Facts) readNeighbours(t text) error {
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 4 || words[1] != "dev" || len(f.Neighbours) >= rowLimit {
			continue
		}
		f.Neighbours = append(f.Neighbours, Neighbour{Address: words[0], Interface: words[2], MAC: pairs(words)["lladdr"],
			State: words[len(words)-1], Source: f.Line(t.from, i+1)})
	}
	if len(f.Neighbours) == 0 {
		return errNothing
	}
	return nil
}
