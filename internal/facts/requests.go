package facts

import (
	"cmp"
	"slices"
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
	// Sent is when curl was ready to send its request, from which on it waited for the answer.
	Sent float64 `json:"-"`
	// Server is the one of a proxy's log, End state the two letters by which HAProxy says who ended the session and when
	// (its configuration manual, 8.5); empty is that it ended as it should, or was not shown.
	Server string `json:"server,omitempty"`
	State  string `json:"end_state,omitempty"`
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
	curlTime = regexp.MustCompile(`(?i)^\W*(?:time[_ ])?(name_?lookup|dns(?:[_ ]?(?:lookup|resolution|time))?|` +
		`lookup|connect|` +
		`(?:tcp )?connection|app_?con(?:nect)?|pre_?(?:transfer|xfer)|start_?(?:transfer|xfer)|ttfb|` +
		`total)(?:[_ ]time)?\s*[:=]\s*(\d{1,6}(?:[.,]\d+)?) ?` +
		`(ms|s|sec|seconds)?\W*$`)
	curlTimes = regexp.MustCompile(`time_(namelookup|connect|appconnect|pretransfer|starttransfer|total)"?\s*[:=]\s*` +
		`(\d{1,6}(?:[.,]\d+)?)(ms|s)?`)
	digTime   = regexp.MustCompile(`^;; Query time: (\d{1,7}) msec`)
	proxyTime = regexp.MustCompile(`(?:haproxy\[\d+\]: (?:[^\s\[]\S* )?\[[^\]]+\]|` + proxyDate + `) \S+ (\S+/\S+) ` +
		`(?:-?\d+/(-?\d+)/(-?\d+)/(-?\d+)/\+?(\d+) -?\d{1,3}|` +
		`(-?\d+)/(-?\d+)/\+?(\d+)) (?:\+?\d+ (?:\S+ \S+ )?([A-Za-z-]{2,4}) )?`)
	proxyPart  = regexp.MustCompile(`"([Tt][wcrat])" ?: ?"?(-?\d{1,9})`)
	proxyState = regexp.MustCompile(`"(?:termination_state|tsc?)" ?: ?"([A-Za-z-]{2,4})"`)
)

// proxyDate is the time at which HAProxy accepted a request, by which its lines are known where the program's name was cut.
const proxyDate = `\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\.\d{3}\]`

// ProxyLine is a line of HAProxy's log, as it is by itself or in JSON.
var ProxyLine = regexp.MustCompile(proxyDate + ` \S+ \S+/\S+ -?\d+/-?\d+/[-+]?\d+|"(?:termination_state|` +
	`tsc)" ?: ?"[A-Za-z-]{2,4}"`)

// What tools that look up a name print before their time: nslookup, host and dig (BIND), busybox and getent; ClockLine is the time
// that a command took, as the time of the shell and of busybox prints it.
var (
	lookedUp = regexp.MustCompile(`^(?:Server:\s|Name:\s|Address(?: \d+)?:|nslookup: |;; |\S+ has (?:IPv6 )?address |` +
		`(?:\d+\.\d+\.\d+\.\d+|[0-9a-f]*:[0-9a-f:]+)\s+\S+\.\S+$)`)
	ClockLine = regexp.MustCompile(`^real\s+(\d{1,3})m ?(\d{1,2}(?:[.,]\d+)?)s$`)
)

// Connected is what nc says of an address to which it connected: OpenBSD's, the traditional one, and nmap's ncat.
var Connected = regexp.MustCompile(`^Connection to (?:\S+ \()?[0-9a-f.:]+\)? \S+ port \[\S+\] succeeded!|` +
	`^\(UNKNOWN\) \[[0-9.]+\] \d+ \(\S+\) open$|` +
	`^Ncat: Connected to [0-9.]+:\d+\.`)

// recursionTime is what unbound logs of its queries on average (services/mesh.c), what unbound-control stats shows of them, and what resolvectl query says of one.
var recursionTime = regexp.MustCompile(`(?:average recursion processing time|Information acquired via protocol \S+ in) (\d{1,6}(?:\.\d+)?) ?s|` +
	`^\s*(?:total|thread\d+)\.recursion\.time\.avg=(\d{1,6}(?:\.\d+)?)$`)

