package conffile

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line writes one assignment, with its line break, in the format of a file that
// holds assignments: sysctl.conf, loader.conf, rc.conf, modprobe.d and pf.conf.
// The setting is named as the catalog names it. What is written is read again by
// the format's own parser: an error says that the format cannot hold this key
// with this value and nothing else.
func Line(kind Kind, system System, setting, value string) (string, error) {
	for _, s := range []string{setting, value} {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unprintable) {
			return "", fmt.Errorf("%s cannot hold %+q: a line is made of printable characters", kind, s)
		}
	}
	var line string
	switch kind {
	case Sysctl:
		separator := "="
		if system == Linux {
			separator = " = "
		}
		line = setting + separator + value
	case Loader, RC:
		line = setting + `="` + doubleQuoted.Replace(value) + `"`
	case Modprobe:
		module, parameter, _ := strings.Cut(strings.TrimPrefix(setting, "module:"), "/")
		line = "options " + module + " " + parameter + "=" + value
	case PF:
		line = strings.ReplaceAll(strings.TrimPrefix(setting, "pf:"), "/", " ") + " " + value
	default:
		return "", fmt.Errorf("%s: its lines are not assignments", kind)
	}
	if err := readsAs(kind, system, line, setting, value); err != nil {
		return "", err
	}
	return line + "\n", nil
}

// doubleQuoted escapes what a shell, and FreeBSD's loader, take for something
// else between double quotes.
var doubleQuoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`")

// unprintable tells what breaks a line, steers a terminal or is not seen.
func unprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// readsAs parses a line and compares it with what it is to say. Words of a value
// that are entries of their own (Part) are not counted.
func readsAs(kind Kind, system System, line, setting, value string) error {
	cannot := fmt.Errorf("%s cannot hold %s = %+q: it would be read as something else", kind, setting, value)
	f, err := Parse(kind, system, "", []byte(line+"\n"))
	if err != nil {
		return err
	}
	var own []Entry
	for _, e := range f.Entries {
		if !e.Has(Part) {
			own = append(own, e)
		}
	}
	if len(f.Rejects) > 0 || len(own) != 1 || own[0].Raw != (Span{0, len(line)}) {
		return cannot
	}
	e := own[0]
	if e.Name != setting && e.Key != setting || e.Value != value || e.Has(Glob) || e.Has(Expands) ||
		e.Has(IgnoreErrors) || e.Has(Append) {
		return cannot
	}
	return nil
}
