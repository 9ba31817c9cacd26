package conffile

import "strings"

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
	case Sysctl:
		sub.lines(from, to, line, func(line, from, to int) bool { sub.sysctlLine(line, from, to); return true })
	case Loader:
		sub.lines(from, to, line, func(line, from, to int) bool { sub.loaderLine(line, from, to); return true })
	case RC:
		sub.shell(from, to, line, sub.rcCommand)
	}
}

// into returns a scanner whose entries are marked as written into a file, with
// the kind of that file, "" when it is none that is followed.
func (s *scanner) into(path string, mark func(*Entry)) (*scanner, Kind) {
	g := fromPath(path, "")
	switch g.Kind {
	case Sysctl, Loader, RC:
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

// echoInto reads echo 'NAME=VALUE' >> FILE for configuration files.
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
	text := s.src[from:max(from, to)]
	if strings.ContainsAny(text, "\\$`\n") || len(words) > 1 && strings.ContainsAny(text, `'"`) {
		return
	}
	switch kind {
	case Sysctl:
		sub.sysctlLine(words[0].line, from, to)
	case Loader:
		sub.loaderLine(words[0].line, from, to)
	}
}
