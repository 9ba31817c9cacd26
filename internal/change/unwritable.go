package change

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
)

const congestionControl = "net.ipv4.tcp_congestion_control"

// unwritable finds, without writing anything, which of the settings root cannot
// write on a running host: files that a namespace shows for reading only, a
// /proc/sys or /sys that is mounted read-only, what is not there, and a congestion
// control that is not among those that the machine lends to its namespaces. It asks nothing
// where it is not root, which cannot write anyway, and of the BSDs, whose
// sysctl(8) does not tell. The reasons are by setting.
func unwritable(ctx context.Context, conn host.Conn, system catalog.System, values map[string]string,
	root string) (map[string]string, error) {
	found := map[string]string{}
	if system != catalog.Linux || len(values) == 0 {
		return found, nil
	}
	var names []string
	script := "[ \"$(id -u)\" = 0 ] || exit 0\n"
	for name := range values {
		k, err := knobFor(system, name, root)
		if err != nil || k.file == "" {
			continue
		}
		// To open a file of /proc/sys or /sys asks the kernel, and writes nothing.
		f := quote(k.file)
		script += fmt.Sprintf("if [ ! -e %s ]; then echo '%d absent'; else m=$( { true >>%s; } 2>&1) || printf '%d "+
			"%%s\\n' \"$m\"; fi\n", f, len(names), f, len(names))
		names = append(names, name)
	}
	allowed := quote(root + "/proc/sys/" + procPath("net.ipv4.tcp_allowed_congestion_control"))
	script += fmt.Sprintf("[ ! -e %s ] || { true >>%s; } 2>/dev/null || { printf 'allowed '; cat %s; }\n:\n", allowed,
		allowed, allowed)
	answers, err := conn.Do(ctx, host.Script(script).Within(limit(len(names))))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", conn.Name(), err)
	}
	for line := range strings.Lines(string(answers[0].Out)) {
		word, said, _ := strings.Cut(strings.TrimSpace(line), " ")
		i, err := strconv.Atoi(word)
		wanted := values[congestionControl]
		switch {
		case word == "allowed" && wanted != "" && !slices.Contains(strings.Fields(said), wanted):
			found[congestionControl] = "the machine lets this namespace use only " +
				strings.Join(strings.Fields(said), " and ")
		case err == nil && i >= 0 && i < len(names):
			found[names[i]] = whyNot(said)
		}
	}
	return found, nil
}

// whyNot says why a file could not be opened for writing.
func whyNot(said string) string {
	switch {
	case said == "absent":
		return notHere
	case host.Classify(said) == host.ReadOnly:
		return readOnlyMount
	}
	return "read-only in this namespace or container"
}

const (
	readOnlyMount = "on a file system that is mounted read-only, as in a container"
	notHere       = "not on this host"
)
