package conffile

import "strings"

// yaml reads the sysctls in YAML: tasks, variables and states of Ansible and Salt,
// and what else holds them in one of these forms, each on lines of its own:
//
//	net.core.rmem_max: 1          a mapping
//	- name: net.core.rmem_max     an item or a task, with value: after it
//	- { name: a.b, value: 1 }     the same on one line
//	sysctl: name=a.b value="1"    the arguments of a task
//	- "net.core.rmem_max=1"       a line of a file that a task writes
//
// Only names that begin like a sysctl of Linux count, so that other YAML has none.
func (s *scanner) yaml() {
	y := &yamlReader{s: s}
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		y.line(line, from, to)
		return true
	})
}

// yamlReader remembers a name until its value comes.
type yamlReader struct {
	s    *scanner
	name *word // of an item whose value is still to come
}

func (y *yamlReader) line(line, from, to int) {
	s := y.s
	if i := strings.Index(s.src[from:to], " #"); i >= 0 {
		to = from + i
	}
	from, to = s.trim(from, to)
	for to-from > 1 && s.src[from] == '-' && s.src[from+1] == ' ' {
		from, to = s.trim(from+1, to)
	}
	if from == to || s.src[from] == '#' {
		return
	}
	if i := strings.Index(s.src[from:to], "name="); i >= 0 || s.src[from] == '{' {
		y.pairs(line, from+max(i, 0), to)
		return
	}
	colon, equals := strings.Index(s.src[from:to], ": "), strings.IndexByte(s.src[from:to], '=')
	if colon < 0 && s.src[to-1] == ':' {
		colon = to - 1 - from
	}
	switch {
	case equals > 0 && (colon < 0 || equals < colon):
		w := y.scalar(line, from, to)
		if eq := strings.IndexByte(w.text, '='); eq > 0 {
			at := w.span.Start + eq
			y.emit(y.scalar(line, w.span.Start, at), y.scalar(line, at+1, w.span.End))
		}
	case colon > 0:
		y.field(y.scalar(line, from, from+colon), y.scalar(line, from+colon+1, to))
	}
}

// pairs reads several fields of one line.
func (y *yamlReader) pairs(line, from, to int) {
	s := y.s
	for from < to {
		n := strings.IndexAny(s.src[from:to], ":=")
		if n < 0 {
			return
		}
		key := y.scalar(line, max(from, from+strings.LastIndexAny(s.src[from:from+n], " ,{")+1), from+n)
		v0, v1 := s.trim(from+n+1, to)
		end := v1
		if v0 < v1 && (s.src[v0] == '"' || s.src[v0] == '\'') {
			if i := strings.IndexByte(s.src[v0+1:v1], s.src[v0]); i >= 0 {
				end = v0 + i + 2
			}
		} else if i := strings.IndexAny(s.src[v0:v1], ",} "); i >= 0 {
			end = v0 + i
		}
		y.field(key, y.scalar(line, v0, end))
		from = max(end, from+n+1)
	}
}

// field takes one key with its value.
func (y *yamlReader) field(key, value word) {
	switch {
	case isSysctl(key.text) && value.text != "":
		y.emit(key, value)
	case isSysctl(key.text):
		y.name = &key
	case (key.text == "name" || key.text == "key" || key.text == "param") && isSysctl(value.text):
		y.name = &value
	case key.text == "name":
		y.name = nil
	case (key.text == "value" || key.text == "val") && y.name != nil:
		y.emit(*y.name, value)
		y.name = nil
	}
}

// scalar is a plain or quoted text between two offsets.
func (y *yamlReader) scalar(line, from, to int) word {
	from, to = y.s.trim(from, to)
	w := word{line: line}
	if to-from >= 2 && (y.s.src[from] == '"' || y.s.src[from] == '\'') && y.s.src[to-1] == y.s.src[from] {
		from, to, w.quoted = from+1, to-1, true
	}
	w.span, w.text = Span{from, to}, y.s.src[from:to]
	return w
}

func (y *yamlReader) emit(name, value word) {
	if !isSysctl(name.text) || value.text == "" {
		return
	}
	e := Entry{Key: name.text, Name: LinuxName(name.text), Value: value.text, Line: name.line, KeySpan: name.span,
		ValueSpan: value.span, Raw: Span{name.span.Start, value.span.End}, style: styleFixed}
	e.Iface = linuxIface(e.Name)
	y.s.emit(e)
}

// isSysctl reports whether a word is the name of a sysctl of Linux by its beginning.
func isSysctl(name string) bool {
	if strings.ContainsAny(name, " \t{}$(),") || strings.Count(name, ".")+strings.Count(name, "/") == 0 {
		return false
	}
	system, known := SystemOfKey(name)
	return known && system == Linux
}
