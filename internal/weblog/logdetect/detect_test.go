package logdetect

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// randomRequest returns the values of nginx's variables for one request, and its
// time in us.
func randomRequest(r *rand.Rand, i int) (values map[string]string, us uint64) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	ms := uint64(math.Exp(2+1.4*r.NormFloat64())) + 1
	proxied := r.IntN(10) < 7
	dash := func(s string) string {
		if !proxied {
			return "-"
		}
		return s
	}
	upstream := float64(ms) / 1000 * (0.5 + r.Float64()/2)
	if r.IntN(20) == 0 {
		upstream += 0.001 // rounded the other way
	}
	ratio := "-"
	if r.IntN(10) < 4 {
		ratio = fmt.Sprintf("%.2f", 1+5*r.Float64())
	}
	return map[string]string{
		"request_time": fmt.Sprintf("%.3f", float64(ms)/1000), "upstream_response_time": dash(fmt.Sprintf("%.3f", upstream)),
		"upstream_connect_time": dash("0.000"), "upstream_header_time": dash(fmt.Sprintf("%.3f", upstream*0.9)),
		"request_length": fmt.Sprint(80 + r.IntN(800)), "bytes_sent": fmt.Sprint(200 + r.IntN(90000)), "connection": fmt.Sprint(100000 + i),
		"connection_requests": fmt.Sprint(1 + r.IntN(20)), "msec": fmt.Sprintf("%d.%03d", 1709251200+i, r.IntN(1000)), "pid": "1234", "server_port": "443",
		"host": pick("www.example.org", "api.example.org"), "upstream_addr": dash("10.0.0.1:8080"), "upstream_status": dash("200"), "gzip_ratio": ratio,
		"http_x_forwarded_for": pick("-", "203.0.113.1, 10.0.0.2"), "ssl_protocol": "TLSv1.3", "pipe": pick(".", "p"), "upstream_cache_status": pick("HIT", "-"),
		"remote_addr": pick("192.0.2.7", "2001:db8::7"), "time_local": fmt.Sprintf("01/Mar/2024:00:%02d:%02d +0000", i/60%60, i%60),
		"status": pick("200", "200", "304", "404", "499", "502"), "body_bytes_sent": pick("0", "512", "31337"),
		"request": pick("GET", "POST") + " " + pick("/", "/a?b=1.5", "/v1/users/7") + " HTTP/1.1", "http_user_agent": pick("curl/8.1", "-", `x \x22q\x22 v1.5 0.3`),
	}, ms * 1000
}

// randomFormat returns a log_format that has a request time somewhere.
func randomFormat(r *rand.Rand) string {
	extras := []string{"$request_time"}
	for _, name := range []string{"upstream_response_time", "upstream_connect_time", "upstream_header_time", "request_length", "bytes_sent", "connection",
		"connection_requests", "msec", "pid", "server_port", "host", "upstream_addr", "upstream_status", "gzip_ratio", "http_x_forwarded_for", "ssl_protocol",
		"pipe", "upstream_cache_status"} {
		if r.IntN(4) == 0 {
			extras = append(extras, "$"+name)
		}
	}
	short := map[string]string{"$request_time": "rt", "$upstream_response_time": "urt"}
	style := r.IntN(3)
	for i, v := range extras {
		if style == 1 || v == "$http_x_forwarded_for" || style == 2 && r.IntN(2) == 0 {
			extras[i] = `"` + v + `"`
		} else if style == 2 && short[v] != "" {
			extras[i] = short[v] + "=" + v
		}
	}
	r.Shuffle(len(extras), func(i, j int) { extras[i], extras[j] = extras[j], extras[i] })
	head := []string{"$remote_addr", "-", "[$time_local]", `"$request"`, "$status", "$body_bytes_sent"}
	tail := []string{`"$http_user_agent"`}
	if r.IntN(2) == 0 {
		head, tail = append(head, tail...), nil
	}
	sep := []string{" ", " ", " ", "|", "\t"}[r.IntN(5)]
	return strings.Join(append(append(head, extras...), tail...), sep)
}

// Of lines in a random log_format the right column is taken for the request time, or
// the user is asked: never another one.
func TestRandomFormatsAreNotMistaken(t *testing.T) {
	asked := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		format := randomFormat(r)
		var log strings.Builder
		var times []uint64
		for i := range []int{3, 20, 150}[seed%3] {
			values, us := randomRequest(r, i)
			log.WriteString(expand(format, values) + "\n")
			times = append(times, us)
		}
		f, err := Detect([]byte(log.String()), logline.UnitUnknown)
		if err != nil {
			asked++
			continue
		}
		i := 0
		for line := range strings.Lines(log.String()) {
			if i == 10 {
				break
			}
			if got := see(f, strings.TrimSuffix(line, "\n")); got.US != times[i] || got.Fault != "" {
				t.Fatalf("%d: %s\ntaken for %s (%s)\n%sgives %d us %s, not %d", seed, format, f.Name, f.Note, line, got.US, got.Fault, times[i])
			}
			i++
		}
	}
	if asked > 10 {
		t.Errorf("%d of 200 formats not known", asked)
	}
}

// expand fills the variables of a log_format in.
func expand(format string, values map[string]string) string {
	var b strings.Builder
	for _, tok := range logline.NginxTokens(format) {
		if tok.Name == "" {
			b.WriteString(tok.Lit)
		} else {
			b.WriteString(values[strings.TrimPrefix(tok.Name, "$")])
		}
	}
	return b.String()
}
