package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

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
	rr := crr || strings.Contains(text, "REQUEST/RESPONSE")
	one := map[string]string{}
	count := 0
	done := func() error {
		if one["throughput"] == "" {
			return nil
		}
		count++
		if one["units"] == "" && rr {
			one["units"] = "Trans/s" // which -k left out
		}
		err := r.netperf(one, crr)
		one = map[string]string{}
		return err
	}
	var failed error
	lines(text, func(line string) {
		if strings.Contains(line, "AF_INET") { // the title of the next test
			crr = strings.Contains(line, "Connect/Request")
			rr = crr || strings.Contains(line, "REQUEST/RESPONSE")
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
		if len(cells) > 1 && slices.ContainsFunc(cells,
			func(c string) bool { return netperfNames()[strings.TrimSpace(c)] == "throughput" }) {
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

// netperfTable reads the classic tables: rows of numbers below a title. The
// first row (of UDP_STREAM two) is the result; more rows under the same title,
// as -v 2 prints them, are of something else. Without titles (-P 0) rows are
// told by their length, and parallel tests are added up.
type netperfTable struct {
	r      *Run
	text   string
	scale  float64 // of a throughput's unit to bit/s
	titled bool
	rows   int // since the last title
	crr    bool
	rr     bool
	udp    bool
	sent   []float64 // the row of a UDP sender
	found  bool
	sums   [2]float64 // datagrams of all UDP tests: sent, arrived
}

// netperfScale is what turns the tables' throughputs into bit/s.
func netperfScale(text string) float64 {
	for i, unit := range []string{"KBytes", "MBytes", "GBytes"} { // -f K, M or G
		if strings.Contains(text, unit) {
			return 8 * math.Pow(1024, float64(i+1))
		}
	}
	switch {
	case strings.Contains(text, "10^9bits"):
		return 1e9
	case strings.Contains(text, "10^3bits"):
		return 1e3
	}
	return 1e6
}

func (r *Run) netperfTables(text string, crr bool) error {
	t := &netperfTable{r: r, text: text, scale: netperfScale(text), crr: crr}
	t.title(text)
	t.titled = strings.Contains(text, "AF_INET")
	lines(text, t.line)
	if t.sums[0] > 0 && t.sums[1] <= t.sums[0] {
		r.Metrics[Loss] = 1 - t.sums[1]/t.sums[0]
	}
	if !t.found {
		return errNoResult
	}
	return nil
}

// title tells the kind of test: by its own title, of the whole text where the
// tests have none.
func (t *netperfTable) title(s string) {
	t.crr = strings.Contains(s, "Connect/Request") || !t.titled && t.crr
	t.rr = t.crr || strings.Contains(s, "REQUEST/RESPONSE") || strings.Contains(s, "Request/Response")
	t.udp = strings.Contains(s, "UDP") && !t.rr
	t.rows = 0
}

func (t *netperfTable) line(line string) {
	if strings.Contains(line, "AF_INET") {
		t.title(line)
		return
	}
	words := strings.Fields(line)
	if t.omni(words) {
		return
	}
	var v []float64
	for _, w := range words {
		n, err := strconv.ParseFloat(w, 64)
		if err != nil || !(n >= -1) || math.IsInf(n, 0) {
			return
		}
		v = append(v, n)
	}
	if len(v) > 0 && (!t.titled || t.rows < 2) && t.row(v) {
		t.rows++
	}
}

// omni reads a row of -O, in which the throughput's unit follows it.
func (t *netperfTable) omni(words []string) bool {
	unit := slices.IndexFunc(words, func(w string) bool { return netperfUnits()[w] > 0 })
	if unit < 1 {
		return false
	}
	for i, w := range words {
		if _, err := strconv.ParseFloat(w, 64); err != nil && i != unit {
			return false
		}
	}
	v := map[string]string{"throughput": words[unit-1], "units": words[unit]}
	if unit >= 2 && unit == len(words)-1 {
		v["elapsed"] = words[unit-2]
	}
	if number(words[unit-1]) > 0 && t.r.netperf(v, t.crr) == nil {
		t.found = true
	}
	return true
}

// row takes a row of numbers: sizes, seconds, then the result and, with -c or
// -C, what processors did.
func (t *netperfTable) row(v []float64) bool {
	switch {
	case t.sent != nil && (len(v) == 4 || len(v) == 6): // what arrived
		t.r.Metrics[SentPackets] += t.sent[3] / max(t.sent[2], 1e-9)
		t.r.Metrics[Goodput] += v[3] * t.scale
		t.r.Metrics[Packets] += v[2] / max(v[1], 1e-9)
		t.sums[0], t.sums[1] = t.sums[0]+t.sent[3], t.sums[1]+v[2]
		t.r.Counted, t.found, t.sent = max(t.r.Counted, v[1]), true, nil
	case t.rows > 0 && t.titled:
		return false
	case t.udp && (len(v) == 6 || len(v) == 8), !t.titled && !t.rr && len(v) == 6:
		t.sent = v // or, without a title, a request/response test
	case t.sent != nil && len(v) == 2:
		t.rate(t.sent)
		t.sent = nil
	case t.rr && len(v) >= 6:
		t.rate(v)
	case !t.rr && !t.udp && len(v) >= 5:
		t.r.Metrics[Goodput] += max(0, v[4]) * t.scale
		t.r.Counted, t.found = max(t.r.Counted, v[3]), true
	default:
		return false
	}
	return true
}

// rate takes a request/response row; with -j or in latency units its sixth
// number is the mean time of an exchange in us.
func (t *netperfTable) rate(v []float64) {
	t.r.Counted, t.found = max(t.r.Counted, v[4]), true
	if strings.Contains(t.text, "per tran") {
		t.r.Metrics[LatencyMean] = max(t.r.Metrics[LatencyMean], max(0, v[5])/1e6)
		return
	}
	t.r.Metrics[map[bool]string{true: Connections, false: Transactions}[t.crr]] += max(0, v[5])
}
