package facts

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// readSettings reads sysctl -a of any of the three systems: "a.b = c" (Linux),
// "a.b: c" (FreeBSD; values of several lines follow), "a.b=c" (OpenBSD).
func (f *Facts) readSettings(t text) error {
	values := parseSysctl(t)
	if len(values) == 0 {
		return errNothing
	}
	for name, s := range values {
		f.Settings[name] = s
	}
	return nil
}

// parseSysctl reads the settings of sysctl -a. A key that occurs again (Linux's
// dev.cdrom.info) or a line without a key (FreeBSD's tables) continues a value.
func parseSysctl(t text) map[string]Setting {
	values := map[string]Setting{}
	last, continues := "", false
	for i, line := range t.lines() {
		if indentedSetting.MatchString(line) {
			line = strings.TrimSpace(line)
		}
		name, value, ok := splitSysctl(line)
		before, after, changed := strings.Cut(value, " -> ") // the BSDs answer so to a write
		if changed && before != "" {
			value = after
		}
		if m := remarked.FindStringSubmatch(value); m != nil {
			value = m[1]
		}
		if !ok {
			if complaint(line) {
				continue
			}
			prev, has := values[last]
			if continues = continues && !ends(prev.Value, line); has && continues && strings.TrimSpace(line) != "" &&
				len(prev.Value) < 4096 {
				prev.Value = strings.TrimSpace(prev.Value + " " + strings.Join(strings.Fields(line), " "))
				values[last] = prev
			}
			continue
		}
		// Linux repeats the name on each line of a value.
		last, continues = name, !strings.HasPrefix(line[len(name):], " =")
		if _, again := values[name]; again && !changed || len(values) >= settingLimit {
			continue
		}
		values[name] = Setting{Value: strings.Join(strings.Fields(value), " "), State: Read,
			Source: Source{From: t.from, Line: i + 1, Text: shorten(line)}}
	}
	return values
}

var (
	indentedSetting = regexp.MustCompile(`^[ \t]+(?:net|kern|hw|dev|vm|vfs)\.[a-z0-9_.%]+(?:: |=| = )\S`)
	// remarked is a number behind which somebody wrote a remark.
	remarked = regexp.MustCompile(`^\s*(-?\d+)\s+(?:\(|<-|#|//).*$`)
)

// ends reports whether a line cannot go on with a value: an empty one ends it, and behind one number only numbers
// follow, everything else is what somebody wrote.
func ends(value, line string) bool {
	words := strings.Fields(line)
	if _, number := wholeNumber(value); value == "" || len(words) > 0 && !number {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool { _, number := wholeNumber(w); return !number }) ||
		len(words) == 0
}

// complaint reports whether a line is what sysctl says on standard error,
// which saved outputs hold too.
func complaint(line string) bool {
	return strings.HasPrefix(line, "sysctl: ") || strings.HasPrefix(line, "error: ") ||
		strings.HasPrefix(line, "warning: ")
}

// splitSysctl takes the name off a line. A name has a dot, no white space, and
// begins like one.
func splitSysctl(line string) (name, value string, ok bool) {
	end := strings.IndexAny(line, "=: \t")
	if end <= 0 || !strings.Contains(line[:end], ".") || line[0] == '.' {
		return "", "", false
	}
	c := line[0] | 0x20
	if c < 'a' || c > 'z' {
		return "", "", false
	}
	name, rest := line[:end], line[end:]
	switch {
	case strings.HasPrefix(rest, " ="):
		return name, rest[2:], true
	case strings.HasPrefix(rest, "="):
		return name, rest[1:], true
	case strings.HasPrefix(rest, ":"):
		// An interface alias such as eth0:1 is part of a Linux name.
		if i := strings.Index(rest, " = "); i > 0 && !strings.HasPrefix(rest, ": ") {
			return name + rest[:i], rest[i+3:], true
		}
		return name, rest[1:], true
	}
	return "", "", false
}

// readKenv reads FreeBSD's kenv: NAME="VALUE". What describes the machine
// (smbios, acpi, hints) is left out.
func (f *Facts) readKenv(t text) error {
	boot := map[string]Setting{}
	for i, line := range t.lines() {
		name, value, ok := strings.Cut(line, "=")
		if !ok || !plainName(name) {
			continue
		}
		boot[name] = Setting{Value: strings.Trim(strings.TrimSpace(value), `"`), State: Read, Source: f.Line(t.from, i+1)}
	}
	if len(boot) == 0 {
		return errNothing
	}
	for name := range boot {
		if strings.HasPrefix(name, "smbios.") || strings.HasPrefix(name, "acpi.") || strings.HasPrefix(name, "hint.") {
			delete(boot, name)
			continue
		}
		if _, runs := f.Settings[name]; !runs && strings.Contains(name, ".") {
			f.Settings[name] = boot[name]
		}
	}
	f.Boot = boot
	return nil
}
