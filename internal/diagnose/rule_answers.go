package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// upstreamTimeout is what a proxy logs when a server did not answer the SYN in time: nginx (ngx_http_upstream.c), and Apache
// (modules/proxy/proxy_util.c, AH00957, with the C library's text of ETIMEDOUT).
var upstreamTimeout = regexp.MustCompile(`upstream timed out \(\d+: [^)]*\) while connecting to upstream|` +
	`\((?:110|60)\)[^:]*timed out: AH00957: `)

// connectLate finds requests of a proxy for which the connection to the server, mostly one of the same network, took most
// of the time.
func connectLate(f *facts.Facts) []Finding {
	const late = 0.2
	const ended = "the proxy aborted %s because no server accepted the connection in time"
	const action = "check that the server is running and its accept queue is not full (ss -ltn), then check for " +
		"firewalls on the path"
	if found := endedBy(f, "sC", ended); found != nil {
		return do(action, found)
	}
	if lines, n := matching(f, upstreamTimeout); n > 0 {
		return decisive(do(action, with(Info, one(loggerOf(lines), lines, "a server did not accept connections in time (%s)",
			counted(n, "line")))))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Counters)) {
		cluster, named := strings.CutPrefix(name, facts.ProgramCounter+"cluster.")
		cluster, late := strings.CutSuffix(cluster, ".upstream_cx_connect_timeout")
		if c := f.Counters[name]; named && late && c.Value > 0 {
			return do(action, with(gradedCount(c), one(cluster, []facts.Source{c.Source},
				"%d connections to it timed out (Envoy's connect_timeout)", c.Value)))
		}
	}
	for _, r := range f.Requests {
		if r.Server == "" || r.Connect < late || r.Connect*2 < r.Total {
			continue
		}
		found := decisive(with(Info, one(r.Server, []facts.Source{r.Source}, "%s s%s for the connection to the server",
			units.Digits(r.Connect, 3), ofTotal(r.Connect, r.Total))))
		found[0].Because = "Within one network a connection takes about a millisecond: either the server accepts late (CPU or " +
			"accept queue full), or the proxy itself was late to process the answer (CPU full)."
		return do("check both for CPU load (mpstat -P ALL 1), and the server for a full accept queue (ss -ltn)", found)
	}
	return nil
}

// proxyQueue finds requests that waited in a proxy for a free server.
func proxyQueue() Rule {
	return Rule{
		ID: "proxy-queue", Title: "Requests wait in a proxy for a free server",
		Needs: []string{"requests|server statistics"}, Severity: Warning,
		Because: "HAProxy holds requests back while every server is at its maxconn: there are too few servers, they are too " +
			"slow, or maxconn is too low.",
		Confirm: "show stat reports qcur above 0 for the backend while it is slow.",
		Check: func(in Input) []Finding {
			found := waited(in.Facts, "proxy", "in the queue",
				func(r facts.RequestTime) float64 { return r.Queue })
			if found == nil {
				found = endedBy(in.Facts, "sQ", "the proxy aborted %s after too long in the queue (timeout queue)")
			}
			if found == nil {
				found = queuedNow(in.Facts)
			}
			if found == nil {
				found = endedBy(in.Facts, "UO", "the proxy rejected %s at its own limit (Envoy circuit breaker, flag UO)")
				return do("raise max_connections and max_pending_requests of the cluster's circuit_breakers (Istio: "+
					"connectionPool of the DestinationRule), or add endpoints", found)
			}
			return do("raise maxconn of the servers if they have capacity left, or add servers", found)
		},
		Fires: linuxExample("curl", proxyExample("4100/1/30")),
		Quiet: linuxExample("curl", proxyExample("0/1/4130")),
	}
}

