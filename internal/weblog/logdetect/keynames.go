package logdetect

import "github.com/wirerate/wirerate/internal/weblog/logline"

// All names are written as keyName writes them: programs have responseTime,
// response_time and response-time.

// timeName is a name of the request time with the unit of what it stands for.
type timeName struct {
	name string
	unit logline.Unit
}

// timeNames are names under which logs keep the request time, best first, with the unit
// where the name or the program that uses it settles it. Those that do not may end in
// one: elapsedMilliseconds, latency_in_ms.
var timeNames = []timeName{
	{"requesttime", logline.DecimalSeconds}, {"reqtime", logline.DecimalSeconds},
	{"apptime", logline.DecimalSeconds}, {"rt", logline.DecimalSeconds},
	{"timems", logline.Milliseconds}, {"timeus", logline.Microseconds},
	{"ms", logline.Milliseconds}, // Google App Engine's
	{"ta", logline.Milliseconds}, {"tt", logline.Milliseconds},
	// https://developer.konghq.com/plugins/file-log/ and pino-http
	{"latencies.request", logline.Milliseconds}, {"res.responsetime", logline.Milliseconds},
	// API Gateway's $context.responseLatency and express-winston
	{"responselatency", logline.Milliseconds}, {"meta.responsetime", logline.Milliseconds},
	// Elastic Common Schema: event.duration is in nanoseconds
	{"event.duration", logline.Nanoseconds},
	// Azure Application Gateway and Front Door; whole numbers were milliseconds once
	{"properties.timetaken", logline.DecimalSeconds}, {"timetaken", logline.DecimalSeconds},
	// https://docs.aws.amazon.com/athena/latest/ug/application-load-balancer-logs.html
	{targetTime, logline.Seconds}, {backendTime, logline.Seconds},
	{"httprequest.latency", logline.UnitUnknown}, {"latencyhuman", logline.UnitUnknown},
	{"service", logline.UnitUnknown},
	{"timetoresponse", logline.UnitUnknown}, // MinIO's audit log
	{"timeelapsed", logline.UnitUnknown}, {"elapsedtime", logline.UnitUnknown},
	{"requestduration", logline.UnitUnknown}, {"responseduration", logline.UnitUnknown},
	{"totalduration", logline.UnitUnknown}, {"duration", logline.UnitUnknown},
	{"requestlatency", logline.UnitUnknown}, {"totallatency", logline.UnitUnknown},
	{"latency", logline.UnitUnknown}, {"elapsed", logline.UnitUnknown}, {"took", logline.UnitUnknown},
	{"responsetime", logline.UnitUnknown}, {"resptime", logline.UnitUnknown}, {"totaltime", logline.UnitUnknown},
	{"processtime", logline.UnitUnknown}, {"processingtime", logline.UnitUnknown}, {"taken", logline.UnitUnknown},
	{"runtime", logline.UnitUnknown}, {"total", logline.UnitUnknown},
}

// The middle one of the three parts of the time that AWS's load balancers have, and the
// others.
const (
	targetTime   = "targetprocessingtime"
	backendTime  = "backendprocessingtime"
	beforeTarget = "requestprocessingtime"
	behindTarget = "responseprocessingtime"
)

// firstByteTime is Cloudflare's, for where it has no other.
var firstByteTime = timeName{"edgetimetofirstbytems", logline.Milliseconds}

