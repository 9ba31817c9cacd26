package logdetect

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// seen is what a format finds in a line.
type seen struct {
	US, Upstream         uint64
	Status               int
	Size, Unix           int64
	Method, Path, Client string
	Proto, Cache         string
	Fault                string
}

func see(f *logline.Format, line string) (got seen) {
	d := f.Decoder()
	for l := range strings.SplitSeq(line, "\n") {
		r, fault := d.Line([]byte(l))
		if fault != logline.FaultNone {
			if fault < logline.NumFaults {
				got.Fault = logline.FaultTexts[fault]
			}
			continue
		}
		got = seen{US: r.Micros, Upstream: r.Upstream, Status: r.Status, Size: r.Size, Unix: r.Stamp.Unix, Method: string(r.Method),
			Path: string(r.Path), Client: string(r.Client), Proto: string(r.Proto), Cache: string(r.Cache)}
		if !r.HasStamp {
			got.Unix = 0
		}
	}
	return got
}

const mozilla = `"https://example.org/?a=\"b\"" "Mozilla/5.0 (X11; \"x\" [y]) Gecko"`

// combinedLine is a request in the combined log format.
const combinedLine = `192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x y"`

// commonLine is the same in the common log format, w3cLine in the W3C's; times are to follow.
const (
	commonLine = `192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5`
	w3cLine    = "#Fields: date time sc-status time-taken\n2024-03-01 00:00:00 200"
)

