package logline

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"
)

// Wrapping is what container engines and collectors write around the lines of a
// program. It is not changed by use.
type Wrapping struct {
	label   string    // for people
	Colours bool      // take out what colours the text on a terminal
	text    *jsonPlan // finds the line in an object, as roleRequest; nil: CRI's prefix
}

// CRIWrapping is "2016-10-06T00:17:09.669794202Z stdout F ...".
var CRIWrapping = &Wrapping{label: "in a Kubernetes log"}

// ExportWrapping is what "journalctl -o export" writes: a line NAME=value for each
// field of an entry (https://systemd.io/JOURNAL_EXPORT_FORMATS/).
var ExportWrapping = &Wrapping{label: "in a journal's export"}

// unwrapExport returns the program's line, nothing for other fields; ok is false for
// what is no field.
func unwrapExport(line []byte) (text []byte, ok bool) {
	name, value, ok := bytes.Cut(line, []byte{'='})
	if !ok || len(name) == 0 || bytes.ContainsFunc(name,
		func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		return nil, false
	}
	if string(name) != "MESSAGE" {
		return nil, true
	}
	return value, true
}

// ColourWrapping is text with the escape sequences that colour it on a terminal.
var ColourWrapping = &Wrapping{label: "in colours", Colours: true}

// appendPlain appends text without "ESC [ digits m" sequences. to may be the start
// of text.
func appendPlain(to, text []byte) []byte {
	for len(text) > 0 {
		if n := colourLength(text); n > 0 {
			text = text[n:]
			continue
		}
		to = append(to, text[0])
		text = text[1:]
	}
	return to
}

// colourLength returns the length of the sequence that text begins with, 0 if there
// is none.
func colourLength(text []byte) int {
	if !hasPrefix(text, "\x1b[") {
		return 0
	}
	for i, c := range text[2:] {
		if c == 'm' {
			return i + 3
		}
		if c-'0' >= 10 && c != ';' {
			break
		}
	}
	return 0
}

// Coloured reports whether most of the lines hold colours.
func Coloured(lines [][]byte) bool {
	n := 0
	for _, l := range lines {
		if i := bytes.Index(l, []byte("\x1b[")); i >= 0 && colourLength(l[i:]) > 0 {
			n++
		}
	}
	return 2*n > len(lines)
}

// TextKeys are where objects keep the program's line: Docker's json-file driver
// and Fluent Bit, journald, Google Cloud, Elastic's shippers, Loki's, Splunk's.
var TextKeys = []string{"log", "MESSAGE", "textPayload", "message", "msg", "line", "event"}

func JSONWrapping(key string) *Wrapping {
	p := new(jsonPlan)
	p.root.add([]string{key}, RoleRequest)
	return &Wrapping{label: "in JSON under " + key, text: p}
}

// Unwrap returns the program's own line; it may lie in *buf, which is
// overwritten.
func (k *Wrapping) Unwrap(line []byte, buf *[]byte) ([]byte, bool) {
	if k == ColourWrapping {
		*buf = appendPlain((*buf)[:0], line)
		return *buf, true
	}
	if k == ExportWrapping {
		return unwrapExport(line)
	}
	if k.text == nil {
		return unwrapCRI(line)
	}
	var found spans
	if !k.text.extract(line, &found) || found[RoleRequest].hi < 0 {
		return nil, false
	}
	*buf = appendUnescaped((*buf)[:0], found[RoleRequest].of(line))
	if k.Colours {
		*buf = appendPlain((*buf)[:0], *buf)
	}
	return bytes.TrimRight(*buf, "\r\n"), true
}

// unwrapCRI passes over time, stream and tag
// (Kubernetes design proposal "CRI: dockershim log format"; P is a part of a line).
func unwrapCRI(line []byte) ([]byte, bool) {
	stamp, rest, ok := bytes.Cut(line, []byte{' '})
	if !ok || len(stamp) < 20 || stamp[4] != '-' || stamp[10] != 'T' || len(rest) < 9 {
		return nil, false
	}
	if s := string(rest[:7]); s != "stdout " && s != "stderr " || rest[7] != 'F' && rest[7] != 'P' || rest[8] != ' ' {
		return nil, false
	}
	return rest[9:], true
}

// appendUnescaped appends the text of a JSON string. What is no valid escape stays
// as it is.
func appendUnescaped(to, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return append(to, s...)
		}
		to = append(to, s[:i]...)
		c := s[i+1]
		s = s[i:]
		n := 2
		switch c {
		case '"', '\\', '/':
			to = append(to, c)
		case 'n':
			to = append(to, '\n')
		case 'r':
			to = append(to, '\r')
		case 't':
			to = append(to, '\t')
		case 'u':
			if r, err := strconv.ParseUint(string(s[2:min(6, len(s))]), 16, 32); err == nil && len(s) >= 6 {
				to, n = utf8.AppendRune(to, rune(r)), 6
				break
			}
			to = append(to, '\\', c)
		default:
			to = append(to, '\\', c)
		}
		s = s[n:]
	}
}

// Wrapped returns the format for lines that are wrapped in k.
func (f *Format) Wrapped(k *Wrapping) *Format {
	g := *f
	g.wrap = k
	g.Name += " " + k.label
	return &g
}

// IsSyslog reports whether the line begins with a syslog header: RFC 3164's
// "Mar  1 00:00:01 host program[pid]: ", RFC 5424's "<134>1 ", or with a time
// stamp as rsyslog writes it.
func IsSyslog(line []byte) bool {
	if syslogEnd(line) < 0 || len(line) < 20 {
		return false
	}
	if line[0] == '<' || line[4] == '-' && line[7] == '-' && line[10] == 'T' {
		return true
	}
	_, err := time.Parse("Jan _2 15:04:05", string(line[:15]))
	return err == nil
}

// syslogEnd returns where the message of a syslog line begins: after the
// "program[pid]: " or "program: " in its first 128 bytes; -1 if there is none.
func syslogEnd(line []byte) int {
	if end := structuredEnd(line); end > 0 {
		return end
	}
	head := line[:min(len(line), 128)]
	if i := bytes.Index(head, []byte("]: ")); i >= 0 {
		return i + 3
	}
	// The colons of the time of day have no blank after them.
	if i := bytes.Index(head, []byte(": ")); i >= 0 {
		return i + 2
	}
	return -1
}

// structuredEnd returns where the message of RFC 5424's "<134>1 time host program
// id kind [data] message" begins, 0 if the line is none.
func structuredEnd(line []byte) int {
	close := bytes.IndexByte(line[:min(len(line), 5)], '>')
	if close < 2 || line[0] != '<' || !hasPrefix(line[close+1:], "1 ") {
		return 0
	}
	pos := close + 3
	for range 5 {
		blank := bytes.IndexByte(line[pos:], ' ')
		if blank < 0 {
			return 0
		}
		pos += blank + 1
	}
	if hasPrefix(line[pos:], "- ") {
		return pos + 2
	}
	if !hasPrefix(line[pos:], "[") {
		return 0
	}
	if i := bytes.Index(line[pos:], []byte("] ")); i > 0 {
		return pos + i + 2
	}
	return 0
}
