package workload

import (
	"errors"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	nuttcpPair    = regexp.MustCompile(`([A-Za-z_]+)=([0-9.]+)`)
	nuttcpClassic = regexp.MustCompile(`([0-9.]+) MB / +([0-9.]+) sec = +([0-9.]+) Mbps \d+ %[TR]X`)
	nuttcpVerbose = regexp.MustCompile(`MB in ([0-9.]+) real seconds = +[0-9.]+ KB/sec = +([0-9.]+) Mbps`)
	nuttcpRTT     = regexp.MustCompile(`([0-9.]+) msRTT|RTT=([0-9.]+) ms|rtt_ms=([0-9.]+)`)
	nuttcpRetrans = regexp.MustCompile(`(?:^| )([0-9]+) retrans|retrans ?= ?([0-9]+)`)
	nuttcpDrops   = regexp.MustCompile(`([0-9]+) / +([0-9]+) drop/pkt|drop=([0-9]+) pkt=([0-9]+)`)
)

// parseNuttcp reads nuttcp's ordinary lines, those of -fparse, and the long
// ones of -v, in which the receiver's (nuttcp-r) count. Lines of intervals are
// left out; the last line that is of the whole time is the result.
func parseNuttcp(text string, r *Run) error {
	tests := 0
	receiver := false
	lines(text, func(line string) {
		of := strings.HasPrefix(line, "nuttcp-r")
		sender := strings.HasPrefix(line, "nuttcp-t")
		mbps, seconds := nuttcpTotal(line)
		if seconds > 0 && !(sender && receiver) {
			// An RTT of a line before is of the same test.
			r.Metrics[Goodput], r.Counted, receiver = mbps*1e6, seconds, of
			if !of && !sender {
				tests++
			}
		}
		if seconds == 0 && !of && !sender {
			return // an interval's
		}
		if m := nuttcpRTT.FindStringSubmatch(line); m != nil {
			r.MeanRTT = number(m[1]+m[2]+m[3]) / 1e3
		}
		if m := nuttcpRetrans.FindStringSubmatch(line); m != nil {
			r.Retransmits = int64(number(m[1] + m[2]))
		}
		if d := nuttcpDrops.FindStringSubmatch(line); d != nil {
			all := number(d[2] + d[4])
			r.packets(all-number(d[1]+d[3]), all, r.Counted)
		}
	})
	if r.Counted == 0 {
		return errNoResult
	}
	if tests > 1 {
		r.severalTests(tests)
	}
	return nil
}

// nuttcpTotal reads the rate in Mbit/s and the seconds of a whole test; 0 and
// 0 for any other line.
func nuttcpTotal(line string) (mbps, seconds float64) {
	v := map[string]float64{}
	for _, m := range nuttcpPair.FindAllStringSubmatch(line, -1) {
		v[m[1]] = number(m[2])
	}
	if s := v["real_seconds"]; s > 0 { // of intervals: real_sec
		return v["rate_Mbps"], s
	}
	if m := nuttcpClassic.FindStringSubmatch(line); m != nil {
		return number(m[3]), number(m[2])
	}
	if m := nuttcpVerbose.FindStringSubmatch(line); m != nil {
		return number(m[2]), number(m[1])
	}
	return 0, 0
}

// packets records datagrams that arrived of those sent.
func (r *Run) packets(arrived, sent, seconds float64) {
	if !(seconds > 0) || !(sent >= arrived) || arrived < 0 {
		return
	}
	r.Metrics[Packets], r.Metrics[SentPackets] = arrived/seconds, sent/seconds
	if sent > 0 {
		r.Metrics[Loss] = 1 - arrived/sent
	}
}

// parseIperf3Text reads the text that iperf 3 prints without -J: the summary
// lines marked receiver, or sender where there is none. Streams are added up
// unless the tool did that itself, and so are the directions of --bidir.
func parseIperf3Text(text string, r *Run) error {
	roles := map[string]map[string]kerneltext.IperfLine{"sender": {}, "receiver": {}}
	summary, whole := false, ""
	lines(text, func(line string) {
		summary = summary || strings.Contains(line, "- - - ")
		l, ok := kerneltext.ParseIperfLine(line)
		if !ok {
			return
		}
		// Up to 3.1 the summary of UDP does not say whose it is; its losses are
		// what the receiver counted.
		if summary && l.Lost >= 0 && l.Role == "" {
			l.Role = "receiver"
		}
		if roles[l.Role] == nil {
			return
		}
		if l.Stream == "SUM" {
			whole = "SUM"
		}
		roles[l.Role][l.Stream+l.Way] = l
	})
	role := "receiver"
	if len(roles[role]) == 0 {
		role = "sender"
	}
	if len(roles[role]) == 0 {
		return iperf3Said(text)
	}
	r.iperf3Flows(roles, role, whole)
	return nil
}