// readRequests reads the times of requests.
func (f *Facts) readRequests(t text) error {
	found, lookup, connected := false, 0, false
	var at *RequestTime
	if r, line := loadShares(t.lines()); line > 0 {
		r.Source = f.Line(t.from, line)
		r.End = r.Source
		f.Requests, found = append(f.Requests, r), true
	}
	if r, ok := f.helloUnanswered(t); ok {
		f.Requests, found = append(f.Requests, r), true
	}
	told := curlFormatOf(t.typed)
	for i, line := range t.lines() {
		if len(line) > 4096 || len(f.Requests) >= requestLimit {
			continue
		}
		src := f.Line(t.from, i+1)
		if lookedUp.MatchString(line) {
			lookup = i + 1
		}
		connected = connected || Connected.MatchString(line)
		if m := ClockLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			if r, ok := timed(t.typed, clockOf(m[1], m[2]), lookup > 0 && i-lookup < lookupLines, connected); ok {
				r.Source, r.End = src, src
				f.Requests = append(f.Requests, r)
				at, found, lookup, connected = nil, true, 0, false
			}
			continue
		}
		if m := curlTimes.FindAllStringSubmatch(line, -1); len(m) > 1 { // all in one line
			slices.SortStableFunc(m, func(a, b []string) int { // curl's own JSON has them by the alphabet
				return cmp.Compare(slices.Index(curlOrder, a[1]), slices.Index(curlOrder, b[1]))
			})
			for _, part := range m {
				at = f.curlPart(at, part[1], part[2], part[3], src)
			}
			at, found = nil, true
			continue
		}
		if f.curlTold(told.read(line), src) {
			at, found = nil, true
			continue
		}
		if r, ok := requestLine(line); ok {
			r.Source, r.End = src, src
			f.Requests = append(f.Requests, r)
			at, found = nil, true
			continue
		}
		if took, ok := lookupLine(line); ok {
			f.lookupTook(took, src)
			at, found, lookup = nil, true, 0
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

// lookupLine is the time of a query for a name, in seconds, as dig, unbound and resolvectl tell it.
func lookupLine(line string) (float64, bool) {
	if m := recursionTime.FindStringSubmatch(line); m != nil {
		v, _ := strconv.ParseFloat(m[1]+m[2], 64) // its form is a number's
		return min(v, 1e6), true
	}
	m := digTime.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return 0, false
	}
	return partSeconds(m[1]), true
}

// proxyLine is a line of HAProxy's log.
func proxyLine(line string) (RequestTime, bool) {
	m := proxyTime.FindStringSubmatch(line)
	if m == nil {
		return RequestTime{}, false
	}
	r := RequestTime{Lookup: -1, Queue: partSeconds(m[2] + m[6]), Connect: partSeconds(m[3] + m[7]), Answer: -1,
		Total: partSeconds(m[5] + m[8]), Server: m[1], State: endState(m[9])}
	if m[4] != "" {
		r.Answer = partSeconds(m[4])
	}
	return r, true
}

// ProxyBroken is a line of HAProxy's log that ends behind the time, or the names, of the request.
var ProxyBroken = regexp.MustCompile(`(?m)haproxy\[\d+\]: \S+ ` + proxyDate + `(?: \S+(?: \S+/\S+)?)?\r?$`)

// requestLine is a request of which one line tells.
func requestLine(line string) (r RequestTime, ok bool) {
	for _, read := range []func(string) (RequestTime, bool){proxyLine, proxyJSON, balancerRequest, upstreamRequest, loadRequest} {
		if r, ok = read(line); ok {
			return r, true
		}
	}
	return r, false
}

// curlTold keeps the times of a line that curl printed as it was told, in the order in which they follow one another.
func (f *Facts) curlTold(values map[string]string, src Source) (found bool) {
	var at *RequestTime
	for _, name := range curlOrder {
		if v := values["time_"+name]; curlSeconds.MatchString(v) {
			at, found = f.curlPart(at, name, v, "", src), true
		}
	}
	return found
}

// timed is a request of which the shell alone says how long it took, behind an answer of a resolver, or of nc; where neither stands
// there it is curl's.
func timed(typed string, took float64, lookup, connected bool) (r RequestTime, ok bool) {
	r = RequestTime{Lookup: -1, Queue: -1, Connect: -1, Answer: -1, Total: took}
	switch {
	case lookup:
		r.Lookup = took
	case connected:
		r.Connect = took
	default:
		return r, strings.HasPrefix(typed, "curl ")
	}
	return r, true
}

// lookupTook keeps the time of a query for a name by itself.
func (f *Facts) lookupTook(seconds float64, src Source) {
	f.Requests = append(f.Requests, RequestTime{Lookup: seconds, Queue: -1, Connect: -1, Answer: -1, Total: seconds,
		Source: src, End: src})
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
	case strings.HasPrefix(name, "start") || name == "ttfb":
		at.Answer = max(v-at.Sent, 0)
	case name == "total":
		at.Total = v
	}
	if name != "total" && !strings.HasPrefix(name, "start") && name != "ttfb" {
		at.Sent = max(at.Sent, v)
	}
	return at
}

// curlSeconds is a time as curl writes it: other numbers are what it fetched.
var curlSeconds = regexp.MustCompile(`^\d{1,6}\.\d{3,6}$`)

// curlOrder are the times that curl shows in one line, as they follow one another.
var curlOrder = []string{"namelookup", "connect", "appconnect", "pretransfer", "starttransfer", "total"}

