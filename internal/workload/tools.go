package workload

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/shell"
)

const grace = 30 * time.Second // beyond a run's own time before a tool is stopped

func (s Spec) total() time.Duration { return s.Duration + s.Omit }

// runNuttcp counts from the start: the tool cannot leave a beginning out, so
// that what does not count runs before as a test of its own.
func runNuttcp(ctx context.Context, p Pair, s Spec) (Run, error) {
	ports := []string{"-P", strconv.Itoa(s.Port), "-p", strconv.Itoa(s.Port + 1)}
	client := append([]string{"nuttcp", "-fparse", "-T", seconds(s.total()), "-N", strconv.Itoa(s.Streams)}, ports...)
	if strings.HasPrefix(s.Workload, "udp-") {
		client = append([]string{"nuttcp", "-fparse", "-u", "-l64", "-R0", "-T", seconds(s.total())}, ports...)
	}
	switch s.Direction {
	case Down:
		client = append(client, "-r")
	case Both:
		return Run{}, fmt.Errorf("nuttcp sends one way at a time; measure bidir with iperf3 or builtin")
	}
	out, err := session{tool: "nuttcp", server: append([]string{"nuttcp", "-S", "--nofork"}, ports...),
		client: append(client, p.Addr), limit: s.total() + grace}.run(ctx, p)
	run, err := parsed("nuttcp", out, err)
	return run.notOmitted(s), err
}

// notOmitted says that the tool's number has the start of the run in it.
func (r Run) notOmitted(s Spec) Run {
	if s.Omit > 0 {
		r.warn("start-counted", s.Omit.Seconds(), "%s cannot leave out the start of a run: its first %s are in the number",
			r.Tool, s.Omit)
		r.Counted = 0
	}
	return r
}

const netperfWanted = "THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME,P50_LATENCY,P90_LATENCY,P99_LATENCY,MEAN_LATENCY,MIN_LATENCY,MAX_LATENCY,LOCAL_TRANSPORT_RETRANS"

func runNetperf(ctx context.Context, p Pair, s Spec) (Run, error) {
	test := map[string]string{"rr": "TCP_RR", "crr": "TCP_CRR", "bulk": "TCP_STREAM", "streams": "TCP_STREAM"}[s.Workload]
	switch {
	case test == "TCP_STREAM" && s.Direction == Down:
		test = "TCP_MAERTS"
	case s.Direction == Both:
		return Run{}, fmt.Errorf("netperf sends one way at a time; measure bidir with iperf3 or builtin")
	}
	port := strconv.Itoa(s.Port)
	command := "netperf -P 0 -H " + shell.Quote(p.Addr) + " -p " + port + " -t " + test + " -l " + seconds(s.total()) +
		" -- -k " + netperfWanted
	if s.Workload == "rr" {
		command += " -r 64,64"
	}
	// Each stream is a client of its own.
	script := "for i in " + strings.Repeat("x ", s.Streams) + "; do " + command + " & done; wait"
	if s.Streams == 1 {
		script = command
	}
	out, err := session{tool: "netperf", server: []string{"netserver", "-D", "-p", port},
		client: []string{"sh", "-c", script}, limit: s.total() + grace}.run(ctx, p)
	if err == nil && test == "TCP_CRR" {
		out = append([]byte("TCP Connect/Request/Response\n"), out...)
	}
	run, err := parsed("netperf", out, err)
	return run.notOmitted(s), err
}

// runIperf2 takes the receiver's numbers: the server's report, or the
// client's of a reversed test.
func runIperf2(ctx context.Context, p Pair, s Spec) (Run, error) {
	port, streams := strconv.Itoa(s.Port), strconv.Itoa(s.Streams)
	client := []string{"iperf", "-c", p.Addr, "-p", port, "-t", seconds(s.total()), "-P", streams, "-y", "C"}
	switch s.Direction {
	case Down:
		client = append(client, "-R")
	case Both:
		return Run{}, fmt.Errorf("iperf 2 is driven one way at a time; measure bidir with iperf3 or builtin")
	}
	out, err := session{tool: "iperf", server: []string{"iperf", "-s", "-p", port, "-y", "C", "-P", streams},
		client: client, limit: s.total() + grace, fromServer: s.Direction == Up}.run(ctx, p)
	run, err := parsed("iperf", out, err)
	return run.notOmitted(s), err
}

// runTcpbench reads the receiving server's lines.
func runTcpbench(ctx context.Context, p Pair, s Spec) (Run, error) {
	if s.Direction != Up {
		return Run{}, fmt.Errorf("tcpbench sends to its server only; name the hosts the other way round, " +
			"or use iperf3 or builtin")
	}
	port := strconv.Itoa(s.Port)
	out, err := session{tool: "tcpbench", server: []string{"tcpbench", "-s", "-p", port},
		client: []string{"tcpbench", "-p", port, "-n", strconv.Itoa(s.Streams), "-t", seconds(s.total()), p.Addr},
		limit:  s.total() + grace, fromServer: true}.run(ctx, p)
	if err != nil {
		return Run{}, err
	}
	run := Run{Tool: "tcpbench", Retransmits: -1, Metrics: map[string]float64{}, Raw: string(out)}
	err = tcpbenchFrom(string(out), s.Omit.Seconds(), &run)
	run.GoodputBPS = run.Metrics[Goodput]
	return run, err
}