// queuedNow finds servers of a proxy for which requests wait (show stat's qcur).
func queuedNow(f *facts.Facts) []Finding {
	var worst facts.ProxyServer
	for _, p := range f.ProxyServers {
		if p.Queued > worst.Queued && (p.Server != "BACKEND" || worst.Queued == 0) || worst.Server == "BACKEND" && p.Queued > 0 {
			worst = p
		}
	}
	if worst.Queued == 0 {
		return nil
	}
	limit := ""
	if worst.Limit > 0 {
		limit = fmt.Sprintf(" of at most %d", worst.Limit)
	}
	return one(worst.Proxy+"/"+worst.Server, []facts.Source{worst.Source}, "%d requests are queued, %d are being served%s",
		worst.Queued, worst.Sessions, limit)
}

func proxyExample(times string) string {
	return "Sep  7 23:08:54 lb haproxy[28]: 192.0.2.9:1023 [07/Sep/2017:23:08:53.233] web~ app/srv1 0/" + times +
		"/4140 200 281 - - ---- 238/237/44/19/0 0/0 \"GET / HTTP/1.1\"\n"
}

// answerSlow finds requests that waited for the program at the other end.
func answerSlow() Rule {
	return Rule{
		ID: "answer-slow", Title: "Requests wait for the server's answer",
		Needs: []string{"requests|messages"}, Severity: Warning,
		Because: "The connection was up and the request was sent: the program is computing, is waiting for a backend such as " +
			"a database, or has no free worker. The network is the cause only if the answer is sent and does not arrive.",
		Confirm: "On the server, the same request to 127.0.0.1 takes as long.",
		Check: func(in Input) []Finding {
			const action = "check the program behind the server: its slow-request log, free workers, CPU (top) and disks; a " +
				"longer proxy timeout only hides the problem"
			const ended = "the proxy aborted %s because the server did not answer in time (timeout server)"
			if found := endedBy(in.Facts, "sH", ended); found != nil {
				return do(action, found)
			}
			if lines, n := matching(in.Facts, answerTimeout); n > 0 {
				return decisive(do(action, with(Info, one(loggerOf(lines), lines, "a server accepted the connection but did not "+
					"answer in time (%s)", counted(n, "line")))))
			}
			return decisive(do(action, with(Info, waited(in.Facts, "server", "for the answer",
				func(r facts.RequestTime) float64 { return r.Answer }))))
		},
		Fires: linuxExample("curl", proxyExample("0/1/4130")),
		Quiet: linuxExample("curl", proxyExample("4100/1/30")),
	}
}

// loggerOf is the proxy that logged the lines.
func loggerOf(lines []facts.Source) string {
	if strings.Contains(lines[0].Text, "AH0") || strings.Contains(lines[0].Text, "(70007)") {
		return "Apache"
	}
	return "nginx"
}

// answerTimeout is what a proxy logs of a server that took the connection and sent no answer: nginx (ngx_http_upstream.c), and
// Apache (mod_proxy_http's AH01102, mod_proxy_fcgi's AH01075, with APR's text of a timeout).
var answerTimeout = regexp.MustCompile(`upstream timed out \(\d+: [^)]*\) while ` +
	`(?:reading (?:response header from )?upstream|sending request to upstream|sending to client, .*upstream)|` +
	`\(70007\)The timeout specified has expired: .*AH0(?:1102|1075|0898):|` +
	`AH01075: Error dispatching request to \S*: \(polling\)`)

