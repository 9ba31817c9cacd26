package conffile

import (
	"os"
	"strings"
)

// embedded reads lines that a script writes into a configuration file, when
// its path tells what kind of file it is.
func (s *scanner) embedded(h heredoc, from, to, line int) {
	sub, kind := s.into(h.path, func(e *Entry) {
		e.Flags |= h.flags
		if !h.literal && strings.ContainsAny(e.Value, "$`") {
			e.Flags |= Expands
		}
	})
	switch kind {
	case Sysctl, Loader, Limits:
		sub.lines(from, to, line, func(line, from, to int) bool { sub.written(kind, line, from, to); return true })
	case RC:
		sub.shell(from, to, line, sub.rcCommand)
	}
}

// into returns a scanner whose entries are marked as written into a file, with
// the kind of that file, "" when it is none that is followed.
func (s *scanner) into(path string, mark func(*Entry)) (*scanner, Kind) {
	g := fromPath(s.resolved(path), "")
	switch g.Kind {
	case Sysctl, Loader, RC, Limits:
	default:
		return nil, ""
	}
	sub := &scanner{src: s.src, path: s.path, system: s.system, rejected: s.rejected}
	sub.entry = func(e Entry) bool {
		e.In = g.Kind
		mark(&e)
		s.emit(e)
		return !s.stopped
	}
	return sub, g.Kind
}

// resolved puts the variables that hold a plain text into a path.
func (s *scanner) resolved(path string) string {
	if !strings.Contains(path, "$") || len(s.variables) == 0 || len(path) > maxPath {
		return path
	}
	return os.Expand(path, func(name string) string {
		if value, known := s.variables[name]; known {
			return value
		}
		return "$" + name
	})
}

// maxVariables bounds the variables of a script that are remembered, and maxPath
// the length of a path with them.
const (
	maxVariables = 1000
	maxPath      = 4096
)

// remember keeps the assignments that a command consists of.
func (s *scanner) remember(c *command) {
	for _, w := range c.words {
		e, ok := s.assignment(w)
		switch {
		case !ok:
			return
		case e.Flags&(Expands|Append) != 0 || c.conditional || len(e.Value) > maxPath || len(s.variables) >= maxVariables:
			delete(s.variables, e.Key)
		default:
			if s.variables == nil {
				s.variables = map[string]string{}
			}
			s.variables[e.Key] = e.Value
		}
	}
}

// echoInto reads echo 'NAME=VALUE' >> FILE for configuration files; a quoted text
// may have several lines.
func (s *scanner) echoInto(words []word, target word, base Entry) {
	sub, kind := s.into(target.text, func(e *Entry) {
		e.Raw, e.style = base.Raw, styleFixed
		e.Flags |= base.Flags
	})
	if kind == "" || len(words) == 0 {
		return
	}
	from, to := words[0].span.Start, words[len(words)-1].span.End
	if w := words[0]; len(words) == 1 && w.quoted {
		from, to = from+1, to-1
	}
	if len(words) > 1 && strings.ContainsAny(s.src[from:to], `'"`) {
		return
	}
	s.lines(from, max(from, to), words[0].line, func(line, from, to int) bool {
		for from < to {
			end, next := to, to
			if i := strings.Index(s.src[from:to], `\n`); i >= 0 { // printf and echo -e
				end, next = from+i, from+i+2
			}
			if !strings.ContainsAny(s.src[from:end], "\\$`") {
				sub.written(kind, line, from, end)
			}
			from = next
		}
		return true
	})
}

// written reads one line that a command writes into a file.
func (s *scanner) written(kind Kind, line, from, to int) {
	switch kind {
	case Sysctl:
		s.sysctlLine(line, from, to)
	case Loader:
		s.loaderLine(line, from, to)
	case Limits:
		s.limitsLine(line, from, to)
	}
}
