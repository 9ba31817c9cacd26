package workload

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	nuttcpPair    = regexp.MustCompile(`([A-Za-z_]+)=([0-9.]+)`)
	nuttcpClassic = regexp.MustCompile(`([0-9.]+) MB / +([0-9.]+) sec = +([0-9.]+) Mbps`)
	nuttcpRTT     = regexp.MustCompile(`([0-9.]+) msRTT`)
	nuttcpRetrans = regexp.MustCompile(`([0-9]+) retrans`)
	nuttcpDrops   = regexp.MustCompile(`([0-9]+) / +([0-9]+) drop/pkt`)
)

// parseNuttcp reads nuttcp's -fparse lines and its ordinary ones; the last
// line that is not an interval's is the result.
func parseNuttcp(text string, r *Run) error {
	lines(text, func(line string) {
		v := map[string]float64{}
		for _, m := range nuttcpPair.FindAllStringSubmatch(line, -1) {
			v[m[1]] = number(m[2])
		}
		if seconds := v["real_seconds"]; seconds > 0 {
			r.nuttcp(v["rate_Mbps"], seconds, v["rtt_ms"])
			if n, ok := v["retrans"]; ok {
				r.Retransmits = int64(n)
			}
			if n, ok := v["pkt"]; ok {
				r.packets(n-v["drop"], n, seconds)
			}
			return
		}
		if m := nuttcpClassic.FindStringSubmatch(line); m != nil && strings.Contains(line, "%TX") && number(m[2]) > 0 {
			rtt := 0.0
			if m := nuttcpRTT.FindStringSubmatch(line); m != nil {
				rtt = number(m[1])
			}
			r.nuttcp(number(m[3]), number(m[2]), rtt)
			if m := nuttcpRetrans.FindStringSubmatch(line); m != nil {
				r.Retransmits = int64(number(m[1]))
			}
			if d := nuttcpDrops.FindStringSubmatch(line); d != nil {
				r.packets(number(d[2])-number(d[1]), number(d[2]), number(m[2]))
			}
		}
	})
	if r.Counted == 0 {
		return errNoResult
	}
	return nil
}

