package logdetect

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// durationKey is a name in lower case with the unit of what it stands for.
type durationKey struct {
	name string
	unit logline.Unit
}

// durationKeys are names under which logs keep the request time, best first,
// with the unit where the name or the program that uses it settles it.
var durationKeys = []durationKey{
	{"request_time", logline.DecimalSeconds}, {"requesttime", logline.DecimalSeconds}, {"reqtime", logline.DecimalSeconds}, {"apptime", logline.DecimalSeconds}, {"rt", logline.DecimalSeconds},
	{"duration_ms", logline.Milliseconds}, {"durationms", logline.Milliseconds}, {"latency_ms", logline.Milliseconds}, {"latencyms", logline.Milliseconds},
	{"elapsed_ms", logline.Milliseconds}, {"took_ms", logline.Milliseconds}, {"response_time_ms", logline.Milliseconds}, {"request_time_ms", logline.Milliseconds}, {"time_ms", logline.Milliseconds},
	{"duration_us", logline.Microseconds}, {"latency_us", logline.Microseconds}, {"reqtime_microsec", logline.Microseconds}, {"request_time_us", logline.Microseconds}, {"time_us", logline.Microseconds},
	{"duration_ns", logline.Nanoseconds}, {"latency_ns", logline.Nanoseconds}, {"duration_s", logline.Seconds}, {"duration_seconds", logline.Seconds}, {"latency_seconds", logline.Seconds},
	{"httprequest.latency", logline.UnitUnknown}, {"latency_human", logline.UnitUnknown}, {"ta", logline.Milliseconds}, {"tt", logline.Milliseconds}, {"service", logline.UnitUnknown},
	// https://developer.konghq.com/plugins/file-log/ and pino-http
	{"latencies.request", logline.Milliseconds}, {"res.responsetime", logline.Milliseconds},
	// API Gateway's $context.responseLatency and express-winston
	{"responselatency", logline.Milliseconds}, {"meta.responsetime", logline.Milliseconds},
	// Elastic Common Schema: event.duration is in nanoseconds
	{"event.duration", logline.Nanoseconds},
	// Azure Application Gateway and Front Door; whole numbers were milliseconds once
	{"properties.timetaken", logline.DecimalSeconds}, {"timetaken", logline.DecimalSeconds},
	// https://docs.aws.amazon.com/athena/latest/ug/application-load-balancer-logs.html
	{"target_processing_time", logline.Seconds}, {"backend_processing_time", logline.Seconds},
	// MinIO's audit log
	{"timetoresponse", logline.UnitUnknown},
	{"time_elapsed", logline.UnitUnknown}, {"elapsed_time", logline.UnitUnknown}, {"request_duration", logline.UnitUnknown}, {"total_duration", logline.UnitUnknown},
	{"duration", logline.UnitUnknown}, {"latency", logline.UnitUnknown}, {"elapsed", logline.UnitUnknown}, {"took", logline.UnitUnknown}, {"response_time", logline.UnitUnknown},
	{"responsetime", logline.UnitUnknown}, {"time_taken", logline.UnitUnknown}, {"total_time", logline.UnitUnknown}, {"process_time", logline.UnitUnknown}, {"req_time", logline.UnitUnknown}, {"taken", logline.UnitUnknown},
}

// otherKeys are names of the other fields, best first. All are compared without
// regard to case.
var otherKeys = map[logline.Role][]string{
	logline.RoleUpstream: {"upstream_response_time", "upstream_time", "urt", "upstreamtime", "tr", "latencies.proxy", "properties.serverresponselatency", "upstream_duration", "upstream_service_time", "backend_time", "integrationlatency", "originresponsedurationms"},
	logline.RoleTime:     {"time", "timestamp", "@timestamp", "ts", "time_local", "time_iso8601", "datetime", "date_time", "start_time", "date", "msec", "started_at", "edgestarttimestamp", "time_micros"},
	logline.RoleClient:   {"remote_addr", "remote_ip", "client_ip", "clientip", "client", "remoteip", "host", "ip", "fwd", "httprequest.remoteip", "remote", "clientaddr", "source.ip", "client.ip", "properties.clientip", "req.remoteaddress", "remote_address", "address", "x_forwarded_for", "http_x_forwarded_for", "c_ip", "cliip", "remotehost", "client.addr", "clientaddress"},
	logline.RoleRequest:  {"request", "http_request", "req"},
	logline.RoleMethod:   {"method", "request_method", "http_method", "requestmethod", "httprequest.requestmethod", "verb", "http.request.method", "request.method", "req.method", "properties.httpmethod", "clientrequestmethod", "httpmethod", "cs_method", "reqmethod"},
	logline.RolePath:     {"uri", "request_uri", "path", "url", "request_path", "uri_path", "http_path", "httprequest.requesturl", "url.path", "url.original", "request.uri", "req.url", "properties.requesturi", "clientrequesturi", "resourcepath", "cs_uri_stem", "cs_uri", "reqpath"},
	logline.RoleProto:    {"protocol", "proto", "server_protocol", "http_version", "httprequest.protocol", "request.proto"},
	logline.RoleStatus:   {"status", "status_code", "statuscode", "response_code", "code", "httprequest.status", "http.response.status_code", "response.status", "response_status", "http_status", "res.statuscode", "properties.httpstatus", "properties.httpstatuscode", "edgeresponsestatus", "sc_status", "elb_status_code"},
	logline.RoleBytes:    {"body_bytes_sent", "bytes_sent", "bytes", "size", "response_size", "bytes_read", "bytes_out", "responsesize", "httprequest.responsesize", "http.response.body.bytes", "response.size", "response_body_size", "resp_size", "res.contentlength", "properties.sentbytes", "properties.responsebytes", "edgeresponsebytes", "sc_bytes", "sent_bytes", "response_bytes", "written_bytes", "api.tx"},
	logline.RoleEnd:      {"termination_state", "response_flags"},
	logline.RoleCache:    {"upstream_cache_status", "cache", "cache_status", "cachestatus", "properties.cachestatus", "cachecachestatus"},
}

