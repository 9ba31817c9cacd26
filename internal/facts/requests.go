package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// RequestTime is how long the parts of one request took, in seconds; negative is what was not shown.
type RequestTime struct {
	// Lookup is that of the server's name, Queue the wait in a proxy for a free server, Connect the handshake of TCP, Answer
	// the server's, Total all of it.
	Lookup  float64 `json:"lookup_seconds"`
	Queue   float64 `json:"queue_seconds"`
	Connect float64 `json:"connect_seconds"`
	Answer  float64 `json:"answer_seconds"`
	Total   float64 `json:"total_seconds"`
	// Server is the one of a proxy's log.
	Server string `json:"server,omitempty"`
	Source Source `json:"source"`
	// End is the line of the total, or the last one read.
	End Source `json:"end"`
}

// requestLimit bounds the requests that are kept.
const requestLimit = 512

// What curl's --write-out variables (curl's src/tool_writeout.c: each from the start of the request, in seconds), dig and
// the logs of HAProxy print (its configuration manual, 8.2.2 and 8.2.3: Tw, Tc, Tr and Tt in milliseconds, -1 for a part that
// was not reached).
var (
	curlTime = regexp.MustCompile(`(?i)^\W*(?:time[_ ])?(name_?lookup|dns(?:[_ ]?(?:lookup|resolution|time))?|lookup|connect|` +
		`(?:tcp )?connection|app_?connect|pre_?transfer|start_?transfer|ttfb|total)(?:[_ ]time)?\s*[:=]\s*(\d{1,6}(?:[.,]\d+)?) ?` +
		`(ms|s|sec|seconds)?\W*$`)
	digTime   = regexp.MustCompile(`^;; Query time: (\d{1,7}) msec`)
	proxyTime = regexp.MustCompile(`haproxy\[\d+\]: (?:[^\s\[]\S* )?\[[^\]]+\] \S+ (\S+/\S+) ` +
		`(?:-?\d+/(-?\d+)/(-?\d+)/(-?\d+)/\+?(\d+) \d{3}|(-?\d+)/(-?\d+)/\+?(\d+)) `)
)

// readRequests reads the times of requests.
func (f *Facts) readRequests(t text) error {
	found := false
	var at *RequestTime
	for i, line := range t.lines() {
		if len(line) > 4096 || len(f.Requests) >= requestLimit {
			continue
		}
		src := f.Line(t.from, i+1)
		if m := digTime.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			took := partSeconds(m[1])
			f.Requests = append(f.Requests, RequestTime{took, -1, -1, -1, took, "", src, src})
			at, found = nil, true
			continue
		}
		if m := proxyTime.FindStringSubmatch(line); m != nil {
			r := RequestTime{Lookup: -1, Queue: partSeconds(m[2] + m[6]), Connect: partSeconds(m[3] + m[7]), Answer: -1,
				Total: partSeconds(m[5] + m[8]), Server: m[1], Source: src, End: src}
			if m[4] != "" {
				r.Answer = partSeconds(m[4])
			}
			f.Requests = append(f.Requests, r)
			at, found = nil, true
			continue
		}
		m := curlTime.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		found = true
		at = f.curlPart(at, strings.ToLower(m[1]), m[2], m[3], src)
	}
	return nothingUnless(found)
}

// curlPart adds a time to the request that is being read, or begins another.
func (f *Facts) curlPart(at *RequestTime, name, digits, unit string, src Source) *RequestTime {
	v, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", "."), 64)
	if err != nil {
		return at
	}
	if unit == "ms" {
		v /= 1000
	}
	isLookup := strings.Contains(name, "lookup") || strings.HasPrefix(name, "dns")
	isConnect := strings.HasSuffix(name, "connect") && !strings.HasPrefix(name, "app") || strings.HasSuffix(name, "connection")
	if at == nil || isLookup && at.Lookup >= 0 || isConnect && at.Connect >= 0 || at.Total >= 0 {
		f.Requests = append(f.Requests, RequestTime{Lookup: -1, Queue: -1, Connect: -1, Answer: -1, Total: -1, Source: src})
		at = &f.Requests[len(f.Requests)-1]
	}
	at.End = src
	switch {
	case isLookup:
		at.Lookup = v
	case isConnect:
		at.Connect = max(v-max(at.Lookup, 0), 0) // it counts from the start of the request
	case name == "total":
		at.Total = v
	}
	return at
}

func partSeconds(digits string) float64 {
	v, err := strconv.Atoi(digits)
	if err != nil || v < 0 {
		return -1
	}
	return float64(v) / 1000
}
