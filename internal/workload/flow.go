package workload

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// Flow is what the kernel says of one TCP connection (tcp_info, as ss -ti
// prints it), times in s and rates in bit/s.
type Flow struct {
	Local         string  `json:"local"`
	Peer          string  `json:"peer"`
	Congestion    string  `json:"congestion,omitempty"`
	RTT           float64 `json:"rtt_s,omitempty"`
	MinRTT        float64 `json:"min_rtt_s,omitempty"`
	Cwnd          float64 `json:"cwnd_segments,omitempty"`
	MSS           float64 `json:"mss_bytes,omitempty"`
	Sent          float64 `json:"sent_bytes,omitempty"`
	Retransmitted float64 `json:"retransmitted_segments,omitempty"`
	Delivery      float64 `json:"delivery_bps,omitempty"`
	Busy          float64 `json:"busy_s,omitempty"`
	RwndLimited   float64 `json:"rwnd_limited_s,omitempty"`
	SndbufLimited float64 `json:"sndbuf_limited_s,omitempty"`
	// Limit is what held it back most: receiver, send-buffer, path, or
	// application when it had nothing to send; empty when not known.
	Limit string `json:"limit,omitempty"`
}

// Queue is how much longer a round trip takes than the shortest one seen.
func (f Flow) Queue() float64 { return max(0, f.RTT-f.MinRTT) }

var memoryOf = regexp.MustCompile(`skmem:\(r(\d+),[^)]*?t(\d+),[^)]*?f(\d+),w(\d+)`)

// parseFlows reads ss -tinHOm (iproute2) and returns the established flows of
// a port and the two above it and the bytes of memory that their sockets hold.
func parseFlows(data []byte, port int) ([]Flow, int64) {
	var flows []Flow
	var held int64
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) < 5 || fields[0] != "ESTAB" || !onPort(fields[3], port) && !onPort(fields[4], port) {
			continue
		}
		if m := memoryOf.FindSubmatch(line); m != nil {
			for _, part := range m[1:] {
				v, _ := strconv.ParseInt(string(part), 10, 64)
				held += v
			}
		}
		if f := parseFlow(fields); f.Sent > 0 {
			flows = append(flows, f)
		}
	}
	return flows, held
}

func onPort(address string, port int) bool {
	_, after, ok := cutLast(address, ":")
	n, err := strconv.Atoi(after)
	return ok && err == nil && n >= port && n <= port+2
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func parseFlow(fields []string) Flow {
	f := Flow{Local: fields[3], Peer: fields[4]}
	for i, word := range fields[5:] {
		key, value, ok := strings.Cut(word, ":")
		if !ok {
			switch {
			case strings.HasPrefix(word, "skmem"), word == "ts", word == "sack", word == "ecn", word == "ecnseen":
			case f.Congestion == "" && i <= 4 && isWord(word):
				f.Congestion = word
			case word == "delivery_rate" && i+6 < len(fields):
				f.Delivery = number(strings.TrimSuffix(fields[i+6], "bps"))
			}
			continue
		}
		switch key {
		case "rtt":
			first, _, _ := strings.Cut(value, "/")
			f.RTT = number(first) / 1e3
		case "minrtt":
			f.MinRTT = number(value) / 1e3
		case "cwnd":
			f.Cwnd = number(value)
		case "mss":
			f.MSS = number(value)
		case "bytes_sent":
			f.Sent = number(value)
		case "retrans":
			_, total, _ := strings.Cut(value, "/")
			f.Retransmitted = number(total)
		case "busy":
			f.Busy = number(strings.TrimSuffix(value, "ms")) / 1e3
		case "rwnd_limited", "sndbuf_limited":
			ms, _, _ := strings.Cut(value, "ms")
			if key == "rwnd_limited" {
				f.RwndLimited = number(ms) / 1e3
			} else {
				f.SndbufLimited = number(ms) / 1e3
			}
		}
	}
	f.Limit = f.limit()
	return f
}

func (f Flow) limit() string {
	switch {
	case f.Busy <= 0:
		return ""
	case f.RwndLimited > f.Busy/2:
		return "receiver"
	case f.SndbufLimited > f.Busy/2:
		return "send-buffer"
	}
	return "path"
}

func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' && (r < '0' || r > '9') })
}

// number reads a finite number that is not negative; anything else is 0.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < 1e300) {
		return 0
	}
	return v
}

// ShortestRTT is the shortest round trip that the run's connections saw, in s:
// about what the path takes without a queue.
func (r Run) ShortestRTT() (float64, bool) {
	shortest := 0.0
	for _, k := range []*Kernel{r.ClientKernel, r.ServerKernel} {
		if k == nil {
			continue
		}
		for _, f := range k.Flows {
			if f.MinRTT > 0 && (shortest == 0 || f.MinRTT < shortest) {
				shortest = f.MinRTT
			}
		}
	}
	return shortest, shortest > 0
}

// busiest is the flow that sent most.
func busiest(flows []Flow) (Flow, bool) {
	var best Flow
	for _, f := range flows {
		if f.Sent > best.Sent {
			best = f
		}
	}
	return best, len(flows) > 0
}
