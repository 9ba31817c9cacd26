package diagnose

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// serversRefuse finds proxies whose servers take no connections.
func serversRefuse() Rule {
	return Rule{
		ID: "servers-refuse", Title: "The servers behind a proxy refuse connections",
		Needs: []string{"requests|messages"}, Severity: Warning,
		Because: "Each attempt is answered at once with a reset: the path works, but no program listens on that address and " +
			"port. It is not running, is restarting, has crashed, or listens elsewhere.",
		Confirm: "ss -ltnp on the server does not show the port, or shows it on another address such as 127.0.0.1.",
		Check: func(in Input) []Finding {
			const action = "on the server, check the port (ss -ltnp) and the service's state and log (systemctl status, " +
				"journalctl -u; docker ps, kubectl get endpoints); then the address and port in the proxy's configuration"
			if found := endedBy(in.Facts, "SC", "the server, or a device in front of it, refused the "+
				"connection for %s"); found != nil {
				return do(action, found)
			}
			gone, gaveUp := matching(in.Facts, allGone)
			if lines, n := matching(in.Facts, refusing); n > 0 {
				servers := namedIn(in.Facts, refusing)
				subject := cmp.Or(strings.Join(servers[:min(len(servers), 3)], ", "), "servers")
				return decisive(do(action, with(repeated(n+gaveUp, 3), one(subject, lines, "a proxy's connections are refused (%s)",
					counted(n, "line")))))
			}
			if gaveUp == 0 {
				return nil
			}
			found := one("servers", gone, "a proxy has no working backend left (%s)", counted(gaveUp, "line"))
			found[0].Because = "Every server refused, timed out or failed its health check shortly before; the proxy tries none " +
				"of them for some seconds (nginx: fail_timeout). Earlier log lines say why."
			return decisive(do("check in the preceding log lines why each server was marked down", with(repeated(gaveUp, 3), found)))
		},
		Fires: linuxExample("dmesg", `2024/05/02 10:11:12 [error] 31#31: *7 connect() failed (111: Connection refused) while connecting to `+
			`upstream, client: 192.0.2.9, server: _, request: "GET / HTTP/1.1", upstream: "http://192.0.2.20:8065/"`+"\n"),
		Quiet: linuxExample("dmesg", `2024/05/02 10:11:12 [error] 31#31: *7 upstream timed out (110: Connection timed out) while `+
			`connecting to upstream, client: 192.0.2.9`+"\n"),
	}
}

// refusing is what proxies log of it: nginx (ngx_http_upstream.c; 111 is Linux's number of ECONNREFUSED, 61 that of the
// BSDs), which often is cut at the end of a line, Apache (modules/proxy/proxy_util.c, AH00957 with that text of the C
// library), and HAProxy (src/server.c and src/check.c); allGone is what nginx and HAProxy log once all have failed.
var (
	refusing = regexp.MustCompile(`\[error\] \d+#\d+: .*connect\(\)(?: to unix:\S+)? failed \((?:111|61): ` +
		`(?:.*upstream: "(?:\w+://)?([^"/]+))?|` +
		`\((?:111|61)\)Connection refused: AH00957: \w+: attempt to connect to (\S+)|` +
		`Server (\S+/\S+) is DOWN, reason: Layer4 connection problem, info: "[^"]*refused`)
	allGone = regexp.MustCompile(`\[error\] \d+#\d+: .*no live upstreams while connecting to |` +
		`(?:[Bb]ackend|[Pp]roxy) \S+ has no server available!`)
)
