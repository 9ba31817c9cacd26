package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/stats"
)

// ParsedTools are the tools whose output ParseOutput reads.
func ParsedTools() []string {
	return []string{"iperf3", "iperf", "netperf", "nuttcp", "tcpbench", "wrk", "ab", "h2load", "sockperf", "ping", "fping", "fio", "diskinfo"}
}

// ParseOutput reads what a measuring tool printed. The run has what the output
// tells, in base units; an output without a result is an error that says so.
func ParseOutput(tool string, data []byte) (Run, error) {
	parse := map[string]func(string, *Run) error{"iperf": parseIperf2, "netperf": parseNetperf, "nuttcp": parseNuttcp,
		"tcpbench": parseTcpbench, "wrk": parseWrk, "ab": parseAb, "h2load": parseH2load, "sockperf": parseSockperf,
		"ping": parsePing, "fping": parseFping, "iperf3": parseIperf3Text,
		"fio": parseFio, "diskinfo": parseDiskinfo}[tool]
	if parse == nil {
		return Run{}, fmt.Errorf("tool %q: one of %s is expected", tool, strings.Join(ParsedTools(), ", "))
	}
	if trimmed := bytes.TrimSpace(data); tool == "iperf3" && bytes.HasPrefix(trimmed, []byte("{")) {
		run, err := parseIperf3(unstreamed(trimmed))
		run.Tool = tool
		return run, err
	}
	run := Run{Tool: tool, Retransmits: -1, Metrics: map[string]float64{}, Raw: string(data)}
	text := escapes.ReplaceAllString(string(data), "")
	if tool == "netperf" && strings.HasPrefix(strings.TrimSpace(text), "[") {
		var tables [][]string // as PerfKitBenchmarker stores them
		if err := json.Unmarshal([]byte(text), &tables); err == nil {
			var lines []string
			for _, t := range tables {
				lines = append(lines, t...)
			}
			text = strings.Join(lines, "\n")
		}
	}
	if err := parse(text, &run); err != nil {
		return Run{}, fmt.Errorf("output of %s: %w: %q", tool, err, clip(strings.TrimSpace(text), 200))
	}
	for name, v := range run.Metrics {
		if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			return Run{}, fmt.Errorf("output of %s: an impossible number for %s, %g", tool, name, v)
		}
	}
	if len(run.Metrics) == 0 {
		return Run{}, fmt.Errorf("output of %s: no result in it: %q", tool, clip(strings.TrimSpace(text), 200))
	}
	run.GoodputBPS = run.Metrics[Goodput]
	return run, nil
}

// escapes are the colours of sockperf.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// DetectTool guesses which tool printed an output; empty when none is known.
func DetectTool(data []byte) string {
	head := string(data[:min(len(data), 64<<10)])
	for _, sign := range []struct{ tool, text string }{
		{"fio", `"fio version"`}, {"diskinfo", " usec/IO = "}, {"diskinfo", " kbytes/sec\n"}, {"diskinfo", "# sectorsize"}, {"sockperf", "sockperf:"}, {"h2load", "time for request:"}, {"ab", "ApacheBench"}, {"wrk", "Thread Stats"},
		{"fping", "xmt/rcv/%loss"}, {"ping", "ping statistics"}, {"ping", "ping6 statistics"}, {"tcpbench", "elapsed_ms"},
		{"iperf3", `"bits_per_second"`}, {"iperf3", "iperf Done"}, {"iperf3", "- - - - -"}, {"iperf", "Cwnd/RTT"}, {"iperf3", "Cwnd"}, {"netperf", "AF_INET"}, {"netperf", "THROUGHPUT"},
		{"nuttcp", "megabytes="}, {"iperf3", " sender\n"}, {"iperf", "[ ID] Interval"}, {"netperf", "Throughput Units"},
	} {
		if strings.Contains(head, sign.text) {
			return sign.tool
		}
	}
	switch {
	case iperf2CSV.MatchString(head):
		return "iperf"
	case nuttcpClassic.MatchString(head):
		return "nuttcp"
	}
	return ""
}

var errNoResult = errors.New("no result in it")

