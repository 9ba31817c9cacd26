package workload

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/stats"
)

// ParsedTools are the tools whose output ParseOutput reads.
func ParsedTools() []string {
	return []string{"iperf3", "iperf", "netperf", "nuttcp", "tcpbench", "wrk", "ab", "h2load", "sockperf", "ping", "fping",
		"fio", "diskinfo"}
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
	if at := jsonStart.FindIndex(data); tool == "iperf3" && at != nil {
		run, err := parseIperf3JSON(bytes.TrimSpace(data[at[0]:]))
		if err == nil && len(run.Metrics) == 0 {
			err = errors.New("output of iperf3: no byte arrived")
		}
		run.Tool = tool
		return run, err
	}
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
	run, err := lastTest(tool, text, parse)
	if err != nil {
		return Run{}, fmt.Errorf("output of %s: %w: %q", tool, err, clip(strings.TrimSpace(text), 200))
	}
	run.Raw = string(data)
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

// jsonStart is where an output goes over to JSON, after what a shell or a
// library said before.
var jsonStart = regexp.MustCompile(`(?m)^\s*\{`)

// begins are the lines with which the tools' tests begin; tools that are not
// in it have none, or are run side by side and added up.
func begins() map[string]string {
	return map[string]string{
		"iperf":  `(?m)^(?:Client connecting to|Server listening on) `,
		"iperf3": `(?m)^(?:\S+ )*(?:Connecting to host|Accepted connection from) `,
		"wrk":    `(?m)^Running \S+ test @ `, "ab": `(?m)^This is ApacheBench`, "h2load": `(?m)^starting benchmark`,
		"sockperf": `(?m)^sockperf: == version #`, "ping": `(?m)^PING6?[ (]`,
	}
}

// lastTest reads the last test in a text that has a result. Where there are
// several, that is said: their numbers do not add up.
func lastTest(tool, text string, parse func(string, *Run) error) (Run, error) {
	starts := []int{0}
	if begin := begins()[tool]; begin != "" {
		for i, at := range regexp.MustCompile(begin).FindAllStringIndex(text, -1) {
			if i > 0 {
				starts = append(starts, at[0])
			}
		}
	}
	return lastGood(len(starts), func(i int) (Run, error) {
		to := len(text)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		run := Run{Tool: tool, Retransmits: -1, Metrics: map[string]float64{}}
		err := parse(text[starts[i]:to], &run)
		return run, err
	})
}

// lastGood returns the last of n tests that has a result, and says that there
// are others.
func lastGood(n int, read func(int) (Run, error)) (last Run, failed error) {
	good, after := 0, 0
	for i := n - 1; i >= 0; i-- {
		run, err := read(i)
		switch {
		case err != nil && good == 0:
			failed, after = cmp.Or(failed, err), after+1
		case err == nil:
			if good++; good == 1 {
				last = run
			}
		}
	}
	if good == 0 {
		return last, cmp.Or(failed, errNoResult)
	}
	if good > 1 {
		last.severalTests(good)
	}
	if after > 0 {
		last.warn("test-cut", float64(after),
			"the output goes on with a test that has no result (%v): the numbers are of the one before", failed)
	}
	return last, nil
}

func (r *Run) severalTests(n int) {
	r.warn("several-tests", float64(n), "the output is of %d tests, one after another: the numbers are the last one's", n)
}

// escapes are the colours of sockperf.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// DetectTool guesses which tool printed an output; empty when none is known.
func DetectTool(data []byte) string {
	head := string(data[:min(len(data), 64<<10)])
	for _, sign := range []struct{ tool, text string }{
		{"fio", `"fio version"`}, {"diskinfo", " usec/IO = "}, {"diskinfo", " kbytes/sec\n"}, {"diskinfo", "# sectorsize"},
		{"sockperf", "sockperf:"}, {"h2load", "time for request:"}, {"h2load", " succeeded, "}, {"ab", "ApacheBench"},
		{"wrk", "Thread Stats"},
		{"fping", "xmt/rcv/%loss"}, {"fping", "xmt/rcv/%return"}, {"fping", "% loss)"}, {"fping", `{"resp": {`},
		{"fping", `{"summary": {`}, {"fping", `{"vSum": {`}, {"ping", "ping statistics"}, {"ping", "ping6 statistics"},
		{"tcpbench", "elapsed_ms"}, {"tcpbench", "tcpbench statistics"}, {"tcpbench", "tcpbench server statistics"},
		{"tcpbench", " Peak Mbps: "},
		{"iperf3", `"bits_per_second"`}, {"iperf3", "iperf Done"}, {"iperf3", "- - - - -"}, {"iperf", "Cwnd/RTT"},
		{"iperf3", "Cwnd"}, {"netperf", "AF_INET"}, {"netperf", "THROUGHPUT"},
		{"nuttcp", "megabytes="}, {"nuttcp", " real seconds = "}, {"iperf3", " sender\n"}, {"iperf", "[ ID] Interval"},
		{"iperf", "[SUM-cnt] Interval"}, {"netperf", "Throughput Units"},
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
	return map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1, "m": 60,
		"h": 3600}
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
	for name, at := range map[string]float64{LatencyP50: 50, LatencyP90: 90, LatencyP99: 99, LatencyP999: 99.9,
		LatencyMax: 100} {
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
	r.Metrics[LatencyMin], r.Metrics[LatencyMax], r.Metrics[LatencyMean] = latencies[0], latencies[len(latencies)-1],
		sum/float64(len(latencies))
	for name, q := range map[string]float64{LatencyP50: 0.5, LatencyP90: 0.9, LatencyP99: 0.99, LatencyP999: 0.999} {
		if q == 0.5 || float64(len(latencies))*(1-q) >= 1-1e-9 {
			r.Metrics[name] = stats.Quantile(latencies, q)
		}
	}
}
