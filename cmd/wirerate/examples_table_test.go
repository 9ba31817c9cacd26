package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// exceptions are the examples that do not run as they stand: what they are like,
// what is run instead (nothing if that is empty), and why. One after the other is
// tried.
var exceptions = []struct{ like, run, because string }{
	{`^(git clone|make dist)`, "", "builds the program from the network; make release-check does it"},
	{`^ansible-(galaxy|playbook) `, "", "make ansible runs the collection and its playbooks"},
	{`^(WIRERATE_\w+=\S+ )*go test `, "", "is a test itself"},
	{`^systemctl `, "", "needs a service manager; make release-check reads the unit"},
	{`^duckdb `, "", "another program, which reads the rows that weblog's tests read"},
	{`^tcpdump `, "", "its packets are those of the next command; inspect --capture runs the same program"},
	{`Out-String`, "", "is for PowerShell"},
	{`^wirerate lab exec .*(nuttcp|sockperf)`, "", "lab_nuttcp.txtar and lab_sockperf.txtar run these where the programs are installed"},
	{`^wirerate lab check( --full.*)?$`, "", "takes minutes; make test does it"},
	{`\bROLE --workload WORKLOAD --lab LINK`, "bulk --workload bulk --lab rate=20mbit,rtt=50ms", "words that stand for others"},
	{`-- CMD$`, "-- true", "words that stand for others"},
	{`--record DIR`, "--record recorded", "words that stand for others"},
	{`20260102-150405-a1b2c3`, "$(cd /run/hosts/server; ls -d 2*)", "the change has the name of its time"},
	{`20260101-120000-ab12`, "last", "the experiment has the name of its time"},
	{`/tank/test`, "/srv/test", "the folder is not there"},
	{`^wirerate (apply out/ ssh://root@a .*)`, "wirerate plan ssh://root@a --path rate=10gbit,rtt=100ms --role bulk -o out && wirerate $1", "what a tune of seconds keeps is chance"},
	{`^wirerate trial --suite .*`, "", "a suite takes minutes; trial_lab.txtar runs one"},
	{`^wirerate canary design .*--weblogs`, "", "needs weeks of counts; the tests of internal/canary make some"},
	{`^(wirerate measure disk .*) >disk.json$`, "$1 --size 16MiB --run 2500ms >disk.json", "shorter"},
	{`^(wirerate (?:trial|tune|attribute|measure) .*--lab )rate=10?gbit`, "${1}rate=50mbit", "slower"},
	{`^(wirerate (?:trial|tune|attribute) (?:--arm|--lab|local|ssh).*)`, "$1 --run 1s --omit 0s --pairs 2", "shorter"},
	{`^(wirerate trial .*--workload disk.*) --run 1s`, "$1 --size 16MiB --run 2500ms", "shorter"},
	{`^(wirerate tune .*) --run`, "$1 --no-shares --run", "shorter"},
	{`^wirerate attribute .*workload rr.*`, "", "takes longer than the first, which is of the same kind"},
	{`^(wirerate attribute .*)--pairs 2`, "$1--for 30s", "shorter"},
	{`^wirerate measure (bulk|rr) .*`, "$0 --run 1s --omit 0s", "shorter"},
	{`^(wirerate watch .*)--for 10m`, "$1--for 2s", "shorter"},
	{`^(wirerate watch)( --(record|metrics|probe|switch|on-finding|peer|path|json)| ns:| ssh:|$)`, "$1 --for 2s$2", "has no end"},
	{`^(wirerate inspect .*)--for 10s`, "$1--for 3s", "shorter"},
	{`^(wirerate inspect .*)--for 5s`, "$1--for 1s", "shorter"},
	{`-- iperf3 -s$`, "-- iperf3 -s -D", "has no end"},
}

// prometheusListens starts the server of the examples and waits until it listens.
const prometheusListens = `{ prometheus & }; bash -c 'until : >/dev/tcp/127.0.0.1/9090; do sleep 0.1; done'`

// prepared are the commands that come before the examples of a page.
var prepared = map[string]string{
	"wirerate apply":     "wirerate plan --path rate=10gbit,rtt=100ms --role bulk -o plan",
	"wirerate hosts":     "wirerate plan --path rate=10gbit,rtt=100ms --role bulk -o plan",
	"wirerate verify":    "wirerate plan --path rate=10gbit,rtt=100ms --role bulk -o plan",
	"wirerate confirm":   pending,
	"wirerate extend":    pending,
	"wirerate rollback":  pending,
	"wirerate status":    pending,
	"wirerate export":    experiment,
	"wirerate inspect 4": "wirerate capture -o web1.tar.gz",
	"wirerate watch 7":   "wirerate watch --record /var/lib/wirerate-watch --for 4s",
	"wirerate lab shell": "wirerate lab up sat geo-satellite",
	"wirerate report":    experiment + "wirerate watch --record /var/lib/wirerate/watch --for 8s",
	"wirerate trial 8":   interrupted("trial --arm current --arm cc:reno --lab rate=20mbit,rtt=5ms --run 1s --omit 0s --pairs 2"),
	"wirerate tune 4":    interrupted("tune --lab rate=20mbit,rtt=5ms --role bulk --run 1s --omit 0s --pairs 2 --no-shares"),
	"wirerate weblog":    experiment,
	"wirerate weblog merge": `wirerate weblog access.log --save web1.wrl
cp web1.wrl day1.wrl
cp web1.wrl day2.wrl`,
	"wirerate canary design":                    prometheusListens,
	"docs/fleet.md":                             prometheusListens,
	"wirerate trial 7":                          prometheusListens,
	"docs/watch.md":                             "wirerate watch --record /var/lib/wirerate-watch --for 4s",
	"docs/weblog.md":                            saved,
	"contrib/ansible/wirerate/tuning/README.md": saved,
}

