package change

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

// knob is how one setting is read and written in a POSIX shell: get puts the
// running value into the variable v, put writes $1. Both say on standard error
// what is wrong and fail.
type knob struct {
	get, put string
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/@%-]*$`)

// knobFor returns how a setting of a system is reached. Only settings that can
// be written on the running system have a knob.
func knobFor(system catalog.System, setting string) (knob, error) {
	if !plainName.MatchString(strings.TrimPrefix(setting, "/")) || strings.Contains(setting, "..") {
		return knob{}, fmt.Errorf("%s: not the name of one setting", setting)
	}
	switch {
	case strings.HasPrefix(setting, "/sys/"):
		return fileKnob(path.Clean(setting)), nil
	case strings.Contains(setting, ":") || strings.Contains(setting, "/"):
		return knob{}, fmt.Errorf("%s: not a sysctl: it is set by the written files", setting)
	case system == catalog.Linux:
		return fileKnob("/proc/sys/" + strings.ReplaceAll(setting, ".", "/")), nil
	case system == catalog.FreeBSD, system == catalog.OpenBSD:
		return knob{
			get: "v=$(sysctl -n " + quote(setting) + ")",
			put: `m=$(sysctl "` + setting + `=$1" 2>&1) || { echo "$m" >&2; return 1; }`,
		}, nil
	}
	return knob{}, fmt.Errorf("%s: system %q is not known", setting, system)
}

// fileKnob reads and writes a file of /proc/sys or /sys. It reads with cat: the
// shell's own read takes single bytes, of which /proc/sys gives only the first.
// tee runs only to say why the kernel refused a value.
func fileKnob(file string) knob {
	f := quote(file)
	return knob{
		get: "v=$(cat " + f + ")",
		put: "[ -e " + f + " ] || { echo " + f + `': no such file' >&2; return 1; }; { printf '%s\n' "$1" >` + f + `; } 2>/dev/null || { printf '%s\n' "$1" | tee ` + f + " >/dev/null; }",
	}
}

// quote makes one word of a POSIX shell out of s.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Supports returns nil when a setting of a system can be changed while the
// system runs, else why not.
func Supports(system catalog.System, setting string) error {
	_, err := knobFor(system, setting)
	return err
}
