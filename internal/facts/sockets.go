package facts

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/regexp"
)

// flowLimit bounds the connections that are kept: a server has a million.
const flowLimit = 4096

// readFlows reads ss -tinm.
func (f *Facts) readFlows(t text) error {
	if f.readSummary(t) || f.readTCPInfo(t) {
		return nil
	}
	if slices.ContainsFunc(t.lines(), countedState.MatchString) { // ss | awk | sort | uniq -c
		return f.readSocketTable(t)
	}
	return kerneltext.Sockets(string(t.data), func(s kerneltext.Socket) {
		if s.State == kerneltext.CloseWait {
			f.closedByPeer(s.Recv, f.Line(t.from, s.Line))
		}
		if s.State == kerneltext.SynSent {
			f.unanswered(s.Peer, f.Line(t.from, s.Line))
		}
		if s.State != kerneltext.Established || len(f.Flows) >= flowLimit {
			return
		}
		src := f.Line(t.from, s.Line)
		src.Text = shorten(src.Text + s.Below)
		f.Flows = append(f.Flows, Flow{Local: s.Local, Peer: s.Peer, RecvQ: s.Recv, SendQ: s.Send, Values: s.Values,
			Words: s.Words, Source: src})
	})
}

// TCPInfoForm is a line with Linux's tcp_info as ndt7's clients and servers write it (m-lab's tcp-info, LinuxTCPInfo).
var TCPInfoForm = regexp.MustCompile(`^\s*\{.*"TCPInfo" ?: ?\{"`)

// readTCPInfo keeps the last line of each connection: they are cumulative.
func (f *Facts) readTCPInfo(t text) (found bool) {
	last := map[string]Flow{}
	for i, line := range t.lines() {
		var m struct {
			Value struct {
				ConnectionInfo struct{ Client, Server string }
				TCPInfo        map[string]float64
			}
		}
		if !TCPInfoForm.MatchString(line) || json.Unmarshal([]byte(line), &m) != nil && m.Value.TCPInfo == nil {
			continue
		}
		ends, v := m.Value.ConnectionInfo, m.Value.TCPInfo
		if busy := v["BusyTime"]; busy > 0 && len(last) < rowLimit {
			fl := Flow{Local: ends.Server, Peer: ends.Client, Source: f.Line(t.from, i+1), Values: map[string]float64{
				"rtt": v["RTT"] / 1e3, "minrtt": v["MinRTT"] / 1e3, "cwnd": v["SndCwnd"], "mss": v["SndMSS"], "busy": busy / 1e3,
				"rwnd_limited": v["RWndLimited"] / busy, "sndbuf_limited": v["SndBufLimited"] / busy, "retrans_total": v["TotalRetrans"],
				"segs_out": v["SegsOut"], "data_segs_out": v["DataSegsOut"], "bytes_retrans": v["BytesRetrans"], "bytes_acked": v["BytesAcked"]}}
			if options, given := v["Options"]; !given || int(options)&4 != 0 { // TCPI_OPT_WSCALE
				fl.Values["wscale_send"], fl.Values["wscale_receive"] = float64(int(v["WScale"])&15), float64(int(v["WScale"])>>4)
			}
			last[ends.Client+ends.Server] = fl
		}
	}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		f.Flows = append(f.Flows, last[key])
	}
	return len(last) > 0
}

// Unanswered is an address and port that connections of this host wait for, whose handshake nobody answered.
type Unanswered struct {
	Peer        string `json:"peer"`
	Connections int    `json:"connections"`
	Source      Source `json:"source"` // the first of them
}

func (f *Facts) unanswered(peer string, src Source) {
	i := slices.IndexFunc(f.Unanswered, func(u Unanswered) bool { return u.Peer == peer })
	switch {
	case i >= 0:
		f.Unanswered[i].Connections++
	case peer != "" && len(f.Unanswered) < rowLimit:
		f.Unanswered = append(f.Unanswered, Unanswered{peer, 1, src})
	}
}

// closedByPeer counts a connection that its peer closed and the program here did not, and those with unread data.
func (f *Facts) closedByPeer(unread int64, src Source) {
	for name, is := range map[string]bool{"tcp_states.close_wait": true, "tcp_states.close_wait_unread": unread > 1} {
		if c := f.Counters[name]; is && c.Value == 0 {
			f.Counters[name] = Counter{Value: 1, Source: src}
		} else if is {
			c.Value++
			f.Counters[name] = c
		}
	}
}

// summaryLine is that of ss -s: "TCP:   123 (estab 10, closed 5, orphaned 3, synrecv 0, timewait 2/0)".
var summaryLine = regexp.MustCompile(`^TCP: +(\d+) \(estab (\d+), closed (\d+), orphaned (\d+),(?: synrecv \d+,)? timewait (\d+)`)

// readSummary reads ss -s, whose numbers are those of /proc/net/sockstat.
func (f *Facts) readSummary(t text) bool {
	for i, line := range t.lines() {
		m := summaryLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		for j, name := range []string{"alloc", "inuse", "", "orphan", "tw"} {
			if v, ok := count(m[j+1]); ok && name != "" {
				f.keepCounter(f.Counters, "sockstat.TCP."+name, Counter{Value: v, Source: f.Line(t.from, i+1)})
			}
		}
		return true
	}
	return false
}

// readListeners reads ss -ltn: for a listening socket the queues are the length
// of the accept queue and its limit.
func (f *Facts) readListeners(t text) error {
	var damaged error
	err := kerneltext.Sockets(string(t.data), func(s kerneltext.Socket) {
		switch src := f.Line(t.from, s.Line); {
		case s.State == kerneltext.Unconnected:
			src.Text = shorten(src.Text + s.Below)
			f.datagramSocket(DatagramSocket{Local: s.Local, Unread: uint64(max(s.Recv, 0)), Program: s.Rest, Source: src,
				Limit: uint64(max(s.Values["skmem_rb"], 0)), Drops: uint64(max(s.Values["skmem_d"], 0))})
		case s.State != kerneltext.Listening:
		case s.Recv < 0 || s.Send < 0 || s.Recv > 1<<31 || s.Send > 1<<31:
			damaged = atLine(s.Line, "no queue lengths after LISTEN")
		default:
			f.Listeners = append(f.Listeners, Listener{s.Local, int(s.Recv), int(s.Send), src})
		}
	})
	return cmp.Or(err, damaged)
}

// readNeighbours reads ip neigh show: "ADDRESS dev NAME lladdr MAC STATE".
func (f *Facts) readNeighbours(t text) error {
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) == 1 { // ip neigh | wc -l
			if n, ok := count(words[0]); ok {
				f.Counters["neighbours.counted"] = Counter{Value: n, Source: f.Line(t.from, i+1)}
				return nil
			}
		}
		if len(words) < 4 || words[1] != "dev" || len(f.Neighbours) >= rowLimit {
			continue
		}
		f.Neighbours = append(f.Neighbours, Neighbour{Address: words[0], Interface: words[2], MAC: pairs(words)["lladdr"],
			State: words[len(words)-1], Source: f.Line(t.from, i+1)})
	}
	return nothingUnless(len(f.Neighbours) > 0)
}