// combinedSeen is combinedLine with so many us.
func combinedSeen(us uint64) seen {
	return seen{US: us, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.7", Proto: "HTTP/1.1"}
}

var formatCases = []struct {
	name   string
	format string // empty: detected
	unit   logline.Unit
	line   string
	want   seen
}{
	{name: "Istio 1.2 to 1.4",
		line: `[2019-06-12T18:44:05.137Z] "POST /a/Ping HTTP/1.1" 200 - "-" "-" 70 45 7 6 "172.30.144.159" "grpc-go/1.13.0-dev" "3bc5" "e:26257" "127.0.0.1:26257" inbound|26257|grpc|e - 172.30.144.160:26257 172.30.144.159:0 -`,
		want: seen{US: 7000, Upstream: 6000, Status: 200, Size: 45, Unix: 1560365045, Method: "POST", Path: "/a/Ping", Client: "172.30.144.159:0", Proto: "HTTP/1.1"}},
	{name: "Istio 1.5 to 1.8: the body's size is not taken for the time",
		line: `[2020-10-29T21:51:57.945Z] "GET /status/418 HTTP/1.1" 418 - "-" 0 135 2 1 "-" "curl/7.69.1" "f65c" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:52328 10.244.0.14:80 10.244.0.13:43430 outbound_.8000_._.e default`,
		want: seen{US: 2000, Upstream: 1000, Status: 418, Size: 135, Unix: 1604008317, Method: "GET", Path: "/status/418", Client: "10.244.0.13:43430", Proto: "HTTP/1.1"}},
	{name: "Istio of today is not taken for that of 1.8",
		line: `[2020-10-29T03:22:16.126Z] "GET /headers HTTP/1.1" 200 - via_upstream - "-" 0 547 5 4 "-" "curl/7.73.0-DEV" "24e5" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:51680 172.17.0.7:80 172.17.0.6:59022 outbound_.8000_._.e default`,
		want: seen{US: 5000, Upstream: 4000, Status: 200, Size: 547, Unix: 1603941736, Method: "GET", Path: "/headers", Client: "172.17.0.6:59022", Proto: "HTTP/1.1"}},
	{name: "Istio JSON before 1.6",
		line: `{"authority":"e","bytes_received":"0","bytes_sent":"770","duration":"26","method":"GET","protocol":"HTTP/1.1","response_flags":"-","status_code":"200","timestamp":"2020-05-13T22:03:44.187Z","upstream_service_time":"25","uri_path":"/a"}`,
		want: seen{US: 26000, Upstream: 25000, Status: 200, Size: 770, Unix: 1589407424, Method: "GET", Path: "/a", Proto: "HTTP/1.1"}},
	{name: "uWSGI with memory in front and sendfile",
		line: `{address space usage: 19288064 bytes/18MB} {rss usage: 7012352 bytes/6MB} [pid: 5054|app: 0|req: -1/1] 192.168.10.92 () {26 vars in 433 bytes} [Fri Dec  7 12:33:48 2012] GET /URL => generated 9 bytes in 7 msecs via sendfile() (HTTP/1.0 200) 2 headers in 92 bytes (0 switches on core 0)`,
		want: seen{US: 7000, Status: 200, Size: 9, Unix: 1354883628, Method: "GET", Path: "/URL", Client: "192.168.10.92", Proto: "HTTP/1.0"}},
	{name: "uWSGI log-micros",
		line: `[pid: 175|app: 0|req: 89/89] 66.249.64.180 () {48 vars in 860 bytes} [Sun Jul 24 22:43:57 2016] POST /run => generated 204501 bytes in 37012 micros (HTTP/1.1 200) 2 headers in 75 bytes (2 switches on core 8)`,
		want: seen{US: 37012, Status: 200, Size: 204501, Unix: 1469400237, Method: "POST", Path: "/run", Client: "66.249.64.180", Proto: "HTTP/1.1"}},
	{name: "lograge in JSON",
		line: `{"method":"GET","path":"/courses/1","format":"html","controller":"CoursesController","action":"show","status":404,"duration":59.35,"view":0,"db":20.78}`,
		want: seen{US: 59350, Status: 404, Size: -1, Method: "GET", Path: "/courses/1"}},
	{name: "gunicorn, no column of statuses",
		line: `[31/May/2024:15:26:10 -0400] [HTTP:200] [141.213.175.192] "GET /api/v1/a/?b=c HTTP/1.1" 0.013691`,
		want: seen{US: 13691, Size: -1, Unix: 1717183570, Method: "GET", Path: "/api/v1/a/?b=c", Client: "141.213.175.192", Proto: "HTTP/1.1"}},
	{name: "one object in another, nginx's names",
		line: `{"nginx":{"remote_addr":"10.1.1.1","request":"GET /x HTTP/1.1","responsetime":0.074,"status":200,"body_bytes_sent":22}}`,
		want: seen{US: 74000, Status: 200, Size: 22, Method: "GET", Path: "/x", Client: "10.1.1.1", Proto: "HTTP/1.1"}},
	{name: "in Docker's JSON",
		line: `{"log":"10.0.0.1 - - [18/Aug/2020:08:00:54 +0000] \"GET /a HTTP/1.1\" 200 139 \"-\" \"x \u003c \\\" y\" 0.012\n","stream":"stdout","time":"2020-08-18T08:00:54.123456789Z"}`,
		want: seen{US: 12000, Status: 200, Size: 139, Unix: 1597737654, Method: "GET", Path: "/a", Client: "10.0.0.1", Proto: "HTTP/1.1"}},
	// https://systemd.io/JOURNAL_EXPORT_FORMATS/
	{name: "journalctl -o export",
		line: "__REALTIME_TIMESTAMP=1709251200000000\n_HOSTNAME=web\nPRIORITY=6\nMESSAGE=" + combinedLine + " 0.083",
		want: combinedSeen(83000)},
	{name: "ingress-nginx in a Kubernetes log: not the upstream's time",
		line: `2020-08-18T08:00:54.123456789Z stdout F 192.0.2.1 - - [18/Aug/2020:08:00:54 +0000] "GET / HTTP/2.0" 200 612 "-" "curl/7.68.0" 34 0.003 [default-web-80] [] 10.244.0.5:80 612 0.004 200 0b1c2d3e`,
		want: seen{US: 3000, Upstream: 4000, Status: 200, Size: 612, Unix: 1597737654, Method: "GET", Path: "/", Client: "192.0.2.1", Proto: "HTTP/2.0"}},
	{name: "given format in Docker's JSON", format: `$remote_addr "$request" $status $request_time`,
		line: `{"log":"10.0.0.1 \"GET /a HTTP/1.1\" 200 0.012\n","stream":"stdout"}`,
		want: seen{US: 12000, Status: 200, Size: -1, Method: "GET", Path: "/a", Client: "10.0.0.1", Proto: "HTTP/1.1"}},
	{name: "HAProxy behind RFC 5424's header",
		line: `<134>1 2024-03-01T10:00:00.000000+00:00 lb1 haproxy 1234 - - 10.0.1.2:33317 [01/Mar/2024:12:14:14.655] in~ static/s1 0/0/3/69/72 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /i HTTP/1.1"`,
		want: seen{US: 72000, Upstream: 69000, Status: 200, Size: 2750, Unix: 1709295254, Method: "GET", Path: "/i", Client: "10.0.1.2", Proto: "HTTP/1.1"}},
	{name: "Caddy 1, units carried, is not Traefik",
		line: "192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] \"GET / HTTP/1.1\" 200 2326 \"-\" \"curl\" 1.234567ms\n192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] \"GET / HTTP/1.1\" 200 2326 \"-\" \"curl\" 734.567µs",
		want: seen{US: 734, Status: 200, Size: 2326, Unix: 1709251200, Method: "GET", Path: "/", Client: "192.0.2.1", Proto: "HTTP/1.1"}},
	{name: "Caddy, durations as Go writes them", format: "caddy", line: `{"duration":"1m2.5s","status":200}`,
		want: seen{US: 62500000, Status: 200, Size: -1}},
	{name: "colours of a terminal (morgan dev)", line: "\x1b[0mGET /a \x1b[32m200\x1b[0m 5.123 ms - 12\x1b[0m\n\x1b[0mGET /b \x1b[36m304\x1b[0m 1.5 ms - -\x1b[0m",
		want: seen{US: 1500, Status: 304, Size: -1, Method: "GET", Path: "/b"}},
	{name: "colours in Docker's JSON", line: `{"log":"\u001b[0mGET /a \u001b[32m200\u001b[0m 5.123 ms - 12\u001b[0m\n","stream":"stdout"}`,
		want: seen{US: 5123, Status: 200, Size: -1, Method: "GET", Path: "/a"}},
	{name: "a key that names its unit, in an object", line: `{"http":{"method":"GET","url":"/a","status_code":200,"duration_ms":12.5},"level":"info"}`,
		want: seen{US: 12500, Status: 200, Size: -1, Method: "GET", Path: "/a"}},
	{name: "a key that names its unit", line: `{"remoteIP":"192.0.2.1","request":"GET /a HTTP/1.1","status":"200","responseTimeMicros":"12345"}`,
		want: seen{US: 12345, Status: 200, Size: -1, Method: "GET", Path: "/a", Client: "192.0.2.1", Proto: "HTTP/1.1"}},
	{name: "LTSV of a key that names its unit", line: "time:01/Mar/2024:00:00:00 +0000\tmethod:GET\turi:/\tstatus:200\tsize:26\ttaken_sec:0.045",
		want: seen{US: 45000, Status: 200, Size: 26, Unix: 1709251200, Method: "GET", Path: "/"}},
	{name: "API Gateway", line: `{"ip":"192.0.2.1","requestTime":"01/Mar/2024:00:00:00 +0000","httpMethod":"GET","resourcePath":"/a","status":"200","responseLatency":"45","integrationLatency":"40"}`,
		want: seen{US: 45000, Upstream: 40000, Status: 200, Size: -1, Method: "GET", Path: "/a", Client: "192.0.2.1"}},
	{name: "Cloudflare Logpush: the first byte's time", line: `{"ClientIP":"192.0.2.1","ClientRequestMethod":"GET","ClientRequestURI":"/a","EdgeResponseBytes":46,"EdgeResponseStatus":200,"EdgeStartTimestamp":"2024-03-01T00:00:00Z","EdgeTimeToFirstByteMs":45}`,
		want: seen{US: 45000, Status: 200, Size: 46, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.1"}},
	{name: "Traefik 2.1.6 without quotes",
		line: `127.0.0.1 - - [13/Mar/2020:18:49:07 +0000] "GET /ping HTTP/1.1" 200 2 "-" "-" 1 "ping@internal" - 3ms`,
		want: seen{US: 3000, Status: 200, Size: 2, Unix: 1584125347, Method: "GET", Path: "/ping", Client: "127.0.0.1", Proto: "HTTP/1.1"}},
	{name: "nginx combined and request_time",
		line: `192.0.2.7 - bob [06/Sep/2015:05:58:05 +0900] "GET /a%20b?x=1 HTTP/1.1" 200 512 ` + mozilla + ` 0.057`,
		want: seen{US: 57000, Status: 200, Size: 512, Unix: 1441486685, Method: "GET", Path: "/a%20b?x=1", Client: "192.0.2.7", Proto: "HTTP/1.1"}},
	{name: "IPv6 client, escaped bytes, HTTP/2",
		line: `2001:db8::1 - - [01/Mar/2024:00:00:00 +0000] "GET /\x22\xC3 HTTP/2.0" 404 0 "-" "-" 1.5`,
		want: seen{US: 1500000, Status: 404, Unix: 1709251200, Method: "GET", Path: `/\x22\xC3`, Client: "2001:db8::1", Proto: "HTTP/2.0"}},
	{name: "log_format directive with upstream lists", format: `log_format main '$remote_addr - $remote_user [$time_local] "$request" '
 '$status $body_bytes_sent rt=$request_time uct="$upstream_connect_time" urt="$upstream_response_time" cs=$upstream_cache_status';`,
		line: `10.0.0.1 - - [01/Mar/2024:00:00:00 +0000] "POST /x HTTP/1.1" 502 9 rt=1.204 uct="0.001, 0.002" urt="1.000, 0.200 : 0.003" cs=MISS`,
		want: seen{US: 1204000, Upstream: 1203000, Status: 502, Size: 9, Unix: 1709251200, Method: "POST", Path: "/x", Client: "10.0.0.1", Proto: "HTTP/1.1", Cache: "MISS"}},
	{name: "unquoted list at the end", format: `$remote_addr "$request" $status $bytes_sent "$http_user_agent" $request_time $upstream_response_time`,
		line: `10.0.0.1 "GET /x HTTP/1.1" 200 9 "a 1.0 2.0" 0.300 0.100, 0.150`,
		want: seen{US: 300000, Upstream: 250000, Status: 200, Size: 9, Method: "GET", Path: "/x", Client: "10.0.0.1", Proto: "HTTP/1.1"}},
	{name: "nginx JSON log_format", format: `{"t":"$time_iso8601","r":"$request","s":$status,"d":$request_time,"ua":"$http_user_agent"}`,
		line: `{"t":"2024-03-01T01:00:00+01:00","r":"GET /\"q\" HTTP/1.1","s":200,"d":0.004,"ua":"x\"y"}`,
		want: seen{US: 4000, Status: 200, Size: -1, Unix: 1709251200, Method: "GET", Path: `/\"q\"`, Proto: "HTTP/1.1"}},
	{name: "Apache LogFormat with %D", format: `%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D`,
		line: `192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.0" 200 - "-" "x \"y\"" 83412`,
		want: seen{US: 83412, Status: 200, Size: -1, Unix: 1709251200, Method: "GET", Path: "/", Client: "192.0.2.7", Proto: "HTTP/1.0"}},
	{name: "Apache: %D is finer than %T, %U%q is one path", format: `LogFormat "%v:%p %a %{usec}t %m %U%q %H %>s %O %T %D" x`,
		line: `www:443 192.0.2.7 1709251200123456 GET /p?q=1 HTTP/1.1 204 0 1 1200345`,
		want: seen{US: 1200345, Status: 204, Unix: 1709251200, Method: "GET", Path: "/p?q=1", Client: "192.0.2.7", Proto: "HTTP/1.1"}},
	{name: "Apache %{ms}T", format: `%h "%r" %s %{ms}T`, line: `h "GET / HTTP/1.1" 200 17`,
		want: seen{US: 17000, Status: 200, Size: -1, Method: "GET", Path: "/", Client: "h", Proto: "HTTP/1.1"}},
	{name: "varnishncsa", format: `%h %l %u %t "%r" %s %b %D %{Varnish:hitmiss}x %{Varnish:time_firstbyte}x`,
		line: `10.0.0.9 - - [01/Mar/2024:00:00:00 +0000] "GET http://e.org/v HTTP/1.1" 200 7 2500 hit 0.001500`,
		want: seen{US: 2500, Upstream: 1500, Status: 200, Size: 7, Unix: 1709251200, Method: "GET", Path: "http://e.org/v", Client: "10.0.0.9", Proto: "HTTP/1.1", Cache: "hit"}},
	{name: "HAProxy httplog behind syslog, no captures",
		line: `Mar  1 00:00:01 lb haproxy[7]: 10.0.0.9:51 [01/Mar/2024:00:00:00.250] fe~ be/s1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /index.html HTTP/1.1"`,
		want: seen{US: 109000, Upstream: 69000, Status: 200, Size: 2750, Unix: 1709251200, Method: "GET", Path: "/index.html", Client: "10.0.0.9", Proto: "HTTP/1.1"}},
	{name: "HAProxy with captured headers and a cut request", format: "haproxy",
		line: `10.0.0.9:51 [01/Mar/2024:00:00:00.250] fe be/<NOSRV> 0/-1/-1/-1/+26 503 212 - - SC-- 1/1/0/0/0 0/0 {a b|c} {d} "GET /very/long`,
		want: seen{US: 26000, Status: 503, Size: 212, Unix: 1709251200, Method: "GET", Path: "/very/long", Client: "10.0.0.9"}},
	{name: "HAProxy CLF",
		line: `Nov  7 18:29:36 h haproxy[4]: 192.0.2.6 - - [07/Nov/2016:10:29:36 +0000] "GET /x HTTP/1.1" 503 212 "" "" 494 409 "fe" "be" "<NOSRV>" 20 -1 -1 -1 27 SC-- 1 1 0 0 0 0 0 "" ""`,
		want: seen{US: 27000, Status: 503, Size: 212, Unix: 1478514576, Method: "GET", Path: "/x", Client: "192.0.2.6", Proto: "HTTP/1.1"}},
	{name: "Squid native",
		line: `1709251200.123     45 10.1.2.3 TCP_MISS/200 4512 GET http://example.org/a - HIER_DIRECT/192.0.2.1 text/html`,
		want: seen{US: 45000, Status: 200, Size: 4512, Unix: 1709251200, Method: "GET", Path: "http://example.org/a", Client: "10.1.2.3", Cache: "TCP_MISS"}},
	{name: "Envoy default",
		line: `[2024-03-01T00:00:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 10 226 100 "10.0.35.28" "agent" "cc21" "locations" "tcp://10.0.2.1:80"`,
		want: seen{US: 226000, Upstream: 100000, Status: 204, Size: 10, Unix: 1709251200, Method: "POST", Path: "/api/v1/locations", Proto: "HTTP/2"}},
	{name: "Envoy JSON",
		line: `{"start_time":"2024-03-01T00:00:00.310Z","method":"GET","path":"/x","protocol":"HTTP/2","response_code":200,"response_flags":"-","bytes_sent":10,"duration":12,"upstream_service_time":"11"}`,
		want: seen{US: 12000, Upstream: 11000, Status: 200, Size: 10, Unix: 1709251200, Method: "GET", Path: "/x", Proto: "HTTP/2"}},
	{name: "Caddy",
		line: `{"level":"info","ts":1709251200.52,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"10.0.0.1","proto":"HTTP/2.0","method":"GET","uri":"/a","headers":{"A":["\"}"]}},"bytes_read":0,"duration":0.000929675,"size":10900,"status":200,"resp_headers":{"B":["x"]}}`,
		want: seen{US: 929, Status: 200, Size: 10900, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.0.0.1", Proto: "HTTP/2.0"}},
	{name: "Caddy, small time in exponent notation", format: "caddy", line: `{"duration":1.25e-05,"status":304}`,
		want: seen{US: 12, Status: 304, Size: -1}},
	{name: "Traefik CLF",
		line: `10.0.0.1 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 415 "-" "curl" 12 "web@docker" "http://172.17.0.2:80" 3ms`,
		want: seen{US: 3000, Status: 200, Size: 415, Unix: 1709251200, Method: "GET", Path: "/", Client: "10.0.0.1", Proto: "HTTP/1.1"}},
	{name: "Kubernetes ingress-nginx",
		line: `10.0.0.1 - - [01/Mar/2024:00:00:00 +0000] "GET /i HTTP/2.0" 200 415 "-" "curl" 86 0.012 [ns-svc-80] [] 10.2.0.3:80 415 0.011 200 8d3f`,
		want: seen{US: 12000, Upstream: 11000, Status: 200, Size: 415, Unix: 1709251200, Method: "GET", Path: "/i", Client: "10.0.0.1", Proto: "HTTP/2.0"}},
	{name: "AWS ALB: the time is in three parts",
		line: `h2 2024-03-01T00:00:00.186641Z app/lb/50 10.0.1.252:48160 10.0.0.66:9000 0.000 0.002 0.001 200 200 5 257 "GET https://e.org:443/ HTTP/2.0" "curl" - -`,
		want: seen{US: 3000, Status: 200, Size: 257, Unix: 1709251200, Method: "GET", Path: "https://e.org:443/", Client: "10.0.1.252:48160", Proto: "HTTP/2.0"}},
	{name: "CloudFront",
		line: "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs-uri-stem sc-status time-taken x-edge-result-type\n2024-03-01\t00:00:00\tFRA2\t99\t2001:db8::5\tGET\t/a.png\t200\t0.045\tHit",
		want: seen{US: 45000, Status: 200, Size: 99, Unix: 1709251200, Method: "GET", Path: "/a.png", Client: "2001:db8::5", Cache: "Hit"}},
	{name: "IIS, fields change in mid-log",
		line: "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time cs-method time-taken\n2024-03-01 00:00:00 GET 5\n#Fields: date time c-ip cs-method cs-uri-stem sc-status sc-bytes time-taken\n2024-03-01 00:00:00 10.0.0.3 POST /f 200 12 301",
		want: seen{US: 301000, Status: 200, Size: 12, Unix: 1709251200, Method: "POST", Path: "/f", Client: "10.0.0.3"}},
	{name: "LTSV",
		line: "time:2024-03-01T00:00:00+00:00\tmethod:POST\turi:/foo?x\tstatus:200\tsize:12\tapptime:0.057\tua:UA1",
		want: seen{US: 57000, Status: 200, Size: 12, Unix: 1709251200, Method: "POST", Path: "/foo?x"}},
	{name: "logfmt with units (Heroku)",
		line: `2024-03-01T00:00:00.1+00:00 heroku[router]: at=info method=GET path="/x y" host=e.org fwd="192.0.2.1" dyno=web.1 connect=1ms service=18ms status=200 bytes=13`,
		want: seen{US: 19000, Status: 200, Size: 13, Method: "GET", Path: "/x y", Client: "192.0.2.1"}},
	{name: "JSON by key", format: "json:duration=took.ms,status=code,unit=ms", line: `{"took":{"x":[1,{"a":"]"}],"ms":"7.5"},"code":"201"}`,
		want: seen{US: 7500, Status: 201, Size: -1}},
	{name: "whole numbers with --unit", unit: logline.Microseconds,
		line: `192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.0" 200 5 83412`,
		want: seen{US: 83412, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/", Client: "192.0.2.7", Proto: "HTTP/1.0"}},
	{name: "named columns of an unknown format",
		line: `2024-03-01 host1 "GET /z HTTP/1.1" 200 77 urt=0.010 rt=0.020`,
		want: seen{US: 20000, Upstream: 10000, Status: 200, Size: 77, Method: "GET", Path: "/z", Proto: "HTTP/1.1"}},
	{name: "Istio",
		line: `[2024-03-01T00:00:00.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 3 1 "-" "curl" "84961386" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.8000 default`,
		want: seen{US: 3000, Upstream: 1000, Status: 418, Size: 135, Unix: 1709251200, Method: "GET", Path: "/status/418", Client: "10.44.1.23:37652", Proto: "HTTP/1.1"}},
	{name: "AWS Classic Load Balancer",
		line: `2024-03-01T00:00:00.186641Z lb 10.0.1.252:48160 10.0.0.66:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://e.org:80/ HTTP/1.1" "curl" - -`,
		want: seen{US: 1178, Status: 200, Size: 29, Unix: 1709251200, Method: "GET", Path: "http://e.org:80/", Client: "10.0.1.252:48160", Proto: "HTTP/1.1"}},
	{name: "combined and seconds", format: "combined-s", line: combinedLine + " 2", want: combinedSeen(2000000)},
	{name: "combined and milliseconds", format: "combined-ms", line: combinedLine + " 83", want: combinedSeen(83000)},
	{name: "combined and microseconds", format: "combined-us", line: combinedLine + " 83412", want: combinedSeen(83412)},
	{name: "common and seconds", format: "common-s", line: commonLine + " 2", want: combinedSeen(2000000)},
	{name: "common and milliseconds", format: "common-ms", line: commonLine + " 83", want: combinedSeen(83000)},
	{name: "common and microseconds", format: "common-us", line: commonLine + " 83412", want: combinedSeen(83412)},
	{name: "varnishncsa's combined and %D", format: "varnish", line: combinedLine + " 83412", want: combinedSeen(83412)},
	{name: "lighttpd's own and %D", format: "lighttpd", line: combinedLine + " 83412", want: combinedSeen(83412)},
	{name: "Traefik in JSON", format: "traefik-json",
		line: `{"ClientHost":"192.0.2.7","DownstreamContentSize":5,"DownstreamStatus":200,"Duration":83412000,"OriginDuration":81000000,"RequestMethod":"GET","RequestPath":"/a","RequestProtocol":"HTTP/1.1","StartUTC":"2024-03-01T00:00:00.5Z"}`,
		want: seen{US: 83412, Upstream: 81000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.7", Proto: "HTTP/1.1"}},
	{name: "W3C in seconds with decimals", format: "w3c", line: w3cLine + " 0.083", want: seen{US: 83000, Status: 200, Size: -1, Unix: 1709251200}},
	{name: "CloudFront in whole seconds", format: "cloudfront", line: w3cLine + " 2", want: seen{US: 2000000, Status: 200, Size: -1, Unix: 1709251200}},
	{name: "IIS in milliseconds", format: "iis", line: w3cLine + " 83", want: seen{US: 83000, Status: 200, Size: -1, Unix: 1709251200}},
	{name: "HAProxy HTTPS log: more stands behind the request",
		line: `10.0.0.9:51 [01/Mar/2024:00:00:00.250] fe~ be/s1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1" 0/0/0/0/0 e.org/TLSv1.3/TLS_AES_256_GCM_SHA384`,
		want: seen{US: 109000, Upstream: 69000, Status: 200, Size: 2750, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.0.0.9", Proto: "HTTP/1.1"}},
	{name: "HAProxy TCP log",
		line: `Mar  1 00:00:01 lb haproxy[7]: 10.0.1.2:33313 [01/Mar/2024:00:00:00.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0`,
		want: seen{US: 5007000, Size: 212, Unix: 1709251200, Client: "10.0.1.2"}},
	{name: "uWSGI",
		line: `[pid: 12|app: 0|req: 1/1] 10.0.0.9 () {42 vars in 675 bytes} [Fri Mar  1 00:00:00 2024] GET /b?x=1 => generated 11 bytes in 25 msecs (HTTP/1.1 200) 2 headers in 79 bytes (1 switches on core 0)`,
		want: seen{US: 25000, Status: 200, Size: 11, Unix: 1709251200, Method: "GET", Path: "/b?x=1", Client: "10.0.0.9", Proto: "HTTP/1.1"}},
	{name: "a word behind the number is its unit (morgan)", line: "::1 - GET /a HTTP/1.1 200 2326 - 12.345 ms\n::1 - GET /b HTTP/1.1 200 26 - 2.345 ms",
		want: seen{US: 2345, Status: 200, Size: 26, Method: "GET", Path: "/b", Client: "::1", Proto: "HTTP/1.1"}},
	{name: "columns between tabs", line: "01/Mar/2024:00:00:00 +0000\t10.0.0.9\tGET /a HTTP/1.1\t200\t2326\t0.123",
		want: seen{US: 123000, Status: 200, Size: 2326, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.0.0.9", Proto: "HTTP/1.1"}},
	{name: "columns between bars", line: "10.0.0.9|01/Mar/2024:00:00:00 +0000|GET /a HTTP/1.1|200|2326|0.123",
		want: seen{US: 123000, Status: 200, Size: 2326, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.0.0.9", Proto: "HTTP/1.1"}},
	{name: "columns between commas", line: "2024-03-01T00:00:00+00:00,10.0.0.9,GET,/a,200,2326,0.123",
		want: seen{US: 123000, Status: 200, Size: 2326, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.0.0.9"}},
	{name: "columns padded with blanks, units carried (Gin)", line: "[GIN] 2024/03/01 - 00:00:00 | 200 |     1.5ms |   192.0.2.1 | GET      \"/a\"\n[GIN] 2024/03/01 - 00:00:00 | 201 |  34.5µs |       192.0.2.1 | POST \"/a\"",
		want: seen{US: 34, Status: 201, Size: -1, Method: "POST", Path: "/a", Client: "192.0.2.1"}},
	{name: "Kong", line: `{"latencies":{"request":515,"kong":58,"proxy":457},"request":{"uri":"/a","method":"GET","size":"100"},"response":{"status":200,"size":"2326"},"client_ip":"10.0.0.9","started_at":1709251200425}`,
		want: seen{US: 515000, Upstream: 457000, Status: 200, Size: 2326, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.0.0.9"}},
	{name: "Elastic Common Schema", line: `{"@timestamp":"2024-03-01T00:00:00.123Z","http":{"request":{"method":"GET"},"response":{"status_code":200,"body":{"bytes":2326}}},"url":{"path":"/a"},"source":{"ip":"10.0.0.9"},"event":{"duration":56123000}}`,
		want: seen{US: 56123, Status: 200, Size: 2326, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.0.0.9"}},
	// mod_log_config's documentation: %T in s, %D in us
	{name: "Apache status conditions, %^FB, %{...}t pieces", format: `%h %l %u [%{%d/%b/%Y:%H:%M:%S}t.%{msec_frac}t %{%z}t] "%r" %>s %b "%!200,304{Referer}i" %^FB %{us}T`,
		line: `192.0.2.7 - - [01/Mar/2024:00:00:00.123 +0000] "GET / HTTP/1.1" 200 5 "-" 700 83412`,
		want: seen{US: 83412, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/", Client: "192.0.2.7", Proto: "HTTP/1.1"}},
	// io.undertow.attribute.ResponseTimeAttribute: %D is in ms, %T in s with three digits
	{name: "Undertow's pattern", format: `%h %l %u %t "%r" %s %b "%{i,Referer}" "%{i,User-Agent}" %D`, line: combinedLine + " 83", want: combinedSeen(83000)},
	{name: "Undertow's attribute", format: `%h %l %u %t "%r" %s %b "%{i,Referer}" "%{i,User-Agent}" %{RESPONSE_TIME_MICROS} us`, line: combinedLine + " 83412 us", want: combinedSeen(83412)},
	{name: "Undertow's pattern with words", line: combinedLine + " Response time: 83 ms\n" + combinedLine + " Response time: 1083 ms", want: combinedSeen(1083000)},
	// org.apache.catalina.valves.AbstractAccessLogValve: %D is in us since 10.1, in ms before
	{name: "Tomcat's %D beside %F: of which version is not known", format: `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-Agent}i" %D %F`, line: combinedLine + " 83 70",
		want: seen{Fault: logline.FaultTexts[logline.FaultUnit]}},
	{name: "Tomcat's %{fracsec}T", format: `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-Agent}i" %{fracsec}T`, line: combinedLine + " 0.083", want: combinedSeen(83000)},
	// https://docs.gunicorn.org/en/stable/settings.html#access-log-format
	{name: "gunicorn", format: `%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s" "%(a)s" %(D)s %({x-request-id}i)s`, line: combinedLine + " 83412 1f", want: combinedSeen(83412)},
	{name: "gunicorn, the finer of two", format: `%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s" "%(a)s" %(M)s %(L)s`, line: combinedLine + " 83 0.083412", want: combinedSeen(83412)},
	// https://uwsgi-docs.readthedocs.io/en/latest/LogFormat.html
	{name: "uWSGI logformat", format: `%(addr) - - [%(ltime)] "%(method) %(uri) %(proto)" %(status) %(size) "%(referer)" "%(uagent)" %(msecs)`, line: combinedLine + " 83", want: combinedSeen(83000)},
	// https://docs.trafficserver.apache.org/en/latest/admin-guide/logging/formatting.en.html
	{name: "Traffic Server", format: `%<chi> - %<caun> [%<cqtn>] "%<cqtx>" %<pssc> %<pscl> "%<{Referer}cqh>" "%<{User-Agent}cqh>" %<ttms>`, line: combinedLine + " 83", want: combinedSeen(83000)},
	{name: "Traffic Server, the finer of two", format: `%<chi> - %<caun> [%<cqtn>] "%<cqtx>" %<pssc> %<pscl> "%<{Referer}cqh>" "%<{User-Agent}cqh>" %<tts>/%<ttmsf>`, line: combinedLine + " 0/0.083", want: combinedSeen(83000)},
	{name: "Apache's modifiers are not Traffic Server's fields", format: `%h %l %<u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D`, line: combinedLine + " 83412", want: combinedSeen(83412)},
	// https://docs.aiohttp.org/en/stable/logging.html
	{name: "aiohttp", format: `%a %l %u %t "%r" %s %b "%{Referer}i" "%{User-Agent}i" %Tf`, line: combinedLine + " 0.083412", want: combinedSeen(83412)},
	// https://docs.aws.amazon.com/elasticloadbalancing/latest/network/load-balancer-access-logs.html
	{name: "AWS NLB", line: `tls 2.0 2024-03-01T00:00:00 net/nlb/c6e7 g3d4 192.0.2.7:51341 10.0.0.1:443 5 2 98 246 - arn:aws:acm:x - ECDHE-RSA-AES128-SHA tlsv12 - e.org h2 - - 2024-03-01T00:00:00`,
		want: seen{US: 5000, Size: 246, Unix: 1709251200, Client: "192.0.2.7:51341"}},
	// https://cloud.google.com/storage/docs/access-logs
	{name: "Google Cloud Storage: the first line names the columns",
		line: `"time_micros","c_ip","cs_method","cs_uri","sc_status","cs_bytes","sc_bytes","time_taken_micros","cs_user_agent"` + "\n" + `"1709251200000000","192.0.2.7","GET","/a?b=""c,d""","200","0","5","83412","x, y"`,
		want: seen{US: 83412, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: `/a?b=""c,d""`, Client: "192.0.2.7"}},
	{name: "columns between tabs, named by the first line behind a byte order mark",
		line: logline.ByteOrderMark + "time\tclient ip\tmethod\tpath\tstatus\tduration_ms\n2024-03-01T00:00:00Z\t192.0.2.7\tGET\t/a\t200\t83.4",
		want: seen{US: 83400, Status: 200, Size: -1, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.7"}},
	{name: "IIS behind a byte order mark",
		line: logline.ByteOrderMark + "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status time-taken\n2024-03-01 00:00:00 10.0.0.3 POST /f 200 301",
		want: seen{US: 301000, Status: 200, Size: -1, Unix: 1709251200, Method: "POST", Path: "/f", Client: "10.0.0.3"}},
	// https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/
	{name: "Cloudflare Logpush in ns: from begin to end", line: `{"ClientIP":"192.0.2.1","ClientRequestMethod":"GET","ClientRequestURI":"/a","EdgeResponseBytes":46,"EdgeResponseStatus":200,"EdgeStartTimestamp":1709251200000000000,"EdgeEndTimestamp":1709251200083412000}`,
		want: seen{US: 83412, Status: 200, Size: 46, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.1"}},
	{name: "begin and end in RFC 3339", line: `{"method":"GET","status":200,"start_time":"2024-03-01T00:00:00.900Z","end_time":"2024-03-01T00:00:01.1Z"}`,
		want: seen{US: 200000, Status: 200, Size: -1, Unix: 1709251200, Method: "GET"}},
	// Microsoft.AspNetCore.HttpLogging.W3CLoggingMiddleware: total milliseconds with a fraction
	{name: "Kestrel's W3C logger", line: "#Version: 1.0\n#Start-Date: 2024-03-01 00:00:00\n#Fields: date time c-ip cs-method cs-uri-stem sc-status time-taken\n2024-03-01 00:00:00 10.0.0.3 POST /f 200 83.4121",
		want: seen{US: 83412, Status: 200, Size: -1, Unix: 1709251200, Method: "POST", Path: "/f", Client: "10.0.0.3"}},
	// https://docs.aws.amazon.com/athena/latest/ug/application-load-balancer-logs.html
	{name: "a load balancer's three times, by name", line: "time,client_ip,request_processing_time,target_processing_time,response_processing_time,elb_status_code\n2024-03-01T00:00:00Z,192.0.2.7,0.001,0.08,0.002,200",
		want: seen{US: 83000, Status: 200, Size: -1, Unix: 1709251200, Client: "192.0.2.7"}},
	{name: "CloudFront's fields, by name", line: "date,time,x_edge_location,c_ip,cs_method,sc_status,time_taken\n2024-03-01,00:00:00,FRA2,192.0.2.7,GET,200,0.083",
		want: seen{US: 83000, Status: 200, Size: -1, Method: "GET", Client: "192.0.2.7"}},
	// https://min.io/docs/minio/linux/operations/monitoring/minio-logging.html
	{name: "MinIO's audit log", line: `{"version":"1","time":"2024-03-01T00:00:00Z","api":{"name":"GetObject","status":"OK","statusCode":200,"rx":0,"tx":5,"timeToFirstByte":"100ns","timeToResponse":"83412000ns"},"remotehost":"192.0.2.7"}`,
		want: seen{US: 83412, Status: 200, Size: 5, Unix: 1709251200, Client: "192.0.2.7"}},
	{name: "known names with hyphens, in an object", line: `{"access":{"response-code":200,"remote-addr":"192.0.2.7","request-uri":"/a","request-method":"GET"},"latency":"83.412ms"}`,
		want: seen{US: 83412, Status: 200, Size: -1, Method: "GET", Path: "/a", Client: "192.0.2.7"}},
	{name: "known name in an object", line: `{"level":"info","http":{"method":"GET","url":"/a","responseCode":200,"latency":"83.412ms"}}`,
		want: seen{US: 83412, Status: 200, Size: -1, Method: "GET", Path: "/a"}},
	// https://linkerd.io/2/features/access-logging/
	{name: "Linkerd", line: `{"client.addr":"192.0.2.1:4","response_bytes":"7","method":"GET","processing_ns":"11","status":200,"timestamp":"2024-03-01T00:00:00Z","total_ns":"83412999","uri":"/a"}`,
		want: seen{US: 83412, Status: 200, Size: 7, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.1:4"}},
	// https://www.elastic.co/guide/en/ecs/current/ecs-event.html: in nanoseconds
	{name: "Elastic Common Schema, dots in the names", line: `{"@timestamp":"2024-03-01T00:00:00.123Z","http.request.method":"GET","http.response.status_code":200,"url.path":"/a","event.duration":56123000}`,
		want: seen{US: 56123, Status: 200, Size: -1, Unix: 1709251200, Method: "GET", Path: "/a"}},
	{name: "a port that looks like a status", line: "2024-03-01 00:00:00 10.0.0.1 GET /a - 443 - 192.0.2.7 curl 404 0.083\n2024-03-01 00:00:01 10.0.0.1 GET /a - 443 - 192.0.2.7 curl 200 0.084",
		want: seen{US: 84000, Status: 200, Size: -1, Method: "GET", Path: "/a", Client: "10.0.0.1"}},
	{name: "junk among the first times", line: strings.Repeat(combinedLine+" 0.083 0.080\n", 6) + combinedLine + " NaN 0.001\n" + combinedLine + " 1e308 -\n" + combinedLine + " 0.084 0.080",
		want: seen{US: 84000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.7", Proto: "HTTP/1.1"}},
	{name: "neither nginx's $gzip_ratio nor its $msec", line: combinedLine + " 0.083 1709251200.123 2.53\n" + combinedLine + " 0.084 1709251201.456 -\n" + combinedLine + " 0.085 1709251202.456 3.01",
		want: combinedSeen(85000)},
	{name: "as long as the upstream's, which was not asked each time", line: combinedLine + ` "0.084" "-" 0.084` + "\n" + combinedLine + ` "-" "-" 0.002` + "\n" + combinedLine + ` "0.085" "-" 0.085` + "\n" + combinedLine + ` "0.085" "-" 0.084`,
		want: seen{US: 84000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.7", Proto: "HTTP/1.1"}},
	{name: "the upstream's time is rounded up", line: strings.Repeat(combinedLine+" 0.083 0.084\n", 3) + combinedLine + " 0.084 0.080", want: combinedSeen(84000)},
	// https://cloud.google.com/appengine/docs/legacy/standard/python/logs
	{name: "Google App Engine: a price is no time", line: combinedLine + ` "e.org" ms=83 cpu_ms=42 cpm_usd=0.000046 instance=00c6`, want: combinedSeen(83000)},
	{name: "a fraction whose name says milliseconds", line: combinedLine + " latency_ms=0.523", want: combinedSeen(523)},
	{name: "the word before says milliseconds", line: combinedLine + " latency_ms: 0.523\n" + combinedLine + " latency_ms: 0.623", want: combinedSeen(623)},
	{name: "Emissary: a word before Envoy's", line: `ACCESS [2024-03-01T00:00:00.310Z] "GET /a HTTP/1.1" 200 - 0 5 83 80 "10.0.35.28" "x y" "cc21" "e.org" "10.0.2.1:80"`,
		want: seen{US: 83000, Upstream: 80000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Proto: "HTTP/1.1"}},
	{name: "kubectl logs --prefix", line: `[pod/web-1/istio-proxy]  [2024-03-01T00:00:00.409Z] "GET /a HTTP/1.1" 200 - via_upstream - "-" 0 5 83 80 "-" "x y" "84961386" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.8000 default`,
		want: seen{US: 83000, Upstream: 80000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.44.1.23:37652", Proto: "HTTP/1.1"}},
	{name: "docker compose logs", line: `haproxy-1  | 10.0.0.9:51 [01/Mar/2024:00:00:00.250] fe be/s1 10/0/0/80/83 200 5 - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1"`,
		want: seen{US: 83000, Upstream: 80000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.0.0.9", Proto: "HTTP/1.1"}},
	{name: "nginx's [$time_local] is not Envoy's time behind words", line: strings.Repeat(`192.0.2.7 - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 0.000 - 3 1709251200.175 "0.083" "0.000" "-"`+"\n", 5) + `192.0.2.7 - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 0.000 - 4 1709251201.175 "0.084" "0.000" "-"`,
		want: seen{US: 84000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.7", Proto: "HTTP/1.1"}},
	{name: "objects in an array, one a line", line: "[\n" + `{"request_time":0.083,"status":200,"remote_addr":"192.0.2.7","body_bytes_sent":5},` + "\n" + `{"request_time":0.084,"status":200,"remote_addr":"192.0.2.7","body_bytes_sent":5}`,
		want: seen{US: 84000, Status: 200, Size: 5, Client: "192.0.2.7"}},
	{name: "several objects in a line are no request", format: "json:duration=d,unit=ms", line: `[{"d":83},{"d":84}]`, want: seen{Fault: logline.FaultTexts[logline.FaultShape]}},
	{name: "Plug.AccessLog", format: `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %M %T`, line: combinedLine + " 83 0", want: combinedSeen(83000)},
	{name: "lighttpd's %{msec}T", format: `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %{msec}T`, line: combinedLine + " 83", want: combinedSeen(83000)},
	{name: "a client behind proxies", line: strings.Repeat(`203.0.113.1, 2001:db8::2, 10.0.0.2 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x y" 0.084`+"\n", 3) + combinedLine + " 0.083", want: combinedSeen(83000)},
	{name: "a list of clients is one value", line: strings.Repeat(combinedLine+" 0.083\n", 2) + `203.0.113.1, 10.0.0.2 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x y" 0.084`,
		want: seen{US: 84000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "203.0.113.1, 10.0.0.2", Proto: "HTTP/1.1"}},
	{name: "a blank before the unit", line: `{"method":"GET","path":"/a","status":200,"latency":"83.412 ms"}`, want: seen{US: 83412, Status: 200, Size: -1, Method: "GET", Path: "/a"}},
	{name: "units in words", line: combinedLine + " 83msec\n" + combinedLine + " 0.083sec", want: combinedSeen(83000)},
	{name: "columns between ^^", line: "192.0.2.7^^01/Mar/2024:00:00:00 +0000^^GET /a HTTP/1.1^^200^^5^^0.083", want: combinedSeen(83000)},
	{name: "columns between semicolons", line: `192.0.2.7;01/Mar/2024:00:00:00 +0000;GET /a HTTP/1.1;200;5;0.083;"x; y"`, want: combinedSeen(83000)},
	// https://distribution.github.io/distribution/about/configuration/
	{name: "registry: names with dots and blanks in quotes", line: `time="2024-03-01T00:00:00Z" level=info msg="response completed" http.request.method=GET http.request.uri="/a" http.request.useragent="x (y)" http.response.duration=83.412ms http.response.status=200 http.response.written=5`,
		want: seen{US: 83412, Status: 200, Size: -1, Unix: 1709251200, Method: "GET", Path: "/a"}},
	// https://apisix.apache.org/docs/apisix/plugins/http-logger/
	{name: "APISIX", line: `{"latency":83.412,"apisix_latency":3.412,"upstream_latency":80,"start_time":1709251200425,"client_ip":"192.0.2.7","request":{"method":"GET","uri":"/a","size":88},"response":{"status":200,"size":5}}`,
		want: seen{US: 83412, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.7"}},
	{name: "Splunk's envelope", line: `{"time":1709251200,"host":"h","event":"192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x y\" 0.083"}`, want: combinedSeen(83000)},
	{name: "H2O's LTSV: reqtime is that of the request alone", line: "time:[01/Mar/2024:00:00:00 +0000]\thost:192.0.2.7\tmethod:GET\turi:/a\tstatus:200\tsize:5\treqtime:0.000012\tapptime:0.083412",
		want: seen{US: 83412, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.7"}},
	// https://h2o.examp1e.net/configure/access_log_directives.html
	{name: "H2O", format: `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i" %{connect-time}x %{duration}x`, line: combinedLine + " 0.001 0.083412", want: combinedSeen(83412)},
	// https://logback.qos.ch/manual/layouts.html#AccessPatternLayout
	{name: "Logback", format: `%h %l %u [%t{dd/MMM/yyyy:HH:mm:ss Z,UTC}] "%r" %s %b "%i{Referer}" "%i{User-Agent}" %D`, line: combinedLine + " 83", want: combinedSeen(83000)},
	{name: "Apache in JSON: the date's pieces touch", format: `{"t":"%{%Y-%m-%dT%T}t.%{msec_frac}t%{%z}t","s":%>s,"d":%D,"u":"%V%U%q"}`, line: `{"t":"2024-03-01T00:00:00.123+0000","s":200,"d":83412,"u":"e.org/a?b"}`,
		want: seen{US: 83412, Status: 200, Size: -1, Unix: 1709251200, Path: "e.org/a?b"}},
	{name: "nginx: $host$request_uri", format: `$remote_addr "$request_method $scheme://$host$request_uri" $status $upstream_addr$upstream_status $request_time`, line: `192.0.2.7 "GET https://e.org/a?b=1" 200 10.0.0.1:80200 0.083`,
		want: seen{US: 83000, Status: 200, Size: -1, Method: "GET", Path: "e.org/a?b=1", Client: "192.0.2.7"}},
	{name: "nginx's stream", format: `$remote_addr [$time_local] $protocol $status $bytes_sent $bytes_received $session_time`, line: `192.0.2.7 [01/Mar/2024:00:00:00 +0000] TCP 200 5 7 0.083`,
		want: seen{US: 83000, Status: 200, Size: 5, Unix: 1709251200, Client: "192.0.2.7"}},
	{name: "Envoy: percent signs in an argument", format: `[%START_TIME(%Y-%m-%dT%H:%M:%S%z)%] %REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)% %RESPONSE_CODE% %DURATION%`, line: `[2024-03-01T00:00:00+0000] /a 200 83`,
		want: seen{US: 83000, Status: 200, Size: -1, Unix: 1709251200, Path: "/a"}},
	{name: "Squid: codes of ICAP, arguments behind", format: `%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %icap::tr %ssl::>sni %>ha{User-Agent} %% %<tt`, line: `1709251200.123     83 192.0.2.7 TCP_MISS/200 5 GET http://e.org/a 900 e.org x % 80`,
		want: seen{US: 83000, Upstream: 80000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "http://e.org/a", Client: "192.0.2.7", Cache: "TCP_MISS"}},
	// HAProxy's clf_http_log_format (src/log.c)
	{name: "HAProxy quotes all", format: `haproxy:%{+Q}o %{-Q}ci - - [%trg] %r %ST %B "" "" %cp %ms %ft %b %s %TR %Tw %Tc %Tr %Ta %tsc %ac`,
		line: `192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 "" "" 494 409 "fe" "be" "s1" 0 0 1 80 83 "CD--" 1`,
		want: seen{US: 83000, Upstream: 80000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "192.0.2.7", Proto: "HTTP/1.1"}},
	{name: "HAProxy: Tu is without the idle time", format: `%ci:%cp [%tr] %ft %Tt %Tu %ST`, line: `192.0.2.7:5 [01/Mar/2024:00:00:00.250] fe 9000 83 200`,
		want: seen{US: 83000, Status: 200, Size: -1, Unix: 1709251200, Client: "192.0.2.7"}},
	{name: "AWS ALB, all fields of today, IPv6", line: `h2 2024-03-01T00:00:00.186641Z app/lb/50 [2001:db8::7]:48160 [2001:db8::8]:9000 0.000 0.082 0.001 200 200 5 257 "GET https://e.org:443/?q=\x22 HTTP/2.0" "x \"y\"" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.3 arn:aws:x "Root=1-58" "e.org" "arn" 1 2024-03-01T00:00:00.150000Z "waf,forward" "-" "-" "10.0.0.66:9000" "200" "-" "-" TID_1 "-" "-" "-"`,
		want: seen{US: 83000, Status: 200, Size: 257, Unix: 1709251200, Method: "GET", Path: `https://e.org:443/?q=\x22`, Client: "[2001:db8::7]:48160", Proto: "HTTP/2.0"}},
	{name: "AWS ALB: a client that left", format: "alb", line: `https 2024-03-01T00:00:00.186641Z app/lb/50 192.0.2.7:48160 - -1 -1 -1 460 - 5 0 "- https://e.org:443- -" "-" - - - "-" "-" "-" - 2024-03-01T00:00:00.150000Z "-" "-" "-" "-" "-" "-" "-" TID_1` + "\n" + `https 2024-03-01T00:00:00.186641Z app/lb/50 192.0.2.7:48160 10.0.0.6:80 0.000 -1 -1 504 - 5 257 "GET https://e.org:443/ HTTP/1.1" "x" - - - "-" "-" "-" 1 2024-03-01T00:00:00.150000Z "forward" "-" "-" "10.0.0.6:80" "-" "-" "-" TID_1`,
		want: seen{Fault: logline.FaultTexts[logline.FaultAborted]}},
	{name: "Amazon S3, all fields of today", line: `79a5 bkt [01/Mar/2024:00:00:00 +0000] 2001:db8::7 - 3E57 REST.GET.OBJECT a%22b "GET /a%22b?x=\"y\" HTTP/1.1" 200 - 5 99 83 80 "-" "x \"y\"" - s9lz= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader bkt.s3.us-west-1.amazonaws.com TLSv1.2 arn:aws:s3:x Yes us-east-1`,
		want: seen{US: 83000, Upstream: 80000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: `/a%22b?x=\"y\"`, Client: "2001:db8::7", Proto: "HTTP/1.1"}},
	{name: "two times, the shorter one of unknown meaning", line: `10.0.0.9 [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 0.123 0.023`,
		want: seen{US: 123000, Status: 200, Size: 5, Unix: 1709251200, Method: "GET", Path: "/a", Client: "10.0.0.9", Proto: "HTTP/1.1"}},
}

func TestFormats(t *testing.T) {
	var formats []string // by the preset's name where it was asked for, else by the title
	for _, c := range formatCases {
		t.Run(c.name, func(t *testing.T) {
			var f *logline.Format
			var err error
			if c.format != "" {
				if f, err = logline.ParseFormat(c.format); err == nil {
					f = Around(f, []byte(c.line+"\n"))
				}
			} else {
				f, err = Detect([]byte(c.line+"\n"), c.unit)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(c.want, see(f, c.line)); diff != "" {
				t.Errorf("%s (%s), want -, got +:\n%s", f.Name, c.line, diff)
			}
			formats = append(formats, cmp.Or(c.format, f.Name))
		})
	}
	for i, p := range logline.PresetTable {
		f, err := p.Format()
		if err != nil {
			t.Fatal(err)
		}
		if name := logline.Presets()[i]; !slices.ContainsFunc(formats, func(tried string) bool {
			return tried == name || strings.HasPrefix(tried, f.Name)
		}) {
			t.Errorf("%s (%s): formatCases have no line of it", name, f.Name)
		}
	}
}

func TestFaults(t *testing.T) {
	f, err := logline.ParseFormat("combined-s")
	if err != nil {
		t.Fatal(err)
	}
	const head = `192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.1" `
	for _, c := range []struct {
		line string
		want logline.Fault
	}{
		{head + `200 5 "-" "x" 0.001`, logline.FaultNone},
		{head + `200 5 "-" "x" -`, logline.FaultNoTime},
		{head + `200 5 "-" "x" `, logline.FaultNoTime},
		{head + `200 5 "-" "x" -0.001`, logline.FaultNegative},
		{head + `200 5 "-" "x" 1e9`, logline.FaultAbsurd},
		{head + `200 5 "-" "x" 99999999999999999999999999`, logline.FaultAbsurd},
		{head + `200 5 "-" "x" 0.1x`, logline.FaultShape},
		{head + `200 5 "-" "x" .`, logline.FaultShape},
		{head + `200 5 "-" "x" nan`, logline.FaultShape},
		{head + `2x0 5 "-" "x" 0.001`, logline.FaultShape},
		{head + `200 x "-" "x" 0.001`, logline.FaultShape},
		{head + `200 5 "-" "x"`, logline.FaultShape},
		{head + `20`, logline.FaultShape},
		{`x" 0.001`, logline.FaultShape},
		{"\x00\xff\xfe 0.001", logline.FaultShape},
		{head + `200 5 "-" "` + strings.Repeat("x", logline.MaxLine) + `" 0.001`, logline.FaultLong},
		{"", logline.FaultBlank},
		{"\r", logline.FaultBlank},
	} {
		if got := see(f, c.line).Fault; got != logline.FaultTexts[c.want] {
			t.Errorf("%.120q: %q, want %q", c.line, got, logline.FaultTexts[c.want])
		}
	}
}

func TestDetectAsksWhatItCannotKnow(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.0" 200 5 83412`, "say --unit us"},
		{`192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.0" 200 5 "-" "x"`, "found no column with the request time"},
		{`{"duration":12.5,"status":200,"path":"/"}`, "say --unit"},
		{"#Fields: date time sc-status time-taken\n2024-03-01 00:00:00 200 83.4\n2024-03-01 00:00:00 200 3.4", "say --unit s or --unit ms"},
		// Caddy writes whole numbers where it was told to write ms or ns, Envoy no fractions
		{`{"ts":1709251200.5,"request":{"method":"GET","uri":"/"},"duration":22,"status":200}`, "say --unit"},
		{`{"duration":0.5,"response_code":200,"bytes_sent":5}`, "say --unit"},
		{`{"request_time":12.5,"status":200}` + "\n" + `{"request_time":22.5,"status":200}`, "say --unit"},
		{`{"reqTimeSec":"1709251200.651","statusCode":"200","reqPath":"a"}`, "without a known name"},
		{combinedLine + " 0 4412\n" + combinedLine + " 0 312", "columns 10, 11 all hold whole numbers"},
		{combinedLine + " 2 2000123\n" + combinedLine + " 0 83412", `such as --format '$client $column_2 $column_3 [$time] "$request" $status $bytes "$column_8" "$column_9" $column_10 $duration'. the first line: 192.0.2.7`},
		{combinedLine + " 4412 312\n" + combinedLine + " 412 3120", "columns 10, 11 all hold whole numbers"},
		// nginx's documentation of log_format ends with "$gzip_ratio"
		{combinedLine + ` "2.53"` + "\n" + combinedLine + ` "-"` + "\n" + combinedLine + ` "3.10"`, "$gzip_ratio"},
		{"\xff\xfe1\x009\x002\x00", "UTF-16"},
		{"1\x009\x002\x00", "UTF-16LE"},
		{"\xfd7zXZ\x00", "xz -dc"},
		{"PK\x03\x04\x14", "unzip -p"},
		{`{"a_duration_ms":12.5,"b":{"duration_ms":1},"c":{"duration_ms":2},"status":200}`, "json:duration=KEY"},
		{`192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 26 "-" "curl" 1234 0.000567 hit`, "may be the request time in us"},
		// HAProxy's clf_tcp_log_format: the last number is of bytes; "1" is no column of seconds
		{`192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "TCP " 000 5 "" "" 1024 123 "fe" "be" "s1" 0 0 1 83 5678 "----" 1 1 1 1 0 0 0 "" "" `, "say --format"},
		{combinedLine + " price=0.000046", "found no column with the request time"},
		{combinedLine + " 83.4", "say --unit s or --unit ms"},
		// https://docs.oracle.com/iaas/Content/Logging/Reference/details_for_load_balancer_logs.htm
		{`{"data":{"backendProcessingTime":"0.002","requestProcessingTime":"0.003","lbStatusCode":"200"}}`, "without a known name"},
		{`{"level":"info","msg":"x"}`, "json:duration=KEY"},
		{"hello", "say --format"},
		{"\x1b[31mred", `\x1b[31mred`},
	} {
		_, err := Detect([]byte(c.line+"\n"), logline.UnitUnknown)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.line, err, c.want)
		}
	}
}

func TestParseFormatErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nonsense", "neither a preset"},
		{"$remote_addr $status", "no request time"},
		{"$request_time$status", "nothing separates $status"},
		{"%h %{Refer", "ends inside a directive"},
		{"json:status=s", "no duration=KEY"},
		{"json:duration=d,foo=x", "unknown field"},
		{"json:duration=d,unit=h", "unknown unit"},
		{"envoy:%DURATION", "without its closing"},
	} {
		if _, err := logline.ParseFormat(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.text, err, c.want)
		}
	}
}

// Times of which nothing says what they are in are asked for, not guessed.
func TestFractionsOfUnknownUnit(t *testing.T) {
	text := "GET /a 200 123.4\nGET /b 200 12.3\nGET /c 404 0.9\n"
	if f, err := Detect([]byte(text), logline.UnitUnknown); err == nil {
		t.Errorf("taken for %s: %s", f.Name, f.Note)
	}
	f, err := Detect([]byte(text), logline.Milliseconds)
	if err != nil {
		t.Fatal(err)
	}
	if got := see(f, "GET /a 200 123.4"); got.US != 123400 {
		t.Errorf("%+v", got)
	}
}

// FuzzDetect decodes any text in the format found, or the one given.
func FuzzDetect(f *testing.F) {
	for _, c := range formatCases {
		f.Add([]byte(c.line), c.format)
	}
	f.Add([]byte("x 5"), "%^{x %D")
	f.Fuzz(func(t *testing.T, text []byte, format string) {
		found, err := Detect(text, logline.UnitUnknown)
		if format != "" {
			found, err = logline.ParseFormat(format)
		}
		if err != nil && (found == nil || format != "") {
			return
		}
		d := found.Decoder()
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			if r, fault := d.Line(line); fault == logline.FaultNone && (r.Micros >= 1<<40 || r.Status > 999 || r.Size < -1) {
				t.Fatalf("%q in %s: %+v", line, found.Name, *r)
			}
		}
	})
}