// ConnectFailed is what programs say of a peer that did not answer a handshake in time: Go's net, Java, Python, Node.js, curl
// and OpenSSH, with the C library's text of ETIMEDOUT. The first group that is not empty is the peer.
var ConnectFailed = regexp.MustCompile(`dial tcp (\S+:\d+): (?:i/o timeout|connect: connection timed out)|` +
	`java\.net\.(?:Connect|SocketTimeout)Exception: (?i:connection timed out|connect timed out)|` +
	`\[Errno 110\] Connection timed out|connect ETIMEDOUT (\S+:\d+)|` +
	`Failed to connect to (\S+ port \d+)[^:]*: (?:Connection timed out|Timeout was reached)|` +
	`nc: connect to (\S+(?: \([^)]*\))? port \d+) \([^)]*\) (?:timed out|failed: Connection timed out)|` +
	`connect to host (\S+ port \d+): Connection timed out|Connection timed out after \d+ milliseconds`)

// LookupFailed is what programs say of a name server that gave no answer in time: Go's net (CoreDNS among them), dig and
// nslookup of BIND, the C library (EAI_AGAIN), curl, nginx, Windows, systemd-resolved
// (resolved-dns-server.c: it steps down behind queries without an answer), and dnsmasq of queries that it did not pass on. The
// first group that is not empty is the server.
var LookupFailed = regexp.MustCompile(`(?:read (?:udp|tcp) \S+->|(?:select|dial) (?:tcp|udp) )(\S+):53: (?:i/o timeout|read: connection refused)|` +
	`\bupstream (\S+) failed to exchange .*all upstreams failed|` +
	`^;; connection timed out; no servers could be reached|^;; communications error to (\S+)#53: timed out|` +
	`(?i:temporary failure in name resolution)|\b(?:getaddrinfo|code:?) '?EAI_AGAIN\b|Resolving timed out after \d+ milliseconds|` +
	`/dns-query"?: .*(?:deadline exceeded|timeout)|` +
	`Using degraded feature set .*for DNS server (\S+?)\.?(?: |$)|could not be resolved \(110: |^DNS request timed out\.|` +
	`Maximum number of concurrent DNS queries reached`)

// lookupLines is how far behind the answer of a resolver its time stands, at most.
const lookupLines = 12

func clockOf(minutes, seconds string) float64 {
	s, _ := strconv.ParseFloat(strings.ReplaceAll(seconds, ",", "."), 64) // its form is a number's
	return 60*float64(smallNumber(minutes)) + s
}

// proxyJSON is a line of HAProxy's log that its administrator wrote as JSON, with HAProxy's own names of the times.
func proxyJSON(line string) (r RequestTime, ok bool) {
	m := proxyState.FindStringSubmatch(line)
	if m == nil {
		return r, false
	}
	r = RequestTime{Lookup: -1, Queue: -1, Connect: -1, Answer: -1, Total: -1, State: endState(m[1])}
	for _, part := range proxyPart.FindAllStringSubmatch(line, -1) {
		switch took := partSeconds(part[2]); part[1][1] {
		case 'w':
			r.Queue = took
		case 'c':
			r.Connect = took
		case 'r':
			r.Answer = took
		default:
			r.Total = max(r.Total, took)
		}
	}
	return r, true
}

// endState are the first two letters of HAProxy's end state, empty where the session ended as it should.
func endState(s string) string {
	if s = s[:min(len(s), 2)]; s == "--" {
		return ""
	}
	return s
}

func partSeconds(digits string) float64 {
	v, err := strconv.Atoi(digits)
	if err != nil || v < 0 {
		return -1
	}
	return float64(v) / 1000
}

// HelloUnanswered is the state of a request whose TLS handshake ended with what the client sent first.
const HelloUnanswered = "TLS"

// HelloSent is what curl -v prints of its ClientHello (lib/vtls/openssl.c), and openssl s_client before it (apps/s_client.c);
// helloSilence is what may follow where nobody answers.
var (
	HelloSent = regexp.MustCompile(`^\* +(?:TLSv1\S*|SSLv\S*) \(OUT\), (?:TLS|SSL)[^,]* handshake, [Cc]lient hello \(1\):|` +
		`^CONNECTED\([0-9A-Fa-f]{8}\)$`)
	helloSilence = regexp.MustCompile(`(?i)^(?:\^C|[{}] \[|\s|write:errno=110|\.\.\.|` +
		`\W*(?:Operation|Connection|SSL connection|OpenSSL)\b.*(?:timed out|timeout)|curl: \(28\)|\* (?:Closing|shutting down) )|^$`)
	tlsAnswer = regexp.MustCompile(`^\* |^curl: |^depth=|^---$|^\w+:error:|^write:errno|^[<>] `)
)

// helloUnanswered finds a TLS handshake behind whose first message nothing came until the client gave up, or the output
// ends.
func (f *Facts) helloUnanswered(t text) (r RequestTime, ok bool) {
	sent := 0
	for i, line := range t.lines() {
		switch {
		case len(line) > 4096:
		case HelloSent.MatchString(line):
			sent = i + 1
			f.use(t.from, i+1)
		case sent > 0 && !helloSilence.MatchString(line) && tlsAnswer.MatchString(line):
			sent = 0
		}
	}
	src := f.Line(t.from, sent)
	return RequestTime{Lookup: -1, Queue: -1, Connect: -1, Answer: -1, Total: -1, State: HelloUnanswered, Source: src, End: src}, sent > 0
}
