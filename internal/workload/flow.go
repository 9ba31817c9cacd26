package workload

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
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

// parseFlows reads ss -tinHOm and returns the established flows of a port and the two above it and the bytes of memory
// that their sockets hold.
func parseFlows(text string, port int) ([]Flow, int64) {
	var flows []Flow
	var held int64
	_ = kerneltext.Sockets(text, func(s kerneltext.Socket) { // what is read before a damaged line counts
		if s.State != kerneltext.Established || !onPort(s.Local, port) && !onPort(s.Peer, port) {
			return
		}
		for _, part := range []string{"skmem_r", "skmem_t", "skmem_f", "skmem_w"} {
			held += int64(s.Values[part])
		}
		if f := flowOf(s); f.Sent > 0 {
			flows = append(flows, f)
		}
	})
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

// options are the words of ss -i that stand before the name of the congestion control (iproute2 misc/ss.c).
var options = []string{"ts", "usec_ts", "sack", "ecn", "ecnseen", "fastopen"}

func flowOf(s kerneltext.Socket) Flow {
	ms := func(name string) float64 { return s.Values[name] / 1e3 }
	f := Flow{Local: s.Local, Peer: s.Peer, RTT: ms("rtt"), MinRTT: ms("minrtt"), Cwnd: s.Values["cwnd"],
		MSS:  s.Values["mss"],
		Sent: s.Values["bytes_sent"], Retransmitted: s.Values["retrans_total"], Delivery: s.Values["delivery_rate"],
		Busy: ms("busy"), RwndLimited: ms("rwnd_limited_ms"), SndbufLimited: ms("sndbuf_limited_ms")}
	if i := slices.IndexFunc(s.Words, func(w string) bool { return !slices.Contains(options, w) }); i >= 0 {
		f.Congestion = s.Words[i]
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