// iperf3Said is the error that iperf3 printed instead of a result.
func iperf3Said(text string) error {
	for _, what := range []string{"iperf3: error - ", "iperf3: "} {
		if _, why, ok := strings.Cut(text, what); ok {
			why, _, _ = strings.Cut(why, "\n")
			return errors.New(strings.TrimSpace(why))
		}
	}
	return errNoResult
}

// iperf3Flows adds up what one role says, of the sums alone where there are
// any; senders alone know of retransmits.
func (r *Run) iperf3Flows(roles map[string]map[string]kerneltext.IperfLine, role, whole string) {
	var lost, sent float64
	for id, f := range roles[role] {
		if !strings.HasPrefix(id, whole) {
			continue
		}
		r.Metrics[Goodput] += f.BPS
		r.Counted, lost, sent = max(r.Counted, f.To-f.From), lost+max(0, f.Lost), sent+max(0, f.Sent)
	}
	for id, f := range roles["sender"] {
		if f.Again >= 0 && strings.HasPrefix(id, whole) {
			r.Retransmits = max(r.Retransmits, 0) + int64(f.Again)
		}
	}
	if sent > 0 && role == "receiver" {
		r.packets(sent-lost, sent, r.Counted)
	}
}

var (
	tcpbenchUDP  = regexp.MustCompile(`^Elapsed: +(\d+) Mbps: +([0-9.]+) Peak Mbps: +[0-9.]+ ([RT]x) PPS: +(\d+)`)
	tcpbenchConn = regexp.MustCompile(`^Conn: +\d+ Mbps: +([0-9.]+) `)
	tcpbenchSum  = regexp.MustCompile(`(?m)^(\d+) bytes (sent|received) over ([0-9.]+) seconds`)
	tcpbenchMean = regexp.MustCompile(`(?m)^bandwidth min/avg/max/std-dev = [0-9.]+/([0-9.]+)/`)
)

// parseTcpbench reads the lines of OpenBSD's tcpbench: ms since the start,
// bytes, Mbit/s and share, one line a flow and interval, which are averaged by
// their time. With -u it prints other lines; where neither is there, its sums
// over all flows ("Conn:") or its last words count.
func parseTcpbench(text string, r *Run) error {
	if strings.Contains(text, " PPS: ") {
		return r.tcpbenchUDP(text)
	}
	err := tcpbenchFrom(text, 0, r)
	if err == nil {
		return nil
	}
	if m := tcpbenchMean.FindStringSubmatch(text); m != nil {
		if s := tcpbenchSum.FindStringSubmatch(text); s != nil && s[2] == "sent" {
			r.Counted = number(s[3]) // a server's time goes on after its clients
		}
		r.Metrics[Goodput] = number(m[1]) * 1e6
		return nil
	}
	var sum, n float64
	lines(text, func(line string) {
		if m := tcpbenchConn.FindStringSubmatch(line); m != nil {
			sum, n = sum+number(m[1]), n+1
		}
	})
	if n == 0 {
		return err
	}
	r.Metrics[Goodput] = sum / n * 1e6
	return nil
}

// tcpbenchUDP averages the intervals of -u by their time. A client counts what
// it sent, of which nobody knows what arrived.
func (r *Run) tcpbenchUDP(text string) error {
	var last, packets, bits float64
	received := false
	lines(text, func(line string) {
		m := tcpbenchUDP.FindStringSubmatch(line)
		if m == nil {
			return
		}
		at := number(m[1]) / 1e3
		if at > last {
			packets, bits = packets+number(m[4])*(at-last), bits+number(m[2])*1e6*(at-last)
			last, received = at, m[3] == "Rx"
		}
	})
	if last == 0 {
		return errNoResult
	}
	r.Counted = last
	if !received {
		r.Metrics[SentPackets] = packets / last
		return nil
	}
	r.Metrics[Goodput], r.Metrics[Packets] = bits/last, packets/last
	return nil
}

// tcpbenchFrom leaves out what the first seconds carried.
func tcpbenchFrom(text string, omit float64, r *Run) error {
	var bits, from, to float64
	last := -1.0
	lines(text, func(line string) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasSuffix(words[3], "%") {
			return
		}
		at, err := strconv.ParseFloat(words[0], 64)
		if err != nil {
			return
		}
		at /= 1e3
		if last < 0 {
			last = 0
		}
		if at < omit {
			last = at
			return
		}
		if to == 0 {
			from = last
		}
		bits, to = bits+8*number(words[1]), max(to, at)
	})
	if !(to > from) {
		return errNoResult
	}
	r.Counted = to - from
	r.Metrics[Goodput] = bits / r.Counted
	return nil
}
