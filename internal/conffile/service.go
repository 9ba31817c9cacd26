package conffile

import "strings"

// service reads the limits that a unit of systemd sets, and those that systemd's own
// configuration sets for all, by the rules of unit files; and the commands that a unit
// runs. Entries are named service:KEY.
func (s *scanner) service() {
	s.assignments(func(section string, e Entry) {
		if section == "Unit" || section == "Install" || section == "" {
			return
		}
		lower := strings.ToLower(e.Key)
		switch {
		case strings.HasPrefix(e.Key, "Exec"):
			command := strings.TrimLeft(e.Value, "@-:+!|")
			s.script(e.ValueSpan.End-len(command), e.ValueSpan.End, e.Line)
		case strings.HasPrefix(lower, "limit") || strings.HasPrefix(lower, "defaultlimit") || lower == "nice" ||
			lower == "cpuquota":
			if e.Value == "" {
				return
			}
			e.Name = "service:" + e.Key
			if section == "Manager" {
				e.Name = "service:Manager/" + e.Key
			}
			e.Value, e.style = unfold(e.Value), styleFixed
			s.emit(e)
		}
	})
}
