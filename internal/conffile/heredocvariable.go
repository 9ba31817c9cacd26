package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// setInside is a line of a text that sets a variable of the shell, or a macro of pf.conf.
var setInside = regexp.MustCompile(`^[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=`)

// emptied rejects a variable that a here-document sets and uses, when the shell that writes the text puts it in: it has
// none of that name.
func (s *scanner) emptied(h heredoc, from, to, line int) {
	const most = 50
	if h.literal || to > maxSearched {
		return
	}
	before := s.src[:from]
	var inside []string
	s.lines(from, to, line, func(line, from, to int) bool {
		text := s.src[from:to]
		for _, name := range inside {
			at := usesOf(text, name)
			if at < 0 {
				continue
			}
			if sourced.MatchString(before) {
				return false
			}
			s.rejected(Reject{Line: line, Span: Span{from + at, from + at + 1 + len(name)}, certain: true,
				Reason: "the shell expands $" + name + " as it writes the file, where nothing has set it: quote the delimiter, <<'" +
					h.delimiter + "'",
				Because: "Without quotes around the first delimiter the here-document is expanded; " + name + " is set only in its own text."})
			return false
		}
		if m := setInside.FindStringSubmatch(text); m != nil && len(inside) < most && usesOf(text, m[1]) < 0 &&
			!strings.Contains(before, m[1]) && !slices.Contains(environment, m[1]) {
			inside = append(inside, m[1])
		}
		return true
	})
}

// environment are variables that a shell has from where it was started.
var environment = []string{"HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "USER"}

// sourced is a command that reads another script, whose variables nobody knows.
var sourced = regexp.MustCompile(`(?m)^[ \t]*(?:\.|source)[ \t]`)

// usesOf is where a text uses a variable, -1 where it does not.
func usesOf(text, name string) int {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '$')
		if i < 0 {
			return -1
		}
		at += i
		rest := strings.TrimPrefix(text[at+1:], "{")
		after, is := strings.CutPrefix(rest, name)
		if is && (after == "" || after[0] != '_' && !isAlnum(after[0])) && (at == 0 || text[at-1] != '\\') {
			return at
		}
		at++
	}
}

// expanding is a scanner for a text into which the shell puts its variables.
func (s *scanner) expanding() *scanner {
	inner := s.marking(s.expand)
	inner.rejected = s.unlessExpanded(s.rejected)
	return inner
}

// expand puts what the shell does into a value, where the text alone tells it.
func (s *scanner) expand(e *Entry) {
	if !strings.ContainsAny(e.Value, "$`") {
		return
	}
	if value, known := s.constant(e.Value); known && !strings.Contains(e.Value, `\$`) {
		e.Value, e.style = value, styleFixed
		e.Flags &^= Expands
		return
	}
	e.Flags |= Expands
}

// unlessExpanded is told of what is rejected, but not of a text that the shell makes something else of.
func (s *scanner) unlessExpanded(told func(Reject)) func(Reject) {
	return func(r Reject) {
		text := s.text(r.Span)
		if r.certain && !strings.Contains(text, "$(") && !strings.Contains(text, "`") || !strings.ContainsAny(text, "$`") {
			told(r)
		}
	}
}
