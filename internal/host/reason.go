package host

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Classify finds the kind of failure in what a program said about it, in the C
// locale.
func Classify(said string) Failure {
	s := strings.ToLower(said)
	for _, known := range []struct {
		text string
		why  Failure
	}{
		{"no such file", Absent}, {"not found", Absent}, {"unknown oid", Absent}, {"no such process", Absent},
		{"no such device", Absent}, {"unknown key", Absent}, {"level name", Absent}, {"does not exist", Absent},
		{"is not installed", Absent},
		{"permission denied", Denied}, {"operation not permitted", Denied}, {"must be root", Denied},
		{"read-only file system", ReadOnly}, {"read only", ReadOnly}, {"tunable values are", ReadOnly},
		{"invalid argument", Refused}, {"numerical result out of range", Refused}, {"result too large", Refused},
		{"no space left", Full}, {"disk quota exceeded", Full}, {"file system is full", Full},
		{"device busy", Refused}, {"resource busy", Refused}, {"not supported", Refused},
		{"invalid integer", Refused}, {"invalid unsigned", Refused}, {"invalid long", Refused},
		{"invalid value", Refused},
		{"empty numeric value", Refused}, {"cannot set that", Refused}, {"isn't a leaf node", Refused},
		{"illegal value", Refused}, {"out of range", Refused}, {"bad value", Refused},
		{"value is not available", Refused},
	} {
		if strings.Contains(s, known.text) {
			return known.why
		}
	}
	return Failed
}

// speaker is the name that a program, a shell or a line of a script puts
// before what it says.
var speaker = regexp.MustCompile(
	`^(?:(?:/[\w./-]*/)?(?:[a-z]*sh|sysctl|tee|cat|grep|ifconfig|pfctl|kldload|kldunload|kldstat|ethtool|modprobe|mkdir|rmdir|rm|` +
		`mv|cp|chmod|mount|env)|\S+\.sh)(?:\[\d+\])?: *(?:(?:line )?\d+: *)?(?:Error: *)?`)

// Reason is what a program said about a failure, in one line without the
// program's name: what sysctl(8) said, when it spoke among others; else the
// last line.
func Reason(said string) string {
	var lines []string
	sysctl := false
	// A shell that took it apart into words has made one line of several.
	for line := range strings.Lines(strings.ReplaceAll(said, " sysctl: ", "\nsysctl: ")) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		spoke := strings.HasPrefix(line, "sysctl: ")
		if spoke && !sysctl {
			sysctl, lines = true, nil
		}
		if spoke == sysctl {
			lines = append(lines, speaker.ReplaceAllString(line, ""))
		}
	}
	if !sysctl && len(lines) > 1 {
		lines = lines[len(lines)-1:]
	}
	return strings.Join(lines, "; ")
}
