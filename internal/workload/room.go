package workload

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/kerneltext"
)

const (
	// manyFiles is a number of connections that every system lets a process have
	// unasked.
	manyFiles = 200
	// otherFiles are those of a program beside its connections: nginx has two for
	// each that it passes on, tools some for each thread.
	otherFiles = 100
)

// room is how many of the connections that are asked for the hosts can have, and
// the limits where they are fewer, with the code of the narrowest.
func (p Pair) room(ctx context.Context, asked int) (streams int, limit Limit) {
	streams = asked
	var texts []string
	narrow := func(code string, n int, format string, args ...any) {
		texts = append(texts, fmt.Sprintf(format, args...))
		if n < streams {
			streams, limit.Code = n, code
		}
	}
	if ports := p.ports(ctx); ports > 0 && ports < asked {
		narrow(LimitPorts, ports, "the client has %d ports towards one address (net.ipv4.ip_local_port_range)", ports)
	}
	for i, c := range p.hosts() {
		if asked <= manyFiles {
			break
		}
		if n := filesOf(ctx, c, streams); n > otherFiles && n-otherFiles < streams {
			narrow(LimitFiles, n-otherFiles, "a process on the %s may have %d files open (ulimit -n)",
				[]string{"client", "server"}[i], n)
		}
	}
	limit.Text = strings.Join(texts, ", and ")
	return streams, limit
}

// ports is how many the client's kernel gives to connections towards one
// address; 0 where it does not tell.
func (p Pair) ports(ctx context.Context) int {
	text, err := host.ReadFile(ctx, p.Client, "/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0
	}
	from, to, err := kerneltext.PortRange(string(text))
	if err != nil {
		return 0
	}
	return int(to) - int(from) + 1
}

// raise lets the processes of a shell have as many files open as so many
// connections take, or as many as the system lets them.
func raise(streams int) string {
	return fmt.Sprintf(`n="$(ulimit -n)"; [ "$n" = unlimited ] || [ "$n" -ge %[1]d ] || ulimit -n %[1]d 2>/dev/null || `+
		`ulimit -n "$(ulimit -H -n)" 2>/dev/null; `, streams+otherFiles)
}

// filesOf is how many files a process on a host may have open, raised as far as it
// goes for so many connections; 0 where that is not known or without a limit.
func filesOf(ctx context.Context, c host.Conn, streams int) int {
	a, err := one(ctx, c, host.Script(raise(streams)+"ulimit -n"))
	if err != nil || a.Failure != host.None {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(a.Text()))
	if err != nil { // "unlimited"
		return 0
	}
	return n
}

// roomy is a command with as many files as so many connections take.
func roomy(streams int, command ...string) []string {
	if streams <= manyFiles {
		return command
	}
	return append([]string{"sh", "-c", raise(streams) + `exec "$@"`, "sh"}, command...)
}
