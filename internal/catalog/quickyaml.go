package catalog

import (
	"fmt"
	"strings"
)

// quickJSON turns YAML as the catalog writes it into JSON, some thirty times as fast as a library
// reads it, since every run of the program reads records: block and flow collections, plain, quoted
// and folded (>-) scalars, comments. What it does not know is an error, and the tests compare what
// it makes of every record with goccy/go-yaml's reading. All scalars become strings but those of
// numeric keys; a hyphen in a key becomes an underscore.
func quickJSON(text string) ([]byte, error) {
	r := quickReader{rest: text, out: make([]byte, 0, len(text)+len(text)/4)}
	r.next()
	if !r.ended {
		r.block()
	}
	if r.err == nil && !r.ended {
		r.fail("a line that is indented less than what it belongs to")
	}
	return r.out, r.err
}

// quickReader stands at a line: its indentation and what follows it.
type quickReader struct {
	rest   string // the lines after this one
	indent int
	text   string
	ended  bool
	out    []byte
	err    error
	depth  int
}

// maxNesting bounds collections in each other.
const maxNesting = 20

func (r *quickReader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%q: %s; the quick reader of the catalog takes only what catalog/README.md shows", r.text, what)
	}
	r.ended = true
}

// next goes to the next line that is neither empty nor a comment.
func (r *quickReader) next() {
	for r.rest != "" {
		var line string
		line, r.rest, _ = strings.Cut(r.rest, "\n")
		text := strings.TrimLeft(line, " ")
		if text == "" || text[0] == '#' {
			continue
		}
		r.indent, r.text = len(line)-len(text), strings.TrimRight(text, " ")
		if strings.IndexByte(line, '\t') >= 0 || strings.IndexByte(line, '\r') >= 0 {
			r.fail("a tab or a carriage return")
		}
		return
	}
	r.ended, r.indent, r.text = true, -1, ""
}

func (r *quickReader) isItem() bool { return strings.HasPrefix(r.text, "- ") }

// block reads the collection that begins on this line.
func (r *quickReader) block() {
	if r.depth++; r.depth > maxNesting {
		r.fail("too many collections in each other")
		return
	}
	if r.isItem() {
		r.sequence()
	} else {
		r.mapping()
	}
	r.depth--
}

func (r *quickReader) sequence() {
	at := r.indent
	r.out = append(r.out, '[')
	for !r.ended && r.indent == at && r.isItem() {
		item := strings.TrimLeft(r.text[1:], " ")
		r.indent, r.text = at+len(r.text)-len(item), item
		if _, _, ok := cutKey(item); ok {
			r.block()
		} else {
			r.inline("", item, at)
		}
		r.out = append(r.out, ',')
	}
	r.close(']')
}

// close ends a collection, over the comma of its last member.
func (r *quickReader) close(end byte) {
	if last := len(r.out) - 1; r.out[last] == ',' {
		r.out = r.out[:last]
	}
	r.out = append(r.out, end)
}

func (r *quickReader) mapping() {
	at := r.indent
	r.out = append(r.out, '{')
	for !r.ended && r.indent == at && !r.isItem() {
		key, value, ok := cutKey(r.text)
		if !ok {
			r.fail("a key and a colon are expected")
			return
		}
		r.key(key)
		if value != "" {
			r.inline(key, value, at)
		} else if r.next(); !r.ended && (r.indent > at || r.indent == at && r.isItem()) {
			r.block()
		} else {
			r.out = append(r.out, "null"...)
		}
		r.out = append(r.out, ',')
	}
	r.close('}')
}

// cutKey splits "key: value"; a key is plain or in quotes without any inside.
func cutKey(text string) (key, value string, ok bool) {
	if q := text[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(text[1:], q)
		if end < 0 || !strings.HasPrefix(text[end+2:], ":") {
			return "", "", false
		}
		return text[1 : end+1], strings.TrimLeft(text[end+3:], " "), true
	}
	if strings.IndexByte("[{", text[0]) >= 0 {
		return "", "", false
	}
	if key, value, ok = strings.Cut(text, ": "); ok {
		return key, strings.TrimLeft(value, " "), true
	}
	key, ok = strings.CutSuffix(text, ":")
	return key, "", ok
}

func (r *quickReader) key(key string) {
	start := len(r.out)
	r.out = appendQuoted(r.out, key)
	for i := start; i < len(r.out); i++ {
		if r.out[i] == '-' {
			r.out[i] = '_'
		}
	}
	r.out = append(r.out, ':')
}

