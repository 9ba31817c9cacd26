package conffile

import "strings"

// service reads the limits that a unit of systemd sets, and those that systemd's own
// configuration sets for all, by the rules of unit files; and the commands that a unit
// runs. Entries are named service:KEY.
func (s *scanner) service() {
	section := ""
	s.logicalLines(textStart(s.src), "#;", func(line, from, to int, raw Span) {
		text := s.src[from:to]
		if text[0] == '[' {
			section = strings.Trim(text, "[]")
			return
		}
		eq := strings.IndexByte(text, '=')
		if eq <= 0 || section == "Unit" || section == "Install" || section == "" {
			return
		}
		k0, k1 := s.trim(from, from+eq)
		v0, v1 := s.trim(from+eq+1, to)
		key := s.src[k0:k1]
		lower := strings.ToLower(key)
		switch {
		case strings.HasPrefix(key, "Exec"):
			for v0 < v1 && strings.IndexByte("@-:+!|", s.src[v0]) >= 0 {
				v0++
			}
			s.script(v0, v1, line)
		case strings.HasPrefix(lower, "limit") || strings.HasPrefix(lower, "defaultlimit") || lower == "nice" ||
			lower == "cpuquota":
			if v0 < v1 {
				name := "service:" + key
				if section == "Manager" {
					name = "service:Manager/" + key
				}
				s.emit(Entry{Key: key, Name: name, Value: unfold(s.src[v0:v1]), Line: line, KeySpan: Span{k0, k1},
					ValueSpan: Span{v0, v1}, Raw: raw, style: styleFixed})
			}
		}
	})
}
