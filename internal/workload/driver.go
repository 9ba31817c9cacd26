package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// driver runs workloads with one tool.
type driver struct {
	tool string
	// client and server are the programs that the hosts need; empty for none.
	client, server string
	run            func(context.Context, Pair, Spec) (Run, error)
	// instead are the preferred programs that are missing, and where.
	instead []string
}

func drivers() []driver {
	return []driver{
		{tool: "iperf3", client: "iperf3", server: "iperf3", run: runIperf3},
		{tool: "builtin", run: runBuiltin},
		{tool: "nuttcp", client: "nuttcp", server: "nuttcp", run: runNuttcp},
		{tool: "netperf", client: "netperf", server: "netserver", run: runNetperf},
		{tool: "iperf", client: "iperf", server: "iperf", run: runIperf2},
		{tool: "tcpbench", client: "tcpbench", server: "tcpbench", run: runTcpbench},
		{tool: "sockperf", client: "sockperf", server: "sockperf", run: runSockperf},
		{tool: "wrk", client: "wrk", server: "nginx", run: runHTTP(wrkCommand)},
		{tool: "h2load", client: "h2load", server: "nginx", run: runHTTP(h2loadCommand)},
		{tool: "ab", client: "ab", server: "nginx", run: runHTTP(abCommand)},
	}
}

func findDriver(tool string) driver {
	for _, d := range drivers() {
		if d.tool == tool {
			return d
		}
	}
	return driver{tool: tool}
}

// choose picks the first of the workload's tools that both hosts have.
func (p Pair) choose(ctx context.Context, kind Kind, s Spec) (driver, error) {
	tools := kind.Tools
	if s.Tool != "" {
		tools = []string{s.Tool}
	}
	var lacking []string
	for _, tool := range tools {
		d := findDriver(tool)
		missing, err := p.lacks(ctx, d)
		if err != nil {
			return d, err
		}
		if len(missing) == 0 {
			d.instead = lacking
			return d, nil
		}
		lacking = append(lacking, slices.Compact(missing)...)
	}
	advice := "install one of them"
	if s.Tool != "" {
		advice = "install it, or measure with another tool"
	}
	return driver{}, fmt.Errorf("%w: %s; %s", ErrMissing, strings.Join(lacking, ", "), advice)
}

// ErrMissing is wrapped, beside ErrTool, when no tool for a workload is
// installed.
var ErrMissing = fmt.Errorf("%w is missing", ErrTool)

func (p Pair) lacks(ctx context.Context, d driver) (missing []string, err error) {
	for _, need := range []struct {
		conn    host.Conn
		program string
	}{{p.Client, d.client}, {p.Server, d.server}} {
		if _, remote := need.conn.(*host.SSH); remote && d.tool == "builtin" {
			need.program = programOn(need.conn, "")
		}
		if need.program == "" {
			continue
		}
		ok, err := installed(ctx, need.conn, need.program)
		if err != nil {
			return nil, err
		}
		if !ok {
			missing = append(missing, fmt.Sprintf("%s is not installed on %s", packaged(need.program), need.conn.Name()))
		}
	}
	return missing, nil
}

// portFree refuses a port on which something else listens: that would be
// measured, or keep the server from starting. The server of the run before may
// take a moment to go.
func (p Pair) portFree(ctx context.Context, port int) error {
	a, err := one(ctx, p.Server, host.Script(fmt.Sprintf(`listens() {
  if command -v ss >/dev/null; then ss -tulnH 'sport = :%[1]d'
  elif command -v sockstat >/dev/null; then sockstat -46l -p %[1]d | sed 1d
  else netstat -an | grep '[.:]%[1]d .*LISTEN'
  fi 2>/dev/null | grep -q .
}
for i in 1 2 3 4 5 6 7 8 9 10; do listens || exit 0; sleep 0.3; done
echo taken`, port)))
	if err != nil || a.Failure != host.None || strings.TrimSpace(string(a.Out)) != "taken" {
		return err
	}
	return lack("port %d on %s is taken; choose another with --port", port, p.Server.Name())
}

// packaged names a program with the package of Debian that has it, where that
// has another name.
func packaged(program string) string {
	switch program {
	case "h2load":
		return "h2load (package nghttp2-client)"
	case "ab":
		return "ab (package apache2-utils)"
	case "netserver":
		return "netserver (package netperf)"
	}
	return program
}

// installed asks the host's shell; a tool that is there but cannot start is
// found out by its run.
func installed(ctx context.Context, c host.Conn, program string) (bool, error) {
	a, err := one(ctx, c, host.Script("command -v "+program+" >/dev/null"))
	if err != nil {
		return false, err
	}
	return a.Failure == host.None, nil
}

const deadPath = "the path or the other end may be dead, or a packet filter is between the two"

// session is a client that runs against a server which was just started.
type session struct {
	tool           string
	server, client []string
	limit          time.Duration
	fromServer     bool // whether the server's output is parsed
	stays          bool // whether the server runs until it is stopped
}

// run starts the server, runs the client, again while nobody listens, and
// returns what is to be parsed.
func (s session) run(ctx context.Context, p Pair) ([]byte, error) {
	server, err := p.Server.Start(ctx, s.server...)
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", s.tool, p.Server.Name(), err)
	}
	defer server.Stop()
	for attempt := 0; ; attempt++ {
		a, err := one(ctx, p.Client, host.Command(s.client...).Within(s.limit))
		if err != nil {
			return nil, err
		}
		switch {
		case a.Failure == host.TimedOut:
			return nil, fmt.Errorf("%s on %s did not end in time and was stopped: %s", s.tool, p.Client.Name(), deadPath)
		case refused(a) && server.Ended():
			return nil, fmt.Errorf("%s: %s", s.tool, serverEnd(p.Server, server))
		case attempt < 20 && refused(a): // sockperf ends with 0 then
			if err := pause(ctx, 100*time.Millisecond); err != nil {
				return nil, err
			}
			continue
		case a.Failure != host.None:
			err := fmt.Errorf("%s on %s: %w", s.tool, p.Client.Name(), a.Err())
			if server.Ended() {
				err = fmt.Errorf("%w; %s", err, serverEnd(p.Server, server))
			}
			return nil, err
		case s.stays && server.Ended():
			return nil, fmt.Errorf("%s: %s", s.tool, serverEnd(p.Server, server))
		case s.fromServer:
			_ = pause(ctx, 300*time.Millisecond) // its last line is on the way
			return server.Stop().Out, nil
		}
		return a.Out, nil
	}
}

// serverEnd says with which words a server ended before its client did.
func serverEnd(on host.Conn, server host.Process) string {
	answer := server.Stop()
	if said := lastLine(answer.Stderr + "\n" + string(answer.Out)); said != "" {
		return fmt.Sprintf("its server on %s ended and says: %s", on.Name(), said)
	}
	return fmt.Sprintf("its server on %s ended during the run without a message, as if killed", on.Name())
}

func refused(a host.Answer) bool {
	said := a.Stderr + string(a.Out)
	return strings.Contains(said, "onnection refused") || strings.Contains(said, "establish control")
}

// parsed turns a tool's output into a run.
func parsed(tool string, data []byte, err error) (Run, error) {
	if err != nil {
		return Run{}, err
	}
	return ParseOutput(tool, data)
}