// lines calls f for every line of a text.
func lines(text string, f func(string)) {
	s := bufio.NewScanner(strings.NewReader(text))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		f(strings.TrimRight(s.Text(), "\r"))
	}
}

var quantity = regexp.MustCompile(`^([0-9.]+(?:[eE][+-]?[0-9]+)?) ?([A-Za-z%µ/]*)$`)

// withUnit reads a number and turns its unit into base units by the table; a
// unit that is not in it is not a number.
func withUnit(s string, table map[string]float64) (float64, bool) {
	m := quantity.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	factor, known := table[m[2]]
	if err != nil || !known || math.IsInf(v*factor, 0) {
		return 0, false
	}
	return v * factor, true
}

func timeUnits() map[string]float64 {
	return map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1, "m": 60, "h": 3600}
}

// binaryBits turn the byte units of wrk, h2load and iperf, which count in
// 1024s, into bits.
func binaryBits() map[string]float64 {
	t := map[string]float64{"B": 8, "Bytes": 8}
	for i, p := range []string{"K", "M", "G", "T"} {
		f := 8 * math.Pow(1024, float64(i+1))
		t[p+"B"], t[p+"iB"], t[p+"Bytes"] = f, f, f
	}
	return t
}

func rateUnits() map[string]float64 {
	t := map[string]float64{"bits/sec": 1}
	for i, p := range []string{"K", "M", "G", "T"} {
		t[p+"bits/sec"] = math.Pow(1000, float64(i+1))
	}
	for unit, bits := range binaryBits() {
		t[unit+"/sec"] = bits
	}
	return t
}

// percentiles puts a percentile of a distribution under its name.
func (r *Run) percentile(p float64, seconds float64) {
	for name, at := range map[string]float64{LatencyP50: 50, LatencyP90: 90, LatencyP99: 99, LatencyP999: 99.9, LatencyMax: 100} {
		if math.Abs(p-at) < 1e-9 {
			r.Metrics[name] = seconds
		}
	}
}

// distribution fills in what latencies in s show; a percentile above the median needs at
// least one of them beyond it.
func (r *Run) distribution(latencies []float64) {
	if len(latencies) == 0 {
		return
	}
	slices.Sort(latencies)
	var sum float64
	for _, v := range latencies {
		sum += v
	}
	r.Metrics[LatencyMin], r.Metrics[LatencyMax], r.Metrics[LatencyMean] = latencies[0], latencies[len(latencies)-1], sum/float64(len(latencies))
	for name, q := range map[string]float64{LatencyP50: 0.5, LatencyP90: 0.9, LatencyP99: 0.99, LatencyP999: 0.999} {
		if q == 0.5 || float64(len(latencies))*(1-q) >= 1-1e-9 {
			r.Metrics[name] = stats.Quantile(latencies, q)
		}
	}
}

var pingReply = regexp.MustCompile(`time[=<]([0-9.]+) ?ms`)
var pingEnds = regexp.MustCompile(`(?:rtt|round-trip) min/avg/max(?:/[a-z-]+)? = ([0-9.]+)/([0-9.]+)/([0-9.]+)`)
var pingCount = regexp.MustCompile(`([0-9]+) packets transmitted, ([0-9]+) (?:packets )?received`)

// parsePing reads the ping of Linux (iputils, busybox), the BSDs and macOS.
// Duplicates are not counted.
func parsePing(text string, r *Run) error {
	var latencies []float64
	sent, received := -1.0, 0.0
	lines(text, func(line string) {
		if m := pingReply.FindStringSubmatch(line); m != nil && !strings.Contains(line, "DUP") {
			latencies = append(latencies, number(m[1])/1e3)
		}
		if m := pingCount.FindStringSubmatch(line); m != nil {
			sent, received = number(m[1]), number(m[2])
		}
	})
	if sent < 0 {
		return errors.New("no line with packets transmitted: ping was cut short")
	}
	if sent > 0 {
		r.Metrics[Loss] = max(0, 1-received/sent)
	}
	r.distribution(latencies)
	if m := pingEnds.FindStringSubmatch(text); m != nil && len(latencies) == 0 { // ping -q
		r.Metrics[LatencyMin], r.Metrics[LatencyMean], r.Metrics[LatencyMax] = number(m[1])/1e3, number(m[2])/1e3, number(m[3])/1e3
	}
	r.MeanRTT = r.Metrics[LatencyMean]
	return nil
}