// endedBy finds the requests that HAProxy ended in a state (its configuration manual, 8.5: the first letter is who ended the
// session, the second where it was).
func endedBy(f *facts.Facts, state, said string) []Finding {
	const often = 3
	var lines []facts.Source
	server := ""
	for _, r := range f.Requests {
		if r.State == state {
			lines, server = append(lines, r.Source), cmp.Or(server, r.Server)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return decisive(with(repeated(len(lines), often), one(cmp.Or(server, "proxy"), sample(lines), said, counted(len(lines), "request"))))
}

// nameServersSilent finds what programs say of name servers that do not answer.
func nameServersSilent() Rule {
	return Rule{
		ID: "name-servers-silent", Title: "Name servers do not answer",
		Needs: []string{"messages"}, Severity: Warning,
		Because: "A query or its answer was lost, or the server is slower than the resolver's timeout. Connections wait for " +
			"name resolution, and the servers are tried one after another.",
		Confirm: "dig @SERVER NAME, repeated, times out now and then; with +tcp it does not if single datagrams are lost.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, facts.LookupFailed)
			if n == 0 {
				return nil
			}
			servers := namedIn(in.Facts, facts.LookupFailed)
			subject, said := cmp.Or(strings.Join(servers[:min(len(servers), 3)], ", "), "DNS"), "they did not respond in time"
			switch len(servers) {
			case 0:
				said = "lookups got no answer"
			case 1:
				said = "it did not respond in time"
			}
			found := decisive(do("query each server by itself (dig @SERVER NAME), from the pod and from its node; "+
				"check for a filter on port 53 and a full conntrack table (conntrack -S); for a cluster DNS "+
				"server, check that it runs and has endpoints",
				with(Info, one(subject, lines, "%s (%s)", said, counted(n, "line")))))
			if n > 1 || len(servers) == 0 {
				found[0].Severity = Warning
			}
			if most := firstGroup(queriesFull, lines[0].Text); most != "" {
				found[0].Subject, found[0].Fix = "dnsmasq", nil
				found[0].Summary = fmt.Sprintf("the limit of %s concurrent queries was reached "+
					"(%s)", most, counted(n, "line"))
				found[0].Because = "The upstream servers answer slowly or not at all, or queries are forwarded in " +
					"a loop, so queries pile up. Queries above the limit are not forwarded."
				return do("query each upstream server directly (dig @SERVER NAME), and check that none of them "+
					"forwards queries back to dnsmasq; if all answer quickly, raise the limit: "+
					"dns-forward-max=1000 in dnsmasq.conf (OpenWrt: option "+
					"dnsforwardmax '1000' in /etc/config/dhcp)", found)
			}
			return found
		},
		Fires: linuxExample("dmesg", "[ERROR] plugin/errors: 2 orders. A: read udp 10.1.0.7:53039->192.0.2.53:53: "+
			"i/o timeout\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps Full Duplex\n"),
	}
}

// queriesFull is what dnsmasq says where dns-forward-max queries wait (forward.c); the group is the limit.
var queriesFull = regexp.MustCompile(`Maximum number of concurrent DNS queries reached \(max: (\d{1,9})\)`)

// namedIn is what the groups of a pattern hold in the log's lines, each once.
func namedIn(f *facts.Facts, pattern *regexp.Regexp) (names []string) {
	const most = 8
	for _, line := range f.Lines("dmesg") {
		m := pattern.FindStringSubmatch(line[:min(len(line), 4096)])
		if m == nil {
			continue
		}
		if name := strings.Join(m[1:], ""); name != "" && !slices.Contains(names, name) && len(names) < most {
			names = append(names, name)
		}
	}
	return names
}

// tlsHandshakeLate finds programs that gave up during the handshake of TLS.
func tlsHandshakeLate() Rule {
	return Rule{
		ID: "tls-handshake-late", Title: "A TLS handshake timed out",
		Needs: []string{"messages"}, Severity: Info,
		Because: "TCP connected, so small packets pass. The server's certificate is the first data that fills whole segments: " +
			"they are lost if a tunnel, overlay or cloud network has a smaller MTU than the host and no ICMP message says so. " +
			"Otherwise packets are lost, or the server or a proxy is busy.",
		Confirm: "curl -v stalls after its Client Hello; with a smaller MTU (ip link set dev NAME mtu 1300; for containers " +
			"\"mtu\" in Docker's daemon.json) it continues.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, lateTLS)
			if n == 0 {
				return nil
			}
			return decisive(do("send full-sized packets that must not be fragmented (ping -M do -s 1472 PEER) and compare the "+
				"MTUs on the path: container bridge, host interface, tunnel",
				one("TLS", lines, "the handshake timed out (%s)", counted(n, "line"))))
		},
		Fires: linuxExample("dmesg", "Error response from daemon: Get https://registry.example/v2/: net/http: TLS handshake "+
			"timeout\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps Full Duplex\n"),
	}
}

// lateTLS is what Go's net/http, Java and curl say of it.
var lateTLS = regexp.MustCompile(`\bTLS handshake time(?:out|d out)|SSL connection timeout`)