// keyName is a key as keys are compared: programs write responseTime, response_time
// and response-time.
func keyName(key string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
}

// sampleValues are the values of every key in a sample, by keyName.
type sampleValues struct {
	names  map[string]string // keyName -> key as written
	values map[string][]string
}

func (s *sampleValues) add(key, value string) {
	if s.names == nil {
		s.names, s.values = map[string]string{}, map[string][]string{}
	}
	low := keyName(key)
	if _, ok := s.names[low]; !ok {
		s.names[low] = key
	}
	s.values[low] = append(s.values[low], value)
}

// keyedFormat picks the fields among the keys of a sample.
func (s *sampleValues) keyedFormat(kind string, unit logline.Unit) (*logline.Format, map[logline.Role]string, error) {
	s = s.unnested()
	d, u, err := s.durationKey(unit)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s %w", kind, err)
	case d.name == "":
		return nil, nil, fmt.Errorf("%s without a known name for the request time among its keys (%s); say --format '%s:duration=KEY,unit=ms'", kind, s.some(), kind)
	}
	keys := s.otherFields(d.name)
	keys[logline.RoleDuration] = s.names[d.name]
	from, to := s.moments()
	between := to == d.name
	if connect, ok := s.names["connect"]; between {
		keys[logline.RoleDuration2] = s.names[from]
		delete(keys, logline.RoleTime)
	} else if ok && d.name == "service" && u == logline.UnitUnknown {
		keys[logline.RoleDuration2] = connect // Heroku's router counts it apart
	} else if d.name == "targetprocessingtime" || d.name == "backendprocessingtime" { // load balancers of AWS have three
		for r, k := range map[logline.Role]string{logline.RoleDuration2: "requestprocessingtime", logline.RoleDuration3: "responseprocessingtime"} {
			if n, ok := s.names[k]; ok {
				keys[r] = n
			}
		}
	}
	f := logline.NewKeyed(kind, keys, u, between)
	name := logline.Escape(s.names[d.name], 64)
	f.Note = fmt.Sprintf("the request time is %q in %s", name, u.Label())
	switch second := logline.Escape(keys[logline.RoleDuration2], 64); {
	case between:
		f.Note = fmt.Sprintf("the request time is that from %q to %q", second, name)
	case keys[logline.RoleDuration3] != "":
		f.Note = fmt.Sprintf("the request time is %q, %q and %q in %s", second, name, logline.Escape(keys[logline.RoleDuration3], 64), u.Label())
	case second != "":
		f.Note = fmt.Sprintf("the request time is %q and %q in %s", second, name, u.Label())
	case strings.HasSuffix(d.name, "tofirstbytems"):
		f.Note += ": only that to the first byte is logged"
	}
	return f, keys, nil
}

