package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// loader reads loader.conf as the Lua loader does (stand/lua/config.lua, since
// FreeBSD 12): one setting a line; the name begins with a letter or digit; the
// value is quoted by double quotes or one word of letters, digits, '-', '_'
// and '.'; only a comment may follow. Inside quotes a backslash takes the next
// character as it is and $name or ${name} is replaced. A line that does not
// fit is reported as malformed and skipped.
//
// device.hints is read by the same program and the same rules.
func (s *scanner) loader() {
	start := textStart(s.src)
	s.lines(start, len(s.src), 1, func(line, from, to int) bool {
		if line == 1 && start > 0 {
			s.markedLine(from, to)
			return true
		}
		s.loaderLine(line, from, to)
		return true
	})
}

// loaderCommand is a command that sets something, before the name of it.
var loaderCommand = regexp.MustCompile(`^(sysctl(?:[ \t]+-w)?|set|kenv|export)[ \t]+[a-z][\w.]*=`)

func (s *scanner) loaderLine(line, rawFrom, rawTo int) {
	from, to := s.trim(rawFrom, rawTo)
	if from == to || s.src[from] == '#' {
		return
	}
	k1 := from
	for k1 < to && isLoaderName(s.src[k1], k1 == from) {
		k1++
	}
	eq := k1
	for eq < to && isBlank(s.src[eq]) {
		eq++
	}
	if k1 == from || eq == to || s.src[eq] != '=' {
		if command := loaderCommand.FindStringSubmatch(s.src[from:to]); command != nil {
			s.rejected(Reject{Line: line, Span: Span{from, to}, certain: true,
				Reason:  "loader.conf has no commands: leave out " + command[1] + " and write name=\"value\"",
				Because: "The loader takes the line for a syntax error."})
			return
		}
		s.reject(line, Span{from, to}, "malformed line: the loader expects name=\"value\"")
		return
	}
	e := Entry{Line: line, Raw: Span{rawFrom, trimCR(s.src, rawFrom, rawTo)}, KeySpan: Span{from, k1},
		Key: s.src[from:k1]}
	e.Name, e.Iface = e.Key, hintIface(e.Key)
	if strings.HasSuffix(e.Key, "_load") {
		e.Flags |= Module
	}
	v0, _ := s.trim(eq+1, to)
	if !s.loaderValue(&e, v0, to) {
		return
	}
	s.emit(e)
}

// loaderValue fills in the value of e from the text at [v0, to).
func (s *scanner) loaderValue(e *Entry, v0, to int) bool {
	var rest int
	if v0 < to && s.src[v0] == '"' {
		end := loaderQuote(s.src, v0+1, to)
		if end < 0 {
			s.reject(e.Line, Span{v0, to}, "malformed line: the quote is not closed")
			return false
		}
		e.ValueSpan, e.style, rest = Span{v0 + 1, end}, styleDouble, end+1
		e.Flags |= Quoted
	} else {
		end := v0
		for end < to && isLoaderWord(s.src[end], end == v0) {
			end++
		}
		if end == v0 {
			s.reject(e.Line, Span{e.KeySpan.Start, to}, "malformed line: the value needs double quotes")
			return false
		}
		e.ValueSpan, rest = Span{v0, end}, end
	}
	if r0, r1 := s.trim(rest, to); r0 < r1 && s.src[r0] != '#' {
		s.reject(e.Line, Span{e.KeySpan.Start, to}, "malformed line: only a comment may follow the value; the "+
			"loader skips the whole line")
		return false
	}
	e.Value = s.text(e.ValueSpan)
	if strings.ContainsAny(e.Value, "\\$") {
		if strings.Contains(e.Value, "$") {
			e.Flags |= Expands
		}
		e.Value = unescape(e.Value)
	}
	return true
}

// loaderQuote returns the offset of the first quote without a backslash, or -1.
func loaderQuote(src string, from, to int) int {
	for i := from; i < to; i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// unescape takes the backslashes off.
func unescape(v string) string {
	if strings.IndexByte(v, '\\') < 0 {
		return v
	}
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) {
			i++
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isLoaderName(c byte, first bool) bool {
	return isAlnum(c) || !first && (c == '-' || c == '_' || c == '.')
}

func isLoaderWord(c byte, first bool) bool {
	return isAlnum(c) || c == '-' || !first && (c == '_' || c == '.')
}

// hintIface returns the device of a hint.DRIVER.UNIT.… or dev.DRIVER.UNIT.…
// name.
func hintIface(name string) string {
	if rest, ok := strings.CutPrefix(name, "hint."); ok {
		return freeBSDIface("dev." + rest)
	}
	return freeBSDIface(name)
}