var (
	fpingSummary = regexp.MustCompile(`^\S+\s*: xmt/rcv/%loss = (\d+)/(\d+)/[0-9.]+%(?:, outage\(ms\) = [0-9.]+)?(?:, min/avg/max = ([0-9.]+)/([0-9.]+)/([0-9.]+))?`)
	fpingTimes   = regexp.MustCompile(`^\S+\s*:((?: (?:[0-9.]+|-))+)\s*$`)
)

// parseFping reads fping -c, -q and -C.
func parseFping(text string, r *Run) error {
	var latencies []float64
	var sent, received float64
	var summary []string
	reply := regexp.MustCompile(`\], \d+ bytes, ([0-9.]+) ms`)
	lines(text, func(line string) {
		if m := fpingSummary.FindStringSubmatch(line); m != nil {
			summary, sent, received = m, sent+number(m[1]), received+number(m[2])
			return
		}
		if m := reply.FindStringSubmatch(line); m != nil {
			latencies = append(latencies, number(m[1])/1e3)
			return
		}
		if m := fpingTimes.FindStringSubmatch(line); m != nil {
			for _, word := range strings.Fields(m[1]) {
				sent++
				if word != "-" {
					received++
					latencies = append(latencies, number(word)/1e3)
				}
			}
		}
	})
	if sent == 0 {
		return errNoResult
	}
	r.Metrics[Loss] = max(0, 1-received/sent)
	r.distribution(latencies)
	if len(latencies) == 0 && summary != nil && summary[3] != "" {
		r.Metrics[LatencyMin], r.Metrics[LatencyMean], r.Metrics[LatencyMax] = number(summary[3])/1e3, number(summary[4])/1e3, number(summary[5])/1e3
	}
	r.MeanRTT = r.Metrics[LatencyMean]
	return nil
}

var (
	sockperfCount = regexp.MustCompile(`\[Valid Duration\] RunTime=([0-9.]+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)`)
	sockperfPart  = regexp.MustCompile(`---> percentile ([0-9.]+) = +([0-9.]+)`)
	sockperfEnds  = regexp.MustCompile(`---> <(MIN|MAX)> observation = +([0-9.]+)`)
	sockperfMean  = regexp.MustCompile(`avg-(latency|rtt|lat)= *([0-9.]+)`)
	sockperfRate  = regexp.MustCompile(`Message Rate is ([0-9.]+) \[msg/sec\]`)
)

// parseSockperf reads ping-pong, under-load and throughput. Ping-pong prints
// half of the round trip unless it ran with --full-rtt; both are given as round
// trips.
func parseSockperf(text string, r *Run) error {
	factor := 1e-6
	if m := sockperfMean.FindStringSubmatch(text); m != nil {
		if m[1] != "rtt" {
			factor = 2e-6
		}
		r.Metrics[LatencyMean] = number(m[2]) * factor
		r.MeanRTT = r.Metrics[LatencyMean]
	}
	if m := sockperfRate.FindStringSubmatch(text); m != nil {
		r.Metrics[SentPackets] = number(m[1])
	}
	if m := sockperfCount.FindStringSubmatch(text); m != nil && number(m[1]) > 0 {
		r.Metrics[Transactions] = number(m[3]) / number(m[1])
		r.Counted = 0 // the valid duration leaves out sockperf's own warm-up
		if sent := number(m[2]); sent > 0 {
			r.Metrics[Loss] = max(0, 1-number(m[3])/sent)
		}
	}
	for _, m := range sockperfPart.FindAllStringSubmatch(text, -1) {
		r.percentile(number(m[1]), number(m[2])*factor)
	}
	for _, m := range sockperfEnds.FindAllStringSubmatch(text, -1) {
		r.Metrics[map[string]string{"MIN": LatencyMin, "MAX": LatencyMax}[m[1]]] = number(m[2]) * factor
	}
	if len(r.Metrics) == 0 {
		return errNoResult
	}
	return nil
}