// durationKey returns the key of the request time and its unit, no name if there is
// none. The error is for one whose unit is not known.
func (s *sampleValues) durationKey(unit logline.Unit) (durationKey, logline.Unit, error) {
	nginx := s.likeNginx()
	most := 0
	known := append(slices.Clone(durationKeys), s.telling()...)
	_, end := s.moments()
	if end != "" {
		known = append(known, durationKey{end, logline.Seconds})
	}
	known = append(known, durationKey{"edgetimetofirstbytems", logline.Milliseconds})
	known = append(known, s.nested()...)
	for i := range known {
		known[i].name = keyName(known[i].name)
	}
	for _, d := range known {
		if s.numeric(d.name) {
			most = max(most, len(s.values[d.name]))
		}
	}
	for _, d := range known {
		// A key that few lines have is not the one they all are about.
		if _, ok := s.names[d.name]; !ok || 2*len(s.values[d.name]) < most {
			continue
		}
		if _, ok := s.names["responseprocessingtime"]; !ok && strings.HasSuffix(d.name, "processingtime") {
			continue // one of the three parts that AWS's load balancers have
		}
		if d.name == end {
			return d, logline.Seconds, nil
		}
		if !s.numeric(d.name) {
			continue
		}
		usual := d.unit
		if nginx && usual == logline.UnitUnknown {
			usual = logline.DecimalSeconds
		}
		u, err := s.unit(d.name, usual, unit)
		if err != nil {
			return d, u, fmt.Errorf("key %q: %w", logline.Escape(s.names[d.name], 64), err)
		}
		if !s.absurd(d.name, u) { // else a moment, not how long something took
			// nginx's apptime is of the server behind; H2O's is the whole, and reqtime
			// that of the request alone.
			if d.name == "reqtime" && s.most("apptime") > 2*s.most("reqtime") {
				d.name = "apptime"
			}
			return d, u, nil
		}
	}
	return durationKey{}, logline.UnitUnknown, nil
}

// most returns the longest of a key's times in us, if they are in seconds.
func (s *sampleValues) most(key string) (most uint64) {
	for _, v := range s.values[key] {
		us, _, _ := logline.ParseMicros([]byte(v), logline.Seconds)
		most = max(most, us)
	}
	return most
}

// nested returns the keys within objects whose last part is a known name that no
// other one has.
func (s *sampleValues) nested() []durationKey {
	var out []durationKey
	for _, d := range durationKeys {
		if len(d.name) <= 2 || strings.Contains(d.name, ".") {
			continue
		}
		if low := s.within(keyName(d.name)); low != "" {
			out = append(out, durationKey{low, d.unit})
		}
	}
	return out
}

// within returns the one key in an object whose last part is k, "" if there is none
// or several.
func (s *sampleValues) within(k string) string {
	found := ""
	for low := range s.names {
		if !strings.HasSuffix(low, "."+k) {
			continue
		}
		if found != "" {
			return ""
		}
		found = low
	}
	return found
}

// momentKeys are names of when a request began and ended.
var momentKeys = [][2]string{
	// https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/
	{"edgestarttimestamp", "edgeendtimestamp"},
	{"start_time", "end_time"}, {"starttime", "endtime"}, {"start_timestamp", "end_timestamp"}, {"request_start", "request_end"},
	{"started_at", "finished_at"}, {"startedat", "finishedat"}, {"start", "end"},
}

// moments returns the keys of when a request began and ended, if they say so finer
// than in seconds.
func (s *sampleValues) moments() (from, to string) {
	for _, pair := range momentKeys {
		pair[0], pair[1] = keyName(pair[0]), keyName(pair[1])
		good, fine := 0, false
		for i, v := range s.values[pair[1]] {
			if i >= len(s.values[pair[0]]) {
				break
			}
			begin, a, ok := logline.MomentMicros([]byte(s.values[pair[0]][i]))
			end, b, also := logline.MomentMicros([]byte(v))
			if ok && also && end >= begin {
				good++
				fine = fine || (a || b) && end > begin
			}
		}
		if fine && 2*good > len(s.values[pair[1]]) {
			return pair[0], pair[1]
		}
	}
	return "", ""
}

// otherFields picks the keys of the fields next to the request time.
func (s *sampleValues) otherFields(duration string) map[logline.Role]string {
	keys, request := map[logline.Role]string{}, ""
	for r := range logline.NumRoles {
		for _, k := range otherKeys[r] {
			k = keyName(k)
			n, ok := s.names[k]
			if !ok && r != logline.RoleRequest {
				last := k
				k = duration[:strings.LastIndexByte(duration, '.')+1] + last // next to the time in an object
				if n, ok = s.names[k]; !ok {
					k = s.within(last)
					n, ok = s.names[k]
				}
			}
			if ok && r == logline.RoleClient && !s.looksLike(k, startsWithAddress) {
				continue // host and client may be names of servers
			}
			if ok && (r == logline.RoleStatus && !s.looksLike(k, isStatus) || r == logline.RoleBytes && !s.looksLike(k, isWhole)) {
				continue // "OK", "1.2 kB"
			}
			if ok && (keys[logline.RoleRequest] == "" || r != logline.RoleMethod && r != logline.RolePath && r != logline.RoleProto) {
				keys[r] = n
				if r == logline.RoleRequest {
					request = k
				}
				break
			}
		}
	}
	if !s.looksLike(request, logline.LooksLikeRequest) {
		delete(keys, logline.RoleRequest)
	}
	return keys
}

