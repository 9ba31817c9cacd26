package change

import (
	"strings"

	"github.com/wirerate/wirerate/internal/host"
)

// programCheck ends a script, before anything is written, when the host lacks a
// program that the scripts need on every system; sync may be fsync.
const programCheck = `m=
for p in cat chmod cmp cp mkdir mv rm rmdir sleep; do command -v $p >/dev/null 2>&1 || m="$m $p"; done
command -v sync >/dev/null 2>&1 || command -v fsync >/dev/null 2>&1 || m="$m sync"
if [ -n "$m" ]; then printf '%s\n' "$m"; exit 8; fi
`

const missingPrograms = 8

// silent wraps an error for errors.Is; its text is told in other words.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// needsRoot is said to an ordinary user.
const needsRoot = "it needs root (sudo, or ssh://root@HOST, or ssh://USER@HOST?become=sudo)"

// advice says what to do about a failure.
func (c *Change) advice(why host.Failure) string {
	switch {
	case why == host.Denied && c.notRoot:
		return "; " + needsRoot
	case why == host.Denied:
		return "; the system does not let this user, root or not, write here: in a container or a network namespace " +
			"change it on the machine itself"
	case why == host.ReadOnly:
		return "; it is mounted read-only, as in a container"
	case why == host.Full:
		return "; free space there first"
	}
	return ""
}

// refusal is what the kernel said against a value, with what to do about it.
func (c *Change) refusal(setting, said string) (string, host.Failure) {
	text, why := host.Reason(said), host.Classify(said)
	text = strings.TrimPrefix(text, setting+": ")
	switch {
	case why == host.Denied, why == host.ReadOnly && strings.Contains(text, "file system"):
		text += c.advice(why)
	case why == host.Absent && (strings.HasSuffix(setting, "cc.algorithm") ||
		strings.HasSuffix(setting, "congestion_control") || strings.HasSuffix(setting, "functions_default")):
		text += "; the kernel does not have it: load its module first"
		why = host.Refused
	case why == host.ReadOnly && strings.Contains(text, "tunable"):
		text += " and count from the next boot on"
	}
	return text, why
}
