package kerneltext

import (
	"strconv"
	"strings"
)

// Socket is a line of ss with its details.
type Socket struct {
	State       string
	Recv, Send  int64 // queues in bytes; of a listening socket the length of its accept queue and its limit
	Local, Peer string
	// Values are the numbers of ss -i by its names: rtt and minrtt (ms), cwnd and mss, rates in bit/s, retrans_total,
	// rwnd_limited and sndbuf_limited as shares of the time and with _ms as times, skmem_r and so on in bytes.
	Values map[string]float64
	// Words are what ss -i prints without a number: ts, sack, cubic.
	Words []string
	// Rest is what stands behind the peer on the same line, Below what stands on the indented lines after it.
	Rest, Below string
	Line        int
}

// Established and the other states of ss (iproute2 misc/ss.c).
const (
	Established = "ESTAB"
	Listening   = "LISTEN"
	Unconnected = "UNCONN"
	CloseWait   = "CLOSE-WAIT"
	SynSent     = "SYN-SENT"
)

// socketState reports whether a word is a state of ss.
func socketState(s string) bool {
	switch s {
	case Established, Listening, Unconnected, "TIME-WAIT", SynSent, "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2",
		CloseWait,
		"LAST-ACK", "CLOSING":
		return true
	}
	return false
}

// Sockets reads what ss prints of TCP's and UDP's sockets, with any of -t, -u, -i, -m, -n, -l and -O and in any
// state: a line for each and an indented one, or the rest of the same line, with its details (iproute2 misc/ss.c,
// tcp_stats_print).
func Sockets(s string, each func(Socket)) error {
	known, noState := false, false
	var last *Socket
	flush := func() {
		if last != nil {
			each(*last)
		}
		last = nil
	}
	row := func(n int, words []string) (err error) {
		if words != nil {
			last, err = newSocket(n, words)
			known = known || err == nil
		}
		return err
	}
	var begun []string // a row that a mail program broke before its peer, or that ends there
	at := 0
	for n, line := range numbered(s) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if begun != nil {
			whole := begun
			begun = nil
			goesOn := !beginsRow(words, noState)
			if goesOn {
				whole = append(whole, words...)
			}
			if err := row(at, whole); err != nil {
				return err
			}
			if goesOn {
				continue
			}
		}
		if line[0] == ' ' || line[0] == '\t' || last != nil && isDetails(words) {
			if last != nil {
				last.details(words)
				last.Below += " " + strings.Join(words, " ")
			}
			continue
		}
		flush()
		if words[0] == "State" || words[0] == "Netid" || words[0] == "Recv-Q" {
			known, noState = true, words[0] == "Recv-Q"
			continue
		}
		if noState && len(words) > 3 && strings.HasSuffix(words[3], ":*") { // ss -l of old iproute2 says no state
			words = append([]string{Listening}, words...)
		}
		words = withState(words, noState)
		if len(words) < 4 || !socketState(words[0]) {
			continue
		}
		if len(words) > 4 {
			if err := row(n, words); err != nil {
				return err
			}
		} else if strings.Contains(words[3], ":") {
			begun, at = words, n
		}
	}
	if err := row(at, begun); err != nil {
		return err
	}
	flush()
	return NothingUnless(known)
}

// beginsRow reports whether a line is not the rest of one that was broken.
func beginsRow(words []string, noState bool) bool {
	row := withState(words, noState)
	return row != nil && socketState(row[0])
}

// newSocket reads a row: state, queues, address, and the peer's, where it was not cut off.
func newSocket(n int, words []string) (*Socket, error) {
	recv, err := strconv.ParseInt(words[1], 10, 64)
	send, err2 := strconv.ParseInt(words[2], 10, 64)
	if err != nil || err2 != nil {
		return nil, Errorf(n, "no queue lengths after %s", words[0])
	}
	s := &Socket{State: words[0], Recv: recv, Send: send, Local: words[3], Values: map[string]float64{}, Line: n}
	if len(words) > 4 {
		s.Peer, s.Rest = words[4], strings.Join(words[5:], " ")
		s.details(words[5:])
	}
	return s, nil
}

// isDetails reports whether a line that is not indented goes on with the details of a socket: it begins with a value by
// its name, "rto:204", which no row does.
func isDetails(words []string) bool {
	name, value, ok := strings.Cut(words[0], ":")
	return ok && name != "" && value != "" && name[0] >= 'a' && name[0] <= 'z' && !strings.ContainsAny(name, ".[%") &&
		(value[0] >= '0' && value[0] <= '9' || value[0] == '(')
}

// withState begins the words of a line with the state: ss that was asked for the established sockets alone says none,
// and ss of several kinds of sockets says the kind before it. Of other kinds than TCP and UDP nothing is left.
func withState(words []string, noState bool) []string {
	switch {
	case noState && !socketState(words[0]):
		return append([]string{Established}, words...)
	case len(words) < 2 || !socketState(words[1]):
		return words
	case words[0] == "tcp", words[0] == "udp" && words[1] != Established:
		return words[1:]
	}
	return nil
}

// details takes the numbers of "key:value" and "key value" words.
func (s *Socket) details(words []string) {
	for i, w := range words {
		key, value, ok := strings.Cut(w, ":")
		switch {
		case ok:
			s.field(key, value)
		case (w == "send" || w == "pacing_rate" || w == "delivery_rate") && i+1 < len(words):
			s.number(w, words[i+1])
		case (w[0]|0x20 >= 'a' && w[0]|0x20 <= 'z') && !strings.HasSuffix(w, "bps"):
			s.Words = append(s.Words, w)
		}
	}
}

func (s *Socket) field(key, value string) {
	first, second, _ := strings.Cut(value, "/")
	switch key {
	case "rtt":
		s.number("rtt", first)
		s.number("rttvar", second)
	case "retrans":
		s.number("retrans_total", second)
	case "wscale":
		snd, rcv, _ := strings.Cut(value, ",")
		s.number("wscale_send", snd)
		s.number("wscale_receive", rcv)
	case "rwnd_limited", "sndbuf_limited": // rwnd_limited:120ms(60.0%)
		ms, share, ok := strings.Cut(value, "(")
		s.number(key+"_ms", ms)
		if v, err := strconv.ParseFloat(strings.TrimSuffix(share, "%)"), 64); ok && err == nil && v >= 0 && v <= 100 {
			s.Values[key] = v / 100
		}
	case "skmem":
		for w := range strings.SplitSeq(strings.Trim(value, "()"), ",") {
			name := strings.TrimRight(w, "0123456789")
			s.number("skmem_"+name, w[len(name):])
		}
	default:
		s.number(key, value)
	}
}

// number keeps a plain number, one of ms, or a rate of bps, Kbps, Mbps, Gbps.
func (s *Socket) number(key, value string) {
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
		s.Values[key] = v * factor
	}
}