func (r *Run) nuttcp(mbps, seconds, rttMS float64) {
	r.Metrics[Goodput], r.Counted, r.MeanRTT = mbps*1e6, seconds, rttMS/1e3
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

var (
	iperf2CSV   = regexp.MustCompile(`(?m)^[+0-9.:-]+,[^,]*,\d+,[^,]*,\d+,-?\d+,[0-9.]+-[0-9.]+,\d+,\d+`)
	iperf2Line  = regexp.MustCompile(`(?:^|\s)\[ *(\*?\d+|SUM|FD\d+)[^\]]*\] +([0-9.]+)- *([0-9.]+) sec +([0-9.]+ [KMGT]?Bytes) +([0-9.]+ [KMGT]?(?:bits|Bytes)/sec)(.*)$`)
	iperf2Lost  = regexp.MustCompile(` (\d+)/ *(\d+) \(`)
	iperf3Line  = regexp.MustCompile(`(?:^|\s)\[ *(\d+|SUM)\](?:\[[A-Z-]+\])? +([0-9.]+)-([0-9.]+) +sec +([0-9.]+ [KMGT]?Bytes) +([0-9.]+ [KMGT]?(?:bits|Bytes)/sec)(.*)$`)
	iperf3Retr  = regexp.MustCompile(`^ +(\d+) +sender`)
	iperf2Total = 0.01 // how near an interval's start must be to 0, s
)

// parseIperf2 reads the text and the CSV (-y C) of iperf 2. Of several reports
// of one flow the one over the whole time counts; flows are added up unless
// the tool did that itself.
func parseIperf2(text string, r *Run) error {
	type flow struct{ start, end, bits, lost, sent float64 }
	flows := map[string]flow{}
	var order []string
	add := func(id string, f flow) {
		old, seen := flows[id]
		if !seen {
			order = append(order, id)
		}
		if f.start <= iperf2Total && f.end >= old.end {
			flows[id] = f
		}
	}
	lines(text, func(line string) {
		if cells := strings.Split(line, ","); iperf2CSV.MatchString(line) && len(cells) >= 9 {
			from, to, _ := strings.Cut(cells[6], "-")
			f := flow{start: number(from), end: number(to), bits: number(cells[8])}
			if len(cells) >= 13 {
				f.lost, f.sent = number(cells[10]), number(cells[11])
			}
			id := cells[5]
			if id == "-1" {
				id = "SUM"
			}
			add(id, f)
			return
		}
		m := iperf2Line.FindStringSubmatch(line)
		if m == nil {
			return
		}
		bits, ok := withUnit(m[5], rateUnits())
		f := flow{start: number(m[2]), end: number(m[3]), bits: bits}
		if l := iperf2Lost.FindStringSubmatch(m[6]); l != nil {
			f.lost, f.sent = number(l[1]), number(l[2])
		}
		if ok {
			add(m[1], f)
		}
	})
	if sum, ok := flows["SUM"]; ok && sum.end > 0 {
		flows, order = map[string]flow{"SUM": sum}, []string{"SUM"}
	}
	if both := slices.DeleteFunc(slices.Clone(order), func(id string) bool { return id[0] != 'F' && id[0] != '*' }); len(both) > 0 {
		order = both // --full-duplex adds up each flow's directions
	}
	var lost, sent float64
	for _, id := range order {
		f := flows[id]
		r.Metrics[Goodput] += f.bits
		r.Counted, lost, sent = max(r.Counted, f.end-f.start), lost+f.lost, sent+f.sent
	}
	if r.Counted == 0 {
		return errNoResult
	}
	if sent > 0 {
		r.packets(sent-lost, sent, r.Counted)
	}
	return nil
}

// parseIperf3Text reads the text that iperf 3 prints without -J: the summary
// lines marked receiver, or sender where there is none.
func parseIperf3Text(text string, r *Run) error {
	type end struct{ bits, seconds float64 }
	sums := map[string]map[string]end{}
	summary := false
	lines(text, func(line string) {
		summary = summary || strings.HasPrefix(line, "- - - ")
		m := iperf3Line.FindStringSubmatch(line)
		if m == nil {
			return
		}
		// Up to 3.1 the summary of UDP does not say whose it is; its losses are
		// what the receiver counted.
		if summary && iperf2Lost.MatchString(m[6]) && !strings.Contains(m[6], "er") {
			line, m[6] = line+" receiver", m[6]+" receiver"
		}
		for _, role := range []string{"sender", "receiver"} {
			bits, ok := withUnit(m[5], rateUnits())
			if !ok || !strings.HasSuffix(strings.TrimSpace(line), role) {
				continue
			}
			if sums[role] == nil {
				sums[role] = map[string]end{}
			}
			old := sums[role][m[1]]
			sums[role][m[1]] = end{old.bits + bits, number(m[3]) - number(m[2])} // both directions of --bidir
			if n := iperf3Retr.FindStringSubmatch(m[6]); n != nil && (m[1] == "SUM" || r.Retransmits < 0) {
				if v, err := strconv.ParseInt(n[1], 10, 64); err == nil {
					r.Retransmits = v
				}
			}
			if l := iperf2Lost.FindStringSubmatch(m[6]); l != nil && role == "receiver" {
				r.packets(number(l[2])-number(l[1]), number(l[2]), number(m[3])-number(m[2]))
			}
		}
	})
	role := sums["receiver"]
	if role == nil {
		role = sums["sender"]
	}
	if role == nil {
		if _, why, ok := strings.Cut(text, "iperf3: error - "); ok {
			return errors.New(strings.TrimSpace(lastLine(why)))
		}
		return errNoResult
	}
	if sum, ok := role["SUM"]; ok {
		role = map[string]end{"SUM": sum}
	}
	for _, e := range role {
		r.Metrics[Goodput] += e.bits
		r.Counted = max(r.Counted, e.seconds)
	}
	return nil
}

// parseTcpbench reads the lines of OpenBSD's tcpbench: ms since the start,
// bytes, Mbit/s and share, one line a flow and interval. Intervals are
// averaged by their time; the sums of flows are printed as "Conn:".
func parseTcpbench(text string, r *Run) error {
	return tcpbenchFrom(text, 0, r)
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

// netperfNames are the output selectors of netperf's omni tests and the
// headings of its CSV.
func netperfNames() map[string]string {
	return map[string]string{
		"THROUGHPUT": "throughput", "Throughput": "throughput", "THROUGHPUT_UNITS": "units", "Throughput Units": "units",
		"ELAPSED_TIME": "elapsed", "Elapsed Time (sec)": "elapsed",
		"MIN_LATENCY": LatencyMin, "Minimum Latency Microseconds": LatencyMin,
		"MAX_LATENCY": LatencyMax, "Maximum Latency Microseconds": LatencyMax,
		"MEAN_LATENCY": LatencyMean, "Mean Latency Microseconds": LatencyMean,
		"P50_LATENCY": LatencyP50, "50th Percentile Latency Microseconds": LatencyP50,
		"P90_LATENCY": LatencyP90, "90th Percentile Latency Microseconds": LatencyP90,
		"P99_LATENCY": LatencyP99, "99th Percentile Latency Microseconds": LatencyP99,
		"LOCAL_TRANSPORT_RETRANS": "retrans", "Local Transport Retransmissions": "retrans",
	}
}

// parseNetperf reads netperf 2: key=value (-k), CSV (-o) and the classic
// tables. Several results in one output are parallel tests: their throughputs
// are added up.
func parseNetperf(text string, r *Run) error {
	var header []string
	crr := strings.Contains(text, "Connect/Request")
	one := map[string]string{}
	count := 0
	done := func() error {
		if one["throughput"] == "" {
			return nil
		}
		count++
		err := r.netperf(one, crr)
		one = map[string]string{}
		return err
	}
	var failed error
	lines(text, func(line string) {
		if strings.Contains(line, "AF_INET") { // the title of the next test
			crr = strings.Contains(line, "Connect/Request")
		}
		if key, value, ok := strings.Cut(line, "="); ok && netperfNames()[key] != "" {
			name := netperfNames()[key]
			if name == "throughput" {
				failed = errors.Join(failed, done())
			}
			one[name] = strings.TrimSpace(value)
			return
		}
		cells := strings.Split(line, ",")
		if len(cells) > 1 && netperfNames()[strings.TrimSpace(cells[0])] != "" {
			header = cells
			return
		}
		if header != nil && len(cells) == len(header) {
			for i, name := range header {
				one[netperfNames()[strings.TrimSpace(name)]] = strings.TrimSpace(cells[i])
			}
			failed = errors.Join(failed, done())
			return
		}
	})
	failed = errors.Join(failed, done())
	if failed == nil && count == 0 {
		failed = r.netperfTables(text, crr)
	}
	return failed
}

// netperfUnits are the units of a throughput: bits, or 1 for transactions.
func netperfUnits() map[string]float64 {
	return map[string]float64{"10^3bits/s": 1e3, "10^6bits/s": 1e6, "10^9bits/s": 1e9, "bits/s": 1, "": 1e6,
		"Bytes/s": 8, "KBytes/s": 8 << 10, "MBytes/s": 8 << 20, "GBytes/s": 8 << 30, "Trans/s": 1}
}

func (r *Run) netperf(v map[string]string, crr bool) error {
	t, err := strconv.ParseFloat(v["throughput"], 64)
	if err != nil || !(t >= 0) {
		return fmt.Errorf("throughput %q is not a number", v["throughput"])
	}
	switch factor, known := netperfUnits()[v["units"]]; {
	case v["units"] == "Trans/s" && crr:
		r.Metrics[Connections] += t
	case v["units"] == "Trans/s":
		r.Metrics[Transactions] += t
	case known:
		r.Metrics[Goodput] += t * factor
	default:
		return fmt.Errorf("throughput unit %q is not known", v["units"])
	}
	for _, name := range []string{LatencyMin, LatencyMean, LatencyP50, LatencyP90, LatencyP99, LatencyMax} {
		if us := number(v[name]); us > 0 {
			r.Metrics[name] = max(r.Metrics[name], us/1e6)
		}
	}
	if n, err := strconv.ParseInt(v["retrans"], 10, 64); err == nil && n >= 0 {
		r.Retransmits = max(r.Retransmits, 0) + n
	}
	r.Counted = max(r.Counted, number(v["elapsed"]))
	return nil
}

// netperfTables reads the classic tables: a row of numbers below a heading.
func (r *Run) netperfTables(text string, crr bool) error {
	rr := strings.Contains(text, "REQUEST/RESPONSE") || strings.Contains(text, "Request/Response") || crr
	udp := strings.Contains(text, "UDP") && !rr
	scale := 1e6
	if strings.Contains(text, "10^9bits") {
		scale = 1e9
	} else if strings.Contains(text, "10^3bits") {
		scale = 1e3
	}
	for i, unit := range []string{"KBytes", "MBytes", "GBytes"} { // -f K, M or G
		if strings.Contains(text, unit) {
			scale = 8 * math.Pow(1024, float64(i+1))
		}
	}
	found := false
	lines(text, func(line string) {
		words := strings.Fields(line)
		if n := len(words); n >= 3 && netperfUnits()[words[n-1]] > 0 { // of -t omni
			if elapsed, t := number(words[n-3]), number(words[n-2]); elapsed > 0 {
				found = r.netperf(map[string]string{"throughput": words[n-2], "units": words[n-1], "elapsed": words[n-3]}, crr) == nil && t > 0 || found
			}
			return
		}
		var v []float64
		for _, w := range words {
			n, err := strconv.ParseFloat(w, 64)
			if err != nil || !(n >= -1) {
				return
			}
			v = append(v, n)
		}
		switch {
		case rr && len(v) >= 6:
			r.Metrics[map[bool]string{true: Connections, false: Transactions}[crr]] += v[5]
			r.Counted, found = max(r.Counted, v[4]), true
		case udp && len(v) == 6: // sent
			r.Metrics[SentPackets] += v[3] / max(v[2], 1e-9)
		case udp && len(v) == 4: // received
			r.Metrics[Goodput] += v[3] * scale
			r.Metrics[Packets] += v[2] / max(v[1], 1e-9)
			r.Counted, found = max(r.Counted, v[1]), true
		case !rr && !udp && len(v) >= 5:
			r.Metrics[Goodput] += v[4] * scale
			r.Counted, found = max(r.Counted, v[3]), true
		}
	})
	if !found {
		return errNoResult
	}
	return nil
}