// otherNames are names of the other fields, best first.
var otherNames = map[logline.Role][]string{
	logline.RoleUpstream: {"upstreamresponsetime", "upstreamtime", "urt", "tr", "latencies.proxy",
		"properties.serverresponselatency", "upstreamduration", "upstreamservicetime", "backendtime",
		"integrationlatency", "originresponsedurationms"},
	logline.RoleTime: {"time", "timestamp", "@timestamp", "ts", "timelocal", "timeiso8601", "datetime", "starttime",
		"date", "msec", "startedat", "edgestarttimestamp", "timemicros"},
	logline.RoleClient: {"remoteaddr", "remoteip", "clientip", "client", "host", "ip", "fwd", "httprequest.remoteip",
		"remote", "clientaddr", "source.ip", "client.ip", "properties.clientip", "req.remoteaddress", "remoteaddress",
		"address", "xforwardedfor", "httpxforwardedfor", "cip", "cliip", "remotehost", "client.addr", "clientaddress"},
	logline.RoleRequest: {"request", "httprequest", "req"},
	logline.RoleMethod: {"method", "requestmethod", "httpmethod", "httprequest.requestmethod", "verb",
		"http.request.method", "request.method", "req.method", "properties.httpmethod", "clientrequestmethod",
		"csmethod", "reqmethod"},
	logline.RolePath: {"uri", "requesturi", "path", "url", "requestpath", "uripath", "httppath",
		"httprequest.requesturl", "url.path", "url.original", "request.uri", "req.url", "properties.requesturi",
		"clientrequesturi", "resourcepath", "csuristem", "csuri", "reqpath"},
	logline.RoleProto: {"protocol", "proto", "serverprotocol", "httpversion", "httprequest.protocol", "request.proto"},
	logline.RoleStatus: {"status", "statuscode", "responsecode", "code", "httprequest.status",
		"http.response.statuscode", "response.status", "responsestatus", "httpstatus", "res.statuscode",
		"properties.httpstatus", "properties.httpstatuscode", "edgeresponsestatus", "scstatus", "elbstatuscode"},
	logline.RoleBytes: {"bodybytessent", "bytessent", "bytes", "size", "responsesize", "bytesread", "bytesout",
		"httprequest.responsesize", "http.response.body.bytes", "response.size", "responsebodysize", "respsize",
		"res.contentlength", "properties.sentbytes", "properties.responsebytes", "edgeresponsebytes", "scbytes",
		"sentbytes", "responsebytes", "writtenbytes", "api.tx"},
	logline.RoleEnd:   {"terminationstate", "responseflags"},
	logline.RoleCache: {"upstreamcachestatus", "cache", "cachestatus", "properties.cachestatus", "cachecachestatus"},
}

// looks are what values of a role look like: host and client may be names of servers,
// a status "OK", a size "1.2 kB".
var looks = map[logline.Role]func([]byte) bool{logline.RoleClient: startsWithAddress,
	logline.RoleRequest: logline.LooksLikeRequest, logline.RoleStatus: isStatus, logline.RoleBytes: isWhole}

// momentNames are names of when a request began and ended.
var momentNames = [][2]string{
	// https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/
	{"edgestarttimestamp", "edgeendtimestamp"}, {"starttime", "endtime"}, {"starttimestamp", "endtimestamp"},
	{"requeststart", "requestend"}, {"startedat", "finishedat"}, {"start", "end"},
}

// nginxNames are nginx's variables that other servers have no use for.
var nginxNames = []string{"remoteaddr", "bodybytessent", "httpuseragent", "httpreferer", "httpxforwardedfor",
	"requestlength", "serveraddr", "upstreamaddr", "upstreamstatus", "upstreamresponsetime", "upstreamhost",
	"upstreamtime"}

// program is one that is known by its keys: it settles the unit of the first of them.
type program struct {
	keys            []string
	whole, fraction bool // what the values of the first key have to be, if either is set
	unit            logline.Unit
	preset          string // of JSON; "": the keys are picked by their names
}

var programs = []program{
	// Caddy can be told to write whole ns or ms
	{keys: []string{"duration", "request.uri", "status"}, fraction: true, preset: "caddy"},
	{keys: []string{"duration", "responsecode", "bytessent"}, whole: true, preset: "envoy-json"},
	{keys: []string{"duration", "downstreamstatus", "requestpath"}, whole: true, preset: "traefik-json"},
	{keys: []string{"responsetime", "res.statuscode"}, unit: logline.Milliseconds},         // pino-http
	{keys: []string{"duration", "responseflags"}, whole: true, unit: logline.Milliseconds}, // Istio before 1.6
	{keys: []string{"duration", "controller", "action"}, unit: logline.Milliseconds},       // lograge
	{keys: []string{"latency", "apisixlatency"}, unit: logline.Milliseconds},               // APISIX
	{keys: []string{"elapsed", "@mt", "requestpath"}, unit: logline.Milliseconds},          // Serilog
	{keys: []string{"timetaken", "xedgelocation"}, unit: logline.Seconds},                  // CloudFront
}
