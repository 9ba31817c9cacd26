package conffile

import (
	"os"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// sysctlLineAlone reads a line of sysctl.conf that stands in a script as a command.
func (s *scanner) sysctlLineAlone(c *command, first word) bool {
	name, _, _ := strings.Cut(first.text, "=")
	line := s.text(c.raw)
	before, value, assigned := strings.Cut(line, "=")
	if !assigned || s.system != Linux || strings.TrimSpace(before) != name || !isSysctl(name) || strings.Contains(value, "\n") {
		return false
	}
	if !s.stray {
		s.stray = true
		s.reject(first.line, first.span, "this is a line for sysctl.conf, not a shell command: write it "+
			"to a file in /etc/sysctl.d, or put sysctl -w before it")
	}
	sub := &scanner{src: s.src, path: s.path, system: s.system, rejected: func(Reject) {}, entry: func(e Entry) bool {
		e.In, e.style = Sysctl, styleFixed
		s.emit(e)
		return !s.stopped
	}}
	sub.sysctlLine(first.line, c.raw.Start, c.raw.End)
	return true
}

// setter is a function of a script that sets a sysctl to a value, by its name.
var setter = regexp.MustCompile(`(?i)(^|[_-])(set|update|apply|add|write|put|ensure|change|configure|append|` +
	`tune)([_-]|$)`)

// sysctlValue emits a sysctl whose value stands in a word.
func (s *scanner) sysctlValue(e Entry, value string, w word) {
	e.Name, e.Value, e.ValueSpan = LinuxName(e.Key), value, w.span
	e.Iface = linuxIface(e.Name)
	if w.expands {
		e.Flags |= Expands
	}
	s.emit(e)
}

// rereads is how the BSDs apply sysctl.conf without a reboot.
var rereads = map[System]string{FreeBSD: "write service sysctl restart, or sysctl -f /etc/sysctl.conf",
	OpenBSD: "set each value with sysctl NAME=VALUE"}

// readsAsLinux rejects sysctl -p, which the BSDs do not have.
func (s *scanner) readsAsLinux(w word) bool {
	if s.system != FreeBSD && s.system != OpenBSD {
		return false
	}
	s.rejected(Reject{Line: w.line, Span: w.span, certain: true,
		Reason:  "sysctl on " + s.system.Title() + " has no option -p, which loads the file on Linux: " + rereads[s.system],
		Because: "The command only prints its usage, and the settings in the file take effect at the next boot."})
	return true
}

// sysctlCommand reads sysctl's arguments: each with an '=' is a setting (on
// FreeBSD a ':' separates too). -p, -f and --system read files instead.
func (s *scanner) sysctlCommand(words []word, base Entry) {
	for i, w := range words {
		if w.text == "-p" && i == 0 && s.readsAsLinux(w) {
			return
		}
		if strings.HasPrefix(w.text, "-") {
			continue
		}
		if i > 0 && strings.HasPrefix(w.text, "=") && !words[i-1].quoted && strings.Contains(words[i-1].text, ".") {
			s.reject(words[i-1].line, Span{words[i-1].span.Start, words[len(words)-1].span.End},
				"sysctl sets nothing here: write NAME=VALUE without blanks")
			return
		}
		raw := s.text(w.span)
		lead := 0
		if strings.HasPrefix(raw, `"`) || strings.HasPrefix(raw, "'") {
			lead = 1
		}
		eq := strings.IndexByte(raw, '=')
		if eq <= lead {
			if i+2 == len(words) && isSetting(w) && isNumber(words[i+1]) {
				s.reject(w.line, Span{w.span.Start, words[i+1].span.End},
					"sysctl sets nothing here and only prints the setting: write NAME=VALUE as one word")
			}
			if i > 0 && i == len(words)-1 && words[i-1].text == "-w" && isSetting(w) {
				s.reject(w.line, w.span, "sysctl sets nothing here and only prints the setting: the value is missing")
			}
			continue
		}
		e := base
		e.Key, e.Line, e.KeySpan = raw[lead:eq], w.line, Span{w.span.Start + lead, w.span.Start + eq}
		if lead == 1 {
			e.ValueSpan = Span{w.span.Start + eq + 1, max(w.span.End-1, w.span.Start+eq+1)}
			e.Value, e.style = s.text(e.ValueSpan), styleDouble
			e.Flags |= Quoted
			if w.expands {
				e.Flags |= Expands
			}
		} else {
			s.setValue(&e, w, eq+1)
		}
		for _, key := range s.loopedNames(e.Key) {
			e.Key, e.Name, e.Iface = key, key, freeBSDIface(key)
			if s.system == Linux || s.system == "" {
				e.Name = LinuxName(key)
				e.Iface = linuxIface(e.Name)
			}
			s.emit(e)
		}
	}
}

// loopedNames returns the names that one with the variable of a loop in it stands for, none where the shell makes it
// otherwise.
func (s *scanner) loopedNames(name string) (names []string) {
	if !strings.ContainsAny(name, "$`") {
		return []string{name}
	}
	for _, w := range s.over[:min(len(s.over), maxLoop)] {
		full := os.Expand(name, func(variable string) string {
			if variable == s.loop && !w.expands {
				return w.text
			}
			return "$"
		})
		if !strings.ContainsAny(full, "$`*{") {
			names = append(names, full)
		}
	}
	return names
}

// settingLines reads the lines of a variable that holds settings alone, NAME=VALUE in
// each: those of the loader where the variable's name says so.
func (s *scanner) settingLines(w word, base Entry) {
	raw := s.text(w.span)
	eq := strings.IndexByte(raw, '=')
	if eq <= 0 || !strings.Contains(raw, "\n") || len(raw) < eq+3 ||
		raw[eq+1] != '"' && raw[eq+1] != '\'' || raw[len(raw)-1] != raw[eq+1] {
		return
	}
	if name := strings.ToLower(raw[:eq]); strings.Contains(name, "loader") || strings.Contains(name, "boot") {
		base.In = Loader
	}
	base.Block = w.line // another variable may hold what another run sets
	var found []Entry
	whole, known := true, 0
	s.lines(w.span.Start+eq+2, w.span.End-1, w.line, func(line, from, to int) bool {
		from, to = s.trim(from, to)
		if from == to || s.src[from] == '#' {
			return true
		}
		name, value, assigned := strings.Cut(s.src[from:to], "=")
		expands := plainVariable.MatchString(value)
		if isSetting(word{text: name}) {
			known++
		}
		whole = assigned && dottedName.MatchString(name) && (expands || !strings.ContainsAny(value, " \t$`|;\\")) &&
			len(found) < maxVariables
		e := base
		if expands {
			e.Flags |= Expands
		}
		e.Key, e.Name, e.Value, e.Line = name, LinuxName(name), value, line
		e.KeySpan, e.ValueSpan = Span{from, from + len(name)}, Span{to - len(value), to}
		e.Iface = linuxIface(e.Name)
		found = append(found, e)
		return whole
	})
	if !whole || known < 2 {
		return
	}
	for _, e := range found {
		s.emit(e)
	}
}

// dottedName is what the name of a sysctl looks like.
var dottedName = regexp.MustCompile(`^[a-z][a-z0-9_]*(?:[./][A-Za-z0-9_%-]+)+$`)

// plainVariable is a value that a variable stands for.
var plainVariable = regexp.MustCompile(`^\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})$`)

// isSetting reports a word that is the name of a sysctl.
func isSetting(w word) bool {
	_, known := SystemOfKey(w.text)
	return known && !w.expands && strings.Count(w.text, ".") > 0 && !strings.HasSuffix(w.text, ".")
}