// inline reads a value that begins on the line of its key or hyphen, of a collection at column at,
// and goes to the line after it.
func (r *quickReader) inline(key, value string, at int) {
	switch value[0] {
	case '[', '{':
		r.finish(r.flow(key, value))
		return
	case '"', '\'':
		r.finish(r.quoted(value))
		return
	case '>':
		if value != ">-" {
			r.fail("a folded text begins with >-")
			return
		}
		value = ""
	case '|', '&', '*', '!', '%', '@', '`':
		r.fail("not plain")
		return
	}
	folded := value == ""
	if value = strings.TrimRight(value, " "); !folded {
		value = cutComment(value)
	}
	// Lines that are indented further go on with the text.
	for {
		line, rest, _ := strings.Cut(r.rest, "\n")
		text := strings.TrimLeft(line, " ")
		if text == "" || len(line)-len(text) <= at || !folded && text[0] == '#' {
			break
		}
		r.rest = rest
		if value != "" {
			value += " "
		}
		value += strings.TrimRight(text, " ")
	}
	r.scalar(key, value, folded)
	r.next()
}

// finish wants nothing but a comment after a value and goes on.
func (r *quickReader) finish(left string) {
	if left = strings.TrimLeft(left, " "); r.err == nil && left != "" && left[0] != '#' {
		r.fail("more after the end of the value")
		return
	}
	if r.err == nil {
		r.next()
	}
}

func cutComment(value string) string {
	if i := strings.Index(value, " #"); i >= 0 {
		return strings.TrimRight(value[:i], " ")
	}
	return value
}

// scalar writes a plain or folded scalar.
func (r *quickReader) scalar(key, value string, folded bool) {
	switch {
	case !folded && (value == "null" || value == "~"):
		r.out = append(r.out, "null"...)
	case !folded && isNumeric(key, value):
		r.out = append(r.out, value...)
	default:
		r.out = appendQuoted(r.out, value)
	}
}

// isNumeric tells whether the value of a key is a number or a truth in Record.
func isNumeric(key, value string) bool {
	switch key {
	case "min", "max", "ratio", "low", "high":
		digits := strings.TrimPrefix(value, "-")
		return digits != "" && digits[0] != '.' && strings.Trim(digits, "0123456789.") == "" &&
			strings.Count(digits, ".") <= 1 && digits[len(digits)-1] != '.' &&
			(digits[0] != '0' || len(digits) == 1 || digits[1] == '.')
	case "hardening", "typical":
		return value == "true" || value == "false"
	}
	return false
}

// quoted writes a scalar in quotes and returns what follows it on the line.
func (r *quickReader) quoted(text string) (rest string) {
	if text[0] == '\'' {
		var b strings.Builder
		for text = text[1:]; ; {
			before, after, ok := strings.Cut(text, "'")
			b.WriteString(before)
			if !ok {
				r.fail("a quotation that does not end on its line")
				return ""
			}
			if !strings.HasPrefix(after, "'") {
				r.out = appendQuoted(r.out, b.String())
				return after
			}
			b.WriteByte('\'')
			text = after[1:]
		}
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			r.out = append(r.out, text[:i+1]...) // the escapes that are let through are JSON's too
			return text[i+1:]
		case '\\':
			if i++; i >= len(text) || strings.IndexByte(`"\nt`, text[i]) < 0 {
				r.fail("an escape other than \\\" \\\\ \\n \\t")
				return ""
			}
		}
	}
	r.fail("a quotation that does not end on its line")
	return ""
}

// flow reads a value of a flow collection, or the collection itself, and returns what follows it.
func (r *quickReader) flow(key, text string) (rest string) {
	if r.depth++; r.depth > maxNesting {
		r.fail("too many collections in each other")
		return ""
	}
	defer func() { r.depth-- }()
	switch {
	case r.err != nil || text == "":
		r.fail("a collection that does not end on its line")
		return ""
	case text[0] == '[' || text[0] == '{':
		return r.members(text)
	case text[0] == '"' || text[0] == '\'':
		return r.quoted(text)
	}
	end := 0
	for end < len(text) && strings.IndexByte(",]}", text[end]) < 0 && !strings.HasPrefix(text[end:], ": ") {
		end++
	}
	r.scalar(key, strings.TrimRight(text[:end], " "), false)
	return text[end:]
}

func (r *quickReader) members(text string) (rest string) {
	open, end := text[0], byte(']')
	if open == '{' {
		end = '}'
	}
	r.out = append(r.out, open)
	for text = strings.TrimLeft(text[1:], " "); r.err == nil; {
		if text == "" {
			r.fail("a collection that does not end on its line")
			break
		}
		if text[0] == end {
			r.close(end)
			return text[1:]
		}
		key := ""
		if open == '{' {
			var ok bool
			if key, text, ok = cutKey(text); !ok {
				r.fail("a key and a colon are expected")
				break
			}
			r.key(key)
		}
		text = strings.TrimLeft(r.flow(key, text), " ")
		r.out = append(r.out, ',')
		if strings.HasPrefix(text, ",") {
			text = strings.TrimLeft(text[1:], " ")
		} else if text != "" && text[0] != end {
			r.fail("a comma is expected")
		}
	}
	return ""
}

// appendQuoted appends a JSON string.
func appendQuoted(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ':
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