// unnested takes away what all names begin with, as where the whole request is
// one object in another ({"nginx": {...}}).
func (s *sampleValues) unnested() *sampleValues {
	prefix := ""
	for low := range s.names {
		head, _, ok := strings.Cut(low, ".")
		if !ok || prefix != "" && head+"." != prefix {
			return s
		}
		prefix = head + "."
	}
	out := &sampleValues{names: map[string]string{}, values: map[string][]string{}}
	for low, name := range s.names {
		out.names[low[len(prefix):]], out.values[low[len(prefix):]] = name, s.values[low]
	}
	return out
}

// nginxKeys are names of nginx's variables that other servers have no use for.
var nginxKeys = []string{"remote_addr", "body_bytes_sent", "http_user_agent", "http_referer", "http_x_forwarded_for", "request_length",
	"server_addr", "upstream_addr", "upstream_status", "upstream_response_time", "upstreamhost", "upstreamtime"}

// likeNginx reports whether the keys are those of an nginx log_format, whose
// times are seconds with three digits behind the point.
func (s *sampleValues) likeNginx() bool {
	n := 0
	for _, k := range nginxKeys {
		if _, ok := s.names[keyName(k)]; ok {
			n++
		}
	}
	return n >= 2
}

// startsWithAddress reports whether b is an address or a list of them.
func startsWithAddress(b []byte) bool {
	one, _, _ := bytes.Cut(b, []byte{','})
	return isAddress(bytes.TrimSpace(one))
}

// some names a few keys for a message.
func (s *sampleValues) some() string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(s.names)) {
		out = append(out, logline.Escape(s.names[n], 32))
	}
	if len(out) > 12 {
		out = append(out[:12], "...")
	}
	return strings.Join(out, ", ")
}

// numeric reports whether the values of key are durations or absent, but for some.
func (s *sampleValues) numeric(key string) bool {
	good := s.among(key, logline.Nanoseconds, func(_ uint64, f logline.Fault) bool { return f == logline.FaultNone })
	return good > 2*s.among(key, logline.Nanoseconds, func(_ uint64, f logline.Fault) bool { return f == logline.FaultShape })
}

// absurd reports whether most values of key are too long for requests if in u.
func (s *sampleValues) absurd(key string, u logline.Unit) bool {
	return 2*s.among(key, u, func(_ uint64, f logline.Fault) bool { return f == logline.FaultAbsurd }) > len(s.values[key])
}

// slow reports whether most values of key would be longer than slowSample in
// seconds.
func (s *sampleValues) slow(key string) bool {
	n := s.among(key, logline.Seconds, func(us uint64, f logline.Fault) bool { return f == logline.FaultNone && us >= slowSample })
	return len(s.values[key]) >= 2 && 2*n > len(s.values[key])
}

// among counts the values of key that a test of them as times in u is true of.
func (s *sampleValues) among(key string, u logline.Unit, test func(us uint64, f logline.Fault) bool) (n int) {
	for _, v := range s.values[key] {
		if us, _, f := logline.ParseMicros([]byte(v), u); test(us, f) {
			n++
		}
	}
	return n
}

// whole reports whether the values of key are whole numbers without a unit.
func (s *sampleValues) whole(key string) bool {
	return !slices.ContainsFunc(s.values[key], func(v string) bool { return !isWhole([]byte(v)) })
}

func (s *sampleValues) looksLike(key string, test func([]byte) bool) bool {
	return slices.ContainsFunc(s.values[keyName(key)], func(v string) bool { return test([]byte(v)) })
}

// unit settles the unit of key's values: what the user said, what the values
// carry, what the name means.
func (s *sampleValues) unit(key string, known, said logline.Unit) (logline.Unit, error) {
	carried, fraction := true, false
	for _, v := range s.values[key] {
		if _, _, f := logline.ParseMicros([]byte(v), logline.UnitUnknown); f == logline.FaultUnit {
			carried = false
		}
		fraction = fraction || strings.Contains(v, ".")
	}
	if _, ok := s.names["xedgelocation"]; ok && key == "timetaken" {
		known = logline.Seconds // CloudFront's
	}
	switch {
	case said != logline.UnitUnknown:
		return said, nil
	case carried:
		return logline.UnitUnknown, nil
	case known == logline.DecimalSeconds && fraction && (!s.slow(key) || s.likeNginx()):
		return logline.Seconds, nil
	case known != logline.DecimalSeconds && known != logline.UnitUnknown:
		return known, nil
	}
	return logline.UnitUnknown, fmt.Errorf("the unit of its numbers (such as %s) is not known; say --unit s, ms, us or ns", logline.Escape(s.values[key][0], 32))
}