// runSockperf plays ping-pong; its round trips are whole ones. Without
// --uc-reuseaddr the server cannot take the port again right after a run.
func runSockperf(ctx context.Context, p Pair, s Spec) (Run, error) {
	if s.Streams > 1 && s.Workload == "rr" {
		return Run{}, fmt.Errorf("sockperf plays ping-pong over one connection; use the built-in generator for %d", s.Streams)
	}
	to := []string{"-i", p.Addr, "-p", strconv.Itoa(s.Port)}
	if s.Workload == "rr" {
		to = append(to, "--tcp")
	}
	client := append([]string{"sockperf", "ping-pong", "--full-rtt", "-m", "64", "-t", seconds(s.Duration)}, to...)
	out, err := session{tool: "sockperf", server: append([]string{"sockperf", "server", "--uc-reuseaddr"}, to...),
		client: client,
		limit:  s.total() + grace}.run(ctx, p)
	return parsed("sockperf", out, err)
}

const (
	smallFile = 1 << 10
	largeFile = 10 << 20
)

type httpCommand func(s Spec, url string) (tool string, args []string)

func wrkCommand(s Spec, url string) (string, []string) {
	return "wrk", []string{"wrk", "-t", strconv.Itoa(min(s.Streams, 4)), "-c", strconv.Itoa(s.Streams), "-d",
		seconds(s.total()) + "s",
		"--timeout", "10s", "--latency", url}
}

func h2loadCommand(s Spec, url string) (string, []string) {
	args := []string{"h2load", "--h1", "-D", seconds(s.Duration), "-c", strconv.Itoa(s.Streams)}
	if s.Omit > 0 {
		args = append(args, "--warm-up-time", seconds(s.Omit))
	}
	return "h2load", append(args, url)
}

func abCommand(s Spec, url string) (string, []string) {
	return "ab", []string{"ab", "-q", "-k", "-t", seconds(s.total()), "-n", "100000000", "-c",
		strconv.Itoa(s.Streams), url}
}

// runHTTP serves a file with nginx from a folder of its own and loads it.
func runHTTP(command httpCommand) func(context.Context, Pair, Spec) (Run, error) {
	return func(ctx context.Context, p Pair, s Spec) (Run, error) {
		// Hosts of several labs have one /tmp.
		dir := fmt.Sprintf("/tmp/wirerate-http-%d-%d", os.Getpid(), s.Port)
		size := smallFile
		if s.Workload == "http-large" {
			size = largeFile
		}
		_, namespace := p.Server.(*host.Agent)
		a, err := one(ctx, p.Server, host.Script(fmt.Sprintf("rm -rf %[1]s && mkdir -m 755 %[1]s && mkdir %[1]s/www "+
			"%[1]s/tmp && head -c %[2]d /dev/zero >%[1]s/www/file && cat >%[1]s/nginx.conf <<'END'\n%[3]sEND\n",
			dir, size, nginxConf(dir, s, namespace))))
		if err == nil {
			err = a.Err()
		}
		if err != nil {
			return Run{}, fmt.Errorf("nginx on %s: %w", p.Server.Name(), err)
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			_, _ = p.Server.Do(ctx, host.Script("rm -rf "+dir)) // of a host that is gone there is nothing to remove
		}()
		tool, client := command(s, fmt.Sprintf("http://%s:%d/file", bracketed(p.Addr), s.Port))
		out, err := session{tool: tool, server: roomy(s.Streams, "nginx", "-p", dir, "-c", dir+"/nginx.conf"),
			client: waiting(s.Streams, client),
			limit:  s.total() + grace, stays: true}.run(ctx, p)
		run, err := parsed(tool, out, err)
		if err == nil && run.Metrics[Errors] > 0 && run.Metrics[Requests] == 0 {
			return Run{}, fmt.Errorf("%s on %s: no request was answered well", tool, p.Client.Name())
		}
		return run, err
	}
}

// waiting gives the server a moment before the client begins.
func waiting(streams int, client []string) []string {
	return append([]string{"sh", "-c", raise(streams) + `sleep 0.3; exec "$@"`, "sh"}, client...)
}

func bracketed(addr string) string {
	if strings.Contains(addr, ":") {
		return "[" + addr + "]"
	}
	return addr
}

// nginxConf serves one folder; tcp_nopush is what distributions set, and puts
// the head of an answer into one packet with a small file. In a namespace nginx is one process: there the
// rights to become another user may be missing.
func nginxConf(dir string, s Spec, single bool) string {
	processes := "worker_processes auto;\n"
	if single {
		processes = "master_process off;\n"
	}
	temp := ""
	for _, t := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += fmt.Sprintf("  %s_temp_path %s/tmp;\n", t, dir)
	}
	connections := max(1024, 2*s.Streams)
	return fmt.Sprintf("daemon off;\n%spid %s/pid;\nerror_log stderr;\nworker_rlimit_nofile %d;\nevents { "+
		"worker_connections %d; }\nhttp {\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  keepalive_requests "+
		"1000000000;\n%s  server { listen %d; listen [::]:%d; location / { root %s/www; } }\n}\n",
		processes, dir, 2*connections, connections, temp, s.Port, s.Port, dir)
}
