package logline

// preset is a format with a name. Its text is in nginx's notation, with
// wirerate's own short variable names; variables it does not know are skipped.
type preset struct {
	name  string
	title string
	text  string
	unit  Unit
	kind  string // other language than nginx's
	// Asked presets are not tried by Detect: they look like others whose times
	// have another unit.
	Asked bool
	// Quotes is how many quotation marks a line has at least.
	Quotes int
}

const (
	combined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" ` +
		`"$http_user_agent"`
	// Options of uWSGI put its memory in front, and how the body was sent ("via
	// sendfile()") behind the time.
	uwsgiHead = `$memory[pid: $pid|app: $app|req: $number] $client ($user) {$variables} [$time] $method $path => ` +
		`generated $bytes bytes in `
	uwsgiTail = `$via(HTTP/$proto $status) $rest`
	istioHead = `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% `
	istioTail = `%BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% ` +
		`"%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%" ` +
		`%UPSTREAM_CLUSTER% %UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% %REST%`
	common = `$remote_addr $ident $remote_user [$time_local] "$request" $status $body_bytes_sent`
)

// PresetTable are tried in this order by Detect: the first that fits wins.
var PresetTable = []preset{
	// https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage
	{name: "envoy", title: "Envoy default", kind: "envoy",
		text: `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% ` +
			`%RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% ` +
			`"%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"%REST%`},
	// Istio 1.2 to 1.4 put the mixer's status and the reason of an upstream's
	// failure behind the flags, 1.5 to 1.8 the reason alone; before, Envoy's fields
	// were followed by more.
	{name: "istio-1.8", title: "Istio 1.5 to 1.8", kind: "envoy", text: istioHead +
		`%RESPONSE_FLAGS% "%UPSTREAM_TRANSPORT_FAILURE_REASON%" ` + istioTail},
	{name: "istio-1.4", title: "Istio 1.2 to 1.4", kind: "envoy", text: istioHead +
		`%RESPONSE_FLAGS% "%DYNAMIC_METADATA(istio.mixer:status)%" "%UPSTREAM_TRANSPORT_FAILURE_REASON%" ` + istioTail},
	// https://istio.io/latest/docs/tasks/observability/logs/access-log/
	{name: "istio", title: "Istio default", kind: "envoy", text: istioHead +
		`%RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% "%UPSTREAM_TRANSPORT_FAILURE_REASON%" ` +
		istioTail},
	// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
	{name: "alb", title: "AWS Application Load Balancer", unit: Seconds,
		text: `$type $time $elb $client $target $duration $duration2 $duration3 $status $target_status $received_bytes ` +
			`$bytes "$request" "$rest`},
	// https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html
	{name: "elb", title: "AWS Classic Load Balancer", unit: Seconds,
		text: `$time $elb $client $backend $duration $duration2 $duration3 $status $backend_status $received_bytes $bytes ` +
			`"$request"$rest`},
	// https://docs.aws.amazon.com/elasticloadbalancing/latest/network/load-balancer-access-logs.html
	{name: "nlb", title: "AWS Network Load Balancer: times are of whole TLS connections", unit: Milliseconds,
		text: `tls $version $time $elb $listener $client $target $duration $handshake $received_bytes $bytes $alert $rest`},
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
	{name: "s3", title: "Amazon S3 server access log", unit: Milliseconds,
		text: `$owner $bucket [$time] $client $requester $request_id $operation $key "$request" $status $error $bytes ` +
			`$object_size $duration $upstream "$rest`},
	// https://doc.traefik.io/traefik/observability/access-logs/
	{name: "traefik", title: "Traefik common log format", unit: Milliseconds, Quotes: 8, text: combined +
		` $count "$router" $server ${duration}ms`},
	// https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/log-format/
	{name: "ingress-nginx", title: "Kubernetes ingress-nginx", unit: Seconds, text: combined +
		` $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr ` +
		`$upstream_response_length $upstream_response_time $upstream_status $req_id`},
	// HAProxy configuration manual, section 8.2.3 and "option httplog clf"
	{name: "haproxy-https", title: "HAProxy HTTPS log", kind: "haproxy",
		text: `%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r ` +
			`%ssl`},
	{name: "haproxy", title: "HAProxy HTTP log", kind: "haproxy",
		text: `%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r`},
	{name: "haproxy-tcp", title: "HAProxy TCP log: times are of whole connections", kind: "haproxy",
		text: `%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts %ac/%fc/%bc/%sc/%rc %sq/%bq`},
	// https://uwsgi-docs.readthedocs.io/en/latest/LogFormat.html
	{name: "uwsgi", title: "uWSGI", unit: Milliseconds, text: uwsgiHead + `$duration msecs ` + uwsgiTail},
	{name: "uwsgi-us", title: "uWSGI, log-micros", unit: Microseconds, text: uwsgiHead + `$duration micros ` +
		uwsgiTail},
	{name: "haproxy-clf", title: "HAProxy HTTP log, CLF", unit: Milliseconds, text: common +
		` "" "" $port $ms "$frontend" "$backend" "$server" $tr $tw $tc $upstream $duration $end $rest`},
	// http://www.squid-cache.org/Doc/config/logformat/
	{name: "squid", title: "Squid native", kind: "squid",
		text: `%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt`},
	// Apache's, lighttpd's and varnishncsa's %D and %T at the end of combined or
	// common
	{name: "combined-s", title: "combined + time in s", unit: Seconds, Asked: true, text: combined + ` $duration`},
	{name: "combined-ms", title: "combined + time in ms", unit: Milliseconds, Asked: true, text: combined +
		` $duration`},
	{name: "combined-us", title: "combined + time in us (Apache %D)", unit: Microseconds, Asked: true, text: combined +
		` $duration`},
	{name: "common-s", title: "common + time in s", unit: Seconds, Asked: true, text: common + ` $duration`},
	{name: "common-ms", title: "common + time in ms", unit: Milliseconds, Asked: true, text: common + ` $duration`},
	{name: "common-us", title: "common + time in us (Apache %D)", unit: Microseconds, Asked: true, text: common +
		` $duration`},
	{name: "varnish", title: "varnishncsa combined + %D", kind: "apache", Asked: true,
		text: `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i" %D`},
	{name: "lighttpd", title: "lighttpd default + %D", kind: "apache", Asked: true,
		text: `%h %V %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D`},
	{name: "caddy", title: "Caddy JSON", kind: "json", Asked: true, text: caddyKeys},
	{name: "envoy-json", title: "Envoy JSON", kind: "json", Asked: true, text: envoyKeys},
	{name: "traefik-json", title: "Traefik JSON", kind: "json", Asked: true, text: traefikKeys},
	{name: "w3c", title: "W3C extended (also IIS, CloudFront)", kind: "w3c", Asked: true},
	{name: "cloudfront", title: "CloudFront standard log", kind: "w3c", unit: Seconds, Asked: true},
	{name: "iis", title: "IIS W3C extended", kind: "w3c", unit: Milliseconds, Asked: true},
}

// Presets returns the names of the formats that ParseFormat knows.
func Presets() []string {
	names := make([]string, len(PresetTable))
	for i, p := range PresetTable {
		names[i] = p.name
	}
	return names
}

func PresetNamed(name string) (preset, bool) {
	for _, p := range PresetTable {
		if p.name == name {
			return p, true
		}
	}
	return preset{}, false
}

func (p preset) Format() (*Format, error) {
	var f *Format
	var err error
	if parse := parserOf(p.kind); parse != nil {
		f, err = parse(p.text)
	} else if p.kind == "w3c" {
		f = W3C(p.unit)
	} else {
		f, err = New(p.title, p.text, p.unit, NginxTokens(p.text))
	}
	if err != nil {
		return nil, err
	}
	f.Name = p.title
	return f, nil
}
