package workload

import (
	"errors"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	wrkPart   = regexp.MustCompile(`^ *([0-9.]+)% +([0-9.]+(?:ns|us|ms|s|m|h))$`)
	wrkMean   = regexp.MustCompile(`^ +Latency +([0-9.]+(?:us|ms|s|m|h)) +\S+ +([0-9.]+(?:us|ms|s|m|h)) `)
	wrkTotal  = regexp.MustCompile(`([0-9]+) requests in ([0-9.]+[a-z]+), ([0-9.]+[KMGT]?B) read`)
	wrkErrors = regexp.MustCompile(`(?:Non-2xx or 3xx responses|connect|read|write|timeout):? (\d+)`)
)

// parseWrk reads wrk 4 and wrk2 with --latency. Answers that are not 2xx or
// 3xx do not count as requests that were answered; socket errors are of
// requests that wrk did not count.
func parseWrk(text string, r *Run) error {
	var total, failed, wrong float64
	uncorrected := false
	lines(text, func(line string) {
		if m := wrkMean.FindStringSubmatch(line); m != nil {
			r.Metrics[LatencyMean], _ = withUnit(m[1], timeUnits())
			r.Metrics[LatencyMax], _ = withUnit(m[2], timeUnits())
			return
		}
		// wrk2 -U prints a second distribution, from when requests were sent
		// late.
		uncorrected = uncorrected || strings.Contains(line, "Uncorrected Latency")
		if m := wrkTotal.FindStringSubmatch(line); m != nil {
			total = number(m[1])
			r.Counted, _ = withUnit(m[2], timeUnits())
			if bits, ok := withUnit(m[3], binaryBits()); ok && r.Counted > 0 {
				r.Metrics[Goodput] = bits / r.Counted
			}
			return
		}
		if m := wrkPart.FindStringSubmatch(line); m != nil && !uncorrected {
			if v, ok := withUnit(m[2], timeUnits()); ok {
				r.percentile(number(m[1]), v)
			}
			return
		}
		if refused := strings.Contains(line, "Non-2xx"); refused || strings.Contains(line, "Socket errors:") {
			for _, m := range wrkErrors.FindAllStringSubmatch(line, -1) {
				failed += number(m[1])
				if refused {
					wrong += number(m[1])
				}
			}
		}
	})
	if r.Counted <= 0 {
		return errors.New("no line with requests and time: the test did not end")
	}
	r.Metrics[Errors] = failed
	r.Metrics[Requests] = max(0, total-wrong) / r.Counted
	return nil
}

var abPart = regexp.MustCompile(`^ *([0-9]+)% +([0-9]+)`)

// abFailed says of what kind the failed requests are; Receive is not in all
// versions.
var abFailed = regexp.MustCompile(`\(Connect: \d+,(?: Receive: \d+,)? Length: (\d+), Exceptions: \d+\)`)

// parseAb reads ApacheBench's text. It calls an answer failed that is longer or
// shorter than the first one was: such are answers all the same, which is said.
func parseAb(text string, r *Run) error {
	fields := map[string]float64{}
	lines(text, func(line string) {
		if key, rest, ok := strings.Cut(line, ":"); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				if v := number(words[0]); v > 0 {
					if _, seen := fields[key]; !seen { // the second mean is of all connections together
						fields[key] = v
					}
				}
			}
		}
		if words := strings.Fields(line); len(words) == 6 && words[0] == "Total:" {
			r.Metrics[LatencyMin] = number(words[1]) / 1e3
		}
		if m := abPart.FindStringSubmatch(line); m != nil {
			r.percentile(number(m[1]), number(m[2])/1e3)
		}
	})
	if fields["Time taken for tests"] <= 0 || fields["Complete requests"] <= 0 {
		return errors.New("no completed requests in it: the test did not end")
	}
	r.Counted = fields["Time taken for tests"]
	if m := abFailed.FindStringSubmatch(text); m != nil && number(m[1]) > 0 {
		n := min(number(m[1]), fields["Failed requests"])
		fields["Failed requests"] -= n
		r.warn("lengths-differ", n, "%.0f answers had another length than the first one, which ab calls failed (its -l "+
			"does not): they count as answered here", n)
	}
	r.Metrics[Errors] = fields["Failed requests"] + fields["Write errors"] + fields["Non-2xx responses"]
	r.Metrics[Requests] = max(0, fields["Complete requests"]-r.Metrics[Errors]) / r.Counted
	if v := fields["Time per request"]; v > 0 {
		r.Metrics[LatencyMean] = v / 1e3
	}
	if v := fields["Total transferred"]; v > 0 {
		r.Metrics[Goodput] = v * 8 / r.Counted
	}
	return nil
}

var (
	h2Finished = regexp.MustCompile(`finished in ([0-9.]+[a-z]+), ([0-9.]+) req/s, ([0-9.]+[KMGT]?B)/s`)
	h2Requests = regexp.MustCompile(`(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout`)
	h2Status   = regexp.MustCompile(`(\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx`)
)

// parseH2load reads h2load's text: min, max, mean and spread of the time for a
// request; after 1.68 the median and percentiles are columns, too.
func parseH2load(text string, r *Run) error {
	m := h2Finished.FindStringSubmatch(text)
	if m == nil {
		return errors.New("no line \"finished in\": the test did not end")
	}
	r.Counted, _ = withUnit(m[1], timeUnits())
	if bits, ok := withUnit(m[3], binaryBits()); ok {
		r.Metrics[Goodput] = bits
	}
	r.Metrics[Requests] = number(m[2])
	if m := h2Requests.FindStringSubmatch(text); m != nil && r.Counted > 0 {
		// Failed are all: the errored and the timed out are among them
		// (h2load(1)), and so are answers that are not 2xx or 3xx.
		r.Metrics[Errors] = max(number(m[2]), number(m[3]))
		done := number(m[1])
		if s := h2Status.FindStringSubmatch(text); s != nil {
			done = min(done, number(s[1])+number(s[2]))
			r.Metrics[Errors] = max(r.Metrics[Errors], number(s[3])+number(s[4]))
		}
		r.Metrics[Requests] = done / r.Counted
	}
	var columns []string
	lines(text, func(line string) {
		words := strings.Fields(line)
		if len(words) > 3 && words[0] == "min" {
			columns = words
		}
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "time for request:")
		if !ok {
			rest, ok = strings.CutPrefix(strings.TrimSpace(line), "request     :")
		}
		if !ok {
			return
		}
		for i, word := range strings.Fields(rest) {
			name := ""
			if i < len(columns) {
				name = map[string]string{"min": LatencyMin, "max": LatencyMax, "mean": LatencyMean, "median": LatencyP50, "p95": "",
					"p99": LatencyP99}[columns[i]]
			}
			if v, ok := withUnit(word, timeUnits()); ok && name != "" {
				r.Metrics[name] = v
			}
		}
	})
	return nil
}
