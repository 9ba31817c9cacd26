package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// loginConf reads login.conf of the BSDs (login.conf(5), getcap(3)): a class is one line, which a backslash continues. The
// limits of open files are entries, login:openfiles-cur and login:openfiles-max, with the class as their interface, and so is
// the class that it takes the rest from, login:tc.
func (s *scanner) loginConf() {
	class, open := "", false
	var classes []string
	var bases []word // classes that others are based on
	defer func() { s.loginBases(classes, bases) }()
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		start, end := s.trim(from, to)
		text := s.src[start:end]
		switch {
		case text == "" || text[0] == '#':
			return true // which is part of a line that goes on
		case from < start && text[0] == ':' && !open:
			s.rejected(Reject{Line: line, Span: Span{start, end}, certain: true, Reason: "this line belongs to no class: the one above does not end in a backslash",
				Because: "A class is one line, so this line and the rest of the class are not read."})
			open = strings.HasSuffix(text, "\\")
			return true
		case !open:
			name, _, _ := strings.Cut(text, ":")
			class, _, _ = strings.Cut(name, "|")
			if len(classes) < maxVariables {
				classes = append(classes, strings.Split(name, "|")...)
			}
		}
		if i := strings.LastIndex(text, ":tc="); i >= 0 && len(bases) < maxVariables {
			i += len(":tc=")
			base, _, _ := strings.Cut(text[i:], ":")
			bases = append(bases, word{line: line, span: Span{start + i, start + i + len(base)}, text: base})
		}
		if open = strings.HasSuffix(text, "\\"); open && end < trimCR(s.src, from, to) {
			s.rejected(Reject{Line: line, Span: Span{end - 1, to}, certain: true, Reason: "blanks after the backslash, so that it continues nothing",
				Because: "A class is one line, and ends here; the lines below are not read."})
		}
		s.loginLimits(class, text, start, line)
		return true
	})
}

// stockClasses are those of the login.conf that OpenBSD comes with.
var stockClasses = []string{"default", "daemon", "staff", "authpf", "pbuild", "bgpd", "unbound", "vmd", "xenodm"}

// appendedClasses rejects classes in a text that is added to login.conf and that the file has above, as the first record of a
// name is the one that counts (getent of openbsd/src lib/libc/gen/getcap.c). A script that edits the file otherwise may have
// removed them.
func (s *scanner) appendedClasses(from, to, line int) {
	if s.rewritten == nil {
		s.rewritten = append(loginRewritten.FindStringIndex(s.src[:min(len(s.src), maxSearched)]), len(s.src))
	}
	if s.rewritten[len(s.rewritten)/2] <= from {
		return
	}
	s.lines(from, to, line, func(line, from, to int) bool {
		name, _, is := strings.Cut(s.src[from:to], ":")
		if is && slices.Contains(stockClasses, name) {
			s.rejected(Reject{Line: line, Span: Span{from, from + len(name)}, certain: true, Reason: "login.conf has a class " + name + " above, and the first one counts",
				Because: "What is added here is not read. Change the class where it stands, or add one by another name."})
		}
		return true
	})
}

// loginRewritten is a command that changes login.conf otherwise than by adding to it.
var loginRewritten = regexp.MustCompile(`[^>]>[ \t]*/etc/login\.conf|\b(?:sed|perl|awk|ed|ex|cp|mv|patch|install)\b[^\n]*login\.conf`)

// loginBases rejects a class that is another one's base and is misspelt; one that is missing may be in login.conf.d.
func (s *scanner) loginBases(classes []string, bases []word) {
	if len(classes) >= maxVariables {
		return
	}
	for _, w := range bases {
		i := slices.IndexFunc(classes, func(class string) bool { return spelling.Slip(class, w.text) })
		if i >= 0 && !slices.Contains(classes, w.text) {
			s.rejected(Reject{Line: w.line, Span: w.span, certain: true, Reason: "no class is called " + w.text + "; did you mean " + classes[i] + "?",
				Because: "This class then lacks what it should take from that one."})
		}
	}
}

func (s *scanner) loginLimits(class, text string, at, line int) {
	for field := range strings.SplitSeq(text, ":") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		if name == "tc" {
			key := Span{at, at + len(field)}
			s.emit(Entry{Key: name, Name: "login:tc", Value: value, Line: line, KeySpan: key, ValueSpan: Span{key.End - len(value), key.End}, Iface: class,
				Raw: s.wholeLines(key), style: styleFixed})
		}
		if name == "openfiles" || name == "openfiles-cur" || name == "openfiles-max" {
			key := Span{at, at + len(field)}
			e := Entry{Key: name, Value: value, Line: line, KeySpan: key, ValueSpan: Span{key.End - len(value), key.End}, Iface: class,
				Raw: s.wholeLines(key), style: styleFixed}
			for _, end := range []string{"-cur", "-max"} {
				if e.Name = "login:openfiles" + end; name == "openfiles" || strings.HasSuffix(name, end) {
					s.emit(e)
				}
			}
		}
		at += len(field) + 1
	}
}
