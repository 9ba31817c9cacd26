package conffile

import "strings"

// unit reads systemd.link and systemd.network files as systemd's config parser
// does (src/shared/conf-parser.c): sections, key=value, '#' and ';' comments
// as the first character, a backslash at the end of a line continues it. A
// byte-order mark is skipped there.
//
// A key of the [Link] section is named link-file:KEY or network-file:KEY, one
// of another section network-file:SECTION/KEY.
func (s *scanner) unit(kind Kind) {
	prefix := "link-file:"
	if kind == NetworkFile {
		prefix = "network-file:"
	}
	iface := ""
	s.logicalLines(textStart(s.src), "#;", func(line, from, to int, raw Span) {
		text := s.src[from:to]
		if text[0] == '[' {
			if text[len(text)-1] != ']' {
				s.reject(line, Span{from, to}, "malformed section header")
				s.section = ""
				return
			}
			s.section = text[1 : len(text)-1]
			return
		}
		eq := strings.IndexByte(text, '=')
		if eq <= 0 {
			s.reject(line, Span{from, to}, "not an assignment: no '=' on this line")
			return
		}
		if s.section == "" {
			if !s.part { // of which the rest may be written elsewhere
				s.reject(line, Span{from, to}, "an assignment outside of any section is ignored")
			}
			return
		}
		k0, k1 := s.trim(from, from+eq)
		v0, v1 := s.trim(from+eq+1, to)
		e := Entry{Key: s.src[k0:k1], Line: line, KeySpan: Span{k0, k1}, ValueSpan: Span{v0, v1}, Raw: raw,
			Iface: iface}
		e.Value = unfold(s.src[v0:v1])
		if s.section == "Match" {
			if e.Key == "Name" || e.Key == "OriginalName" {
				iface = e.Value
				e.Iface = iface
			}
		} else {
			s.addressed(e.Key, line, e.ValueSpan)
		}
		e.Name = prefix + e.Key
		if s.section != "Link" {
			e.Name = prefix + s.section + "/" + e.Key
		}
		s.emit(e)
	})
}

// assignments calls f for each KEY=VALUE of a file with [sections], the value as it is written.
func (s *scanner) assignments(f func(section string, e Entry)) {
	section := ""
	s.logicalLines(textStart(s.src), "#;", func(line, from, to int, raw Span) {
		text := s.src[from:to]
		if text[0] == '[' {
			section = strings.Trim(text, "[]")
			return
		}
		eq := strings.IndexByte(text, '=')
		if eq <= 0 {
			return
		}
		k0, k1 := s.trim(from, from+eq)
		v0, v1 := s.trim(from+eq+1, to)
		f(section, Entry{Key: s.src[k0:k1], Value: s.src[v0:v1], Line: line, KeySpan: Span{k0, k1}, ValueSpan: Span{v0, v1}, Raw: raw})
	})
}

// logicalLines calls f for each line after joining those that end in a
// backslash; from and to are trimmed, comment and empty lines are left out. raw
// is the whole stretch without its last newline.
func (s *scanner) logicalLines(start int, comments string, f func(line, from, to int, raw Span)) {
	line := 1
	for pos := start; pos < len(s.src) && !s.stopped; {
		first, begin := line, pos
		end, lines := s.continued(pos)
		from, to := s.trim(begin, end)
		if from < to && strings.IndexByte(comments, s.src[from]) >= 0 {
			// A comment ends with its line, whatever its last character is.
			if i := strings.IndexByte(s.src[begin:], '\n'); i >= 0 {
				end, lines = begin+i, 1
			}
		} else if from < to {
			f(first, from, to, Span{begin, trimCR(s.src, begin, end)})
		}
		pos, line = end+1, line+lines
	}
}

// continued returns the end of the logical line at pos, its newline excluded,
// and how many lines it spans.
func (s *scanner) continued(pos int) (end, lines int) {
	for lines = 1; ; lines++ {
		i := strings.IndexByte(s.src[pos:], '\n')
		if i < 0 {
			return len(s.src), lines
		}
		end = pos + i
		last := trimCR(s.src, pos, end)
		if last == pos || s.src[last-1] != '\\' || end+1 == len(s.src) {
			return end, lines
		}
		pos = end + 1
	}
}

// unfold joins the lines of a continued value.
func unfold(v string) string {
	if !strings.Contains(v, "\n") {
		return v
	}
	var parts []string
	for _, l := range strings.Split(v, "\n") {
		parts = append(parts, strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(l, "\r"), "\\")))
	}
	return strings.Join(parts, " ")
}
