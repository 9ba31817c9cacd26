package change

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
)

// Place is where a host keeps its journals.
type Place struct {
	Dir    string
	System catalog.System
	// enter is the command with which the machine whose disk it is enters the
	// host, when that is one of its network namespaces.
	enter []string
	// notRoot: the user is another one, as far as the host tells.
	notRoot bool
}

// placeScript prints the system with the user's number and, when the shell is in a network namespace
// other than the machine's, what that is called.
const placeScript = `s=$(uname -s) || exit
printf '%s %s\n' "$s" "$(id -u 2>/dev/null)"
[ "$s" = Linux ] || exit 0
n=$(ip netns identify 2>/dev/null)
if [ -z "$n" ] && a=$(readlink /proc/self/ns/net 2>/dev/null) && b=$(readlink /proc/1/ns/net 2>/dev/null) && [ "$a" != "$b" ]; then n=unnamed-$a; fi
if [ -n "$n" ]; then printf '%s\n' "$n" | tr -dc 'A-Za-z0-9_.\n-'; fi
`

// Locate finds where a host keeps its journals. Network namespaces share the
// machine's disk, so each has a folder of its own.
func Locate(ctx context.Context, conn host.Conn) (Place, error) {
	a, err := host.One(ctx, conn, host.Script(placeScript))
	if err != nil {
		return Place{}, err
	}
	return parsePlace(conn, a)
}

func parsePlace(conn host.Conn, a host.Answer) (Place, error) {
	if err := a.Err(); err != nil {
		return Place{}, fmt.Errorf("%s: %w", conn.Name(), err)
	}
	first, namespace, _ := strings.Cut(a.Text(), "\n")
	name, user, _ := strings.Cut(first, " ")
	p := Place{notRoot: user != "" && user != "0", System: catalog.System(strings.ToLower(name))}
	switch p.System {
	case catalog.Linux:
		p.Dir = "/var/lib/wirerate"
	case catalog.FreeBSD, catalog.OpenBSD:
		p.Dir = "/var/db/wirerate"
	default:
		return Place{}, fmt.Errorf("%s: system %q is not known; wirerate changes Linux, FreeBSD and OpenBSD",
			conn.Name(), name)
	}
	if namespace != "" {
		p.Dir = path.Join(p.Dir, "ns", namespace)
		if !strings.HasPrefix(namespace, "unnamed-") {
			p.enter = []string{"ip", "netns", "exec", namespace}
		}
	}
	return p, nil
}
