package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Lines of the logs of load balancers, and of load generators, that say how long the parts of requests took.
var (
	// BalancerLine is a request in the log of Amazon's load balancers: client, target, then the seconds in the balancer, of the
	// target, and of the answer's way back; -1 is a part that was not reached.
	BalancerLine = regexp.MustCompile(`\d{4}-\d\d-\d\dT\S+Z \S+ [0-9a-f.:]+:\d+ ([0-9a-f.:\[\]]+:\d+|-) (-1|\d+\.\d+) ` +
		`(-1|\d+\.\d+) (-1|\d+\.\d+) (\d{3}) (?:\d{3}|-) \d+ \d+ "`)
	// MeshLine is a request in Envoy's log with its response code and flags (its documentation, access logging): UF is a
	// connection upstream that failed, UO a limit of the cluster, UT an answer that came too late.
	MeshLine = regexp.MustCompile(`" (\d{3}) ((?:[A-Z]{2,5},)*(?:UF|UO|UT)(?:,[A-Z]{2,5})*) (?:\S+ )?`)
	// LoadLine is what ab (support/ab.c) and hey (requester/print.go) say of connections: the least, the mean, and the
	// longest.
	LoadLine = regexp.MustCompile(`^\s*Connect: +\d+ +\d+ +\d+\.\d+ +\d+ +(\d+)$|` +
		`^\s*DNS\+dialup:\s+[0-9.]+ secs, [0-9.]+ secs, ([0-9.]+) secs`)
	loadShare  = regexp.MustCompile(`^\s*(\d{1,3})%\s+(\d{1,6})(?: \(longest request\))?$`)
	meshServer = regexp.MustCompile(`\boutbound\|\d+\|[^|]*\|([\w.-]+)`)
)

// balancerRequest reads such a line.
func balancerRequest(line string) (r RequestTime, ok bool) {
	r = RequestTime{Lookup: -1, Queue: -1, Connect: -1, Answer: -1, Total: -1}
	if m := BalancerLine.FindStringSubmatch(line); m != nil {
		r.Server = m[1]
		if m[3] != "-1" {
			r.Answer = amount(m[3])
			r.Total = amount(m[2]) + r.Answer + amount(m[4])
		} else if m[5] == "504" && m[1] != "-" { // the target did not take the connection in time, or not answer
			r.State = "sC"
		}
		return r, true
	}
	if m := MeshLine.FindStringSubmatch(line); m != nil {
		if s := meshServer.FindStringSubmatch(line); s != nil {
			r.Server = s[1]
		}
		flags := "," + m[2] + ","
		switch {
		case strings.Contains(flags, ",UO,"):
			r.State = "UO"
		case strings.Contains(flags, ",UT,"):
			r.State = "sH"
		case strings.Contains(line, "connection_timeout") || strings.Contains(line, "connection_timed_out"):
			r.State = "sC"
		}
		return r, true
	}
	return r, false
}

// loadRequest is the slowest connection of a load generator's summary.
func loadRequest(line string) (r RequestTime, ok bool) {
	m := LoadLine.FindStringSubmatch(line)
	if m == nil {
		return r, false
	}
	r = RequestTime{Lookup: -1, Queue: -1, Connect: amount(m[2]), Answer: -1, Total: -1}
	if m[1] != "" {
		r.Connect = amount(m[1]) / 1000
	}
	return r, true
}

// repeatedSYN are the seconds after which Linux sends a SYN again, since 3.1 and before it (RFC 6298 lowered the first wait
// from 3 s to 1 s).
var repeatedSYN = []float64{1, 3, 7, 15, 31, 9, 21, 45, 93}

// loadShares finds in ab's table of percentiles those requests that a repeated SYN held back: several rows stand at its
// steps, and half of all requests were quick.
func loadShares(lines []string) (r RequestTime, line int) {
	const near, quick = 0.08, 0.5
	r = RequestTime{Lookup: -1, Queue: -1, Connect: -1, Answer: -1, Total: -1}
	steps := map[float64]bool{}
	half := -1.0
	for i, text := range lines {
		m := loadShare.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		took := amount(m[2]) / 1000
		if m[1] == "50" {
			half = took
		}
		for _, step := range repeatedSYN {
			if took >= step && took < step+near {
				steps[step] = true
				r.Connect, line = step, i+1
			}
		}
	}
	if half < 0 || half > quick || len(steps) < 2 {
		return r, 0
	}
	return r, line
}

// curlFormat is a line that curl was told to print (--write-out): texts, and a variable behind each of them.
type curlFormat struct{ texts, names []string }

// curlFormatOf is the line of a command's format that has most times in it.
func curlFormatOf(typed string) (most curlFormat) {
	const limit = 1024
	m := curlWritten.FindStringSubmatch(typed[:min(len(typed), limit)])
	if m == nil {
		return most
	}
	for line := range strings.Lines(curlEscapes.Replace(m[1] + m[2] + m[3])) {
		var f curlFormat
		for part := range strings.SplitSeq(strings.TrimSpace(line), "}") {
			if text, name, ok := strings.Cut(part, "%{"); ok {
				f.texts, f.names = append(f.texts, text), append(f.names, name)
			}
		}
		if len(f.names) > len(most.names) {
			most = f
		}
	}
	return most
}

// read returns the values in a line of that format.
func (f curlFormat) read(line string) (values map[string]string) {
	rest := strings.TrimSpace(line)
	for i, text := range f.texts {
		after, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t"), strings.Trim(text, " \t"))
		if !ok {
			return nil
		}
		after = strings.TrimLeft(after, " \t")
		end := strings.IndexFunc(after, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end < 0 {
			end = len(after)
		}
		if values == nil {
			values = map[string]string{}
		}
		values[f.names[i]], rest = after[:end], after[end:]
	}
	return values
}

var curlEscapes = strings.NewReplacer(`\\n`, "\n", `\n`, "\n", `\t`, "\t", `\r`, "")

var curlWritten = regexp.MustCompile(`(?:-w|--write-out|-[a-zA-Z]+w) *=?(?:'([^']*)'|"([^"]*)"|(%\{\S+))`)

// UpstreamLine is a request in an access log of nginx that names the times of its upstream server, by the variables' names
// or the usual short ones: uct is $upstream_connect_time, urt $upstream_response_time, rt $request_time
// (ngx_http_upstream_module).
var UpstreamLine = regexp.MustCompile(`\b(?:uct|upstream_connect_time)["']?[=:] ?["']?\d{1,5}\.\d{3}\b`)

var upstreamPart = regexp.MustCompile(`\b(uct|upstream_connect_time|urt|upstream_response_time|rt|request_time)["']?[=:] ?["']?(\d{1,5}\.\d{3})\b`)

// upstreamRequest reads such a line.
func upstreamRequest(line string) (r RequestTime, ok bool) {
	if !UpstreamLine.MatchString(line) {
		return r, false
	}
	r = RequestTime{Lookup: -1, Queue: -1, Connect: -1, Answer: -1, Total: -1}
	for _, m := range upstreamPart.FindAllStringSubmatch(line, -1) {
		switch took := amount(m[2]); m[1] {
		case "uct", "upstream_connect_time":
			r.Connect = took
		case "urt", "upstream_response_time":
			r.Answer = took
		default:
			r.Total = took
		}
	}
	r.Answer -= min(max(r.Connect, 0), max(r.Answer, 0)) // it counts from the start of the connection
	return r, true
}