const (
	pending = `wirerate plan --path rate=10gbit,rtt=100ms --role bulk -o plan
wirerate apply plan
wirerate apply plan ssh://root@server
`
	experiment = "wirerate trial --arm current --arm cc:reno --lab rate=20mbit,rtt=5ms --run 1s --omit 0s --pairs 2 --for 5m || [ $? = 1 ]\n"
	saved      = `mkdir this-week weblog weblog-of-last-week
for f in this-week/1 last-week/1 weblog/all weblog-of-last-week/all; do wirerate weblog access.log --save $f.wrl || exit; done
`
)

// interrupted begins an experiment and ends it after its first run.
func interrupted(experiment string) string {
	return "wirerate " + experiment + " & until wirerate history | grep -q .; do sleep 0.2; done; kill $!; wait $! || :"
}

// writeLogs writes access logs, and a.log in the formats that examples name.
func writeLogs(t *testing.T, folder string, examples []string) {
	t.Helper()
	logOf := func(slow float64) string {
		var b strings.Builder
		for i := range 400 {
			fmt.Fprintf(&b, "192.0.2.%d - - [10/Oct/2025:13:%02d:%02d +0000] \"GET /page/%d HTTP/1.1\" 200 512 \"-\" \"-\" %.3f\n",
				i%200+1, i/60, i%60, i%7, 0.02+slow*float64(i%10)/100)
		}
		return b.String()
	}
	logs := map[string]string{"before.log": logOf(2), "after.log": logOf(1), "access.log": logOf(1), "old/1.log": logOf(2), "new/1.log": logOf(1)}
	for i, example := range examples {
		if m := logFormat.FindStringSubmatch(example); m != nil {
			line, ok := keyed[m[1]]
			if !ok {
				line = directives.Replace(m[1])
			}
			logs[fmt.Sprint(i, ".log")] = strings.Repeat(line+"\n", 400)
		}
	}
	for name, text := range logs {
		name = filepath.Join(folder, name)
		os.MkdirAll(filepath.Dir(name), 0o755)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	logFormat = regexp.MustCompile(`a\.log --format '(?:haproxy:)?([^']*)'`)
	// directives are the values of what stands for values in formats.
	directives = strings.NewReplacer("$remote_addr", "192.0.2.1", "[$time_local]", "[10/Oct/2025:13:00:00 +0000]", "$request_time", "0.020", "$request", "GET / HTTP/1.1",
		"$status", "200", "$body_bytes_sent", "512", "%h", "192.0.2.1", "%l", "-", "%u", "-", "[%t]", "[10/Oct/2025:13:00:00 +0000]", "%tr", "10/Oct/2025:13:00:00.000",
		"%t", "[10/Oct/2025:13:00:00 +0000]", "%r", "GET / HTTP/1.1", "%>s", "200", "%i{User-Agent}", "curl", "%D", "20000",
		"%(h)s", "192.0.2.1", "%(l)s", "-", "%(u)s", "-", "%(t)s", "[10/Oct/2025:13:00:00 +0000]", "%(r)s", "GET / HTTP/1.1", "%(s)s", "200", "%(b)s", "512", "%(L)s", "0.020000",
		"%<chi>", "192.0.2.1", "%<caun>", "-", "%<cqtn>", "10/Oct/2025:13:00:00 +0000", "%<cqtx>", "GET / HTTP/1.1", "%<pssc>", "200", "%<pscl>", "512", "%<ttms>", "20",
		"%ci", "192.0.2.1", "%cp", "4711", "%ft", "in", "%b/%s", "out/web1", "%TR", "0", "%Tw", "0", "%Tc", "1", "%Tr", "2", "%Ta", "3", "%ST", "200", "%B", "512", "%s", "200", "%b", "512")
	// keyed are lines of the formats that name keys.
	keyed = map[string]string{
		"json:duration=took,status=http.code,path=http.url,unit=ms": `{"took": 20, "http": {"code": 200, "url": "/"}}`,
		"ltsv:duration=reqtime_microsec,status=status,unit=us":      "reqtime_microsec:20000\tstatus:200",
	}
)

// serveMetrics is a Prometheus whose hosts are those of the inventory.
func serveMetrics() {
	listener, err := net.Listen("tcp", "127.0.0.1:9090")
	if err != nil {
		panic(err)
	}
	_ = http.Serve(listener, metricsOf(func() int64 { return time.Now().Unix() }, func(string, float64) float64 { return 1 }))
}
