// Package terminal prepares text for terminals: lines that fit, and nothing of
// a host's or a file's that a terminal would obey.
package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Columns is the width that every text keeps to which does not know its
// terminal.
const Columns = 80

// minText is the least room for text beside a label, in cells.
const minText = 20

// Wrap writes s in lines of at most width cells: the first one behind first,
// the others behind rest, each ended by a line break. Words that are longer
// than a line are broken; white space becomes single blanks.
func Wrap(width int, first, rest, s string) string {
	var b strings.Builder
	if ansi.StringWidth(first) > width-minText {
		b.WriteString(strings.TrimRight(Clip(first, width), " ") + "\n")
		if first = rest; s == "" {
			return b.String()
		}
	}
	prefix := Clean(first)
	for _, line := range Lines(s, width-ansi.StringWidth(first), width-ansi.StringWidth(rest)) {
		b.WriteString(strings.TrimRight(prefix+line, " ") + "\n")
		prefix = Clean(rest)
	}
	return b.String()
}

// Lines breaks s at white space into lines, the first of at most first cells,
// the others of at most width, both at least 2. There is always a line.
func Lines(s string, first, width int) []string {
	var lines []string
	line, limit := "", first
	for _, word := range strings.Fields(Clean(s)) {
		if line != "" && ansi.StringWidth(line)+1+ansi.StringWidth(word) <= limit {
			line += " " + word
			continue
		}
		if line != "" {
			lines, limit = append(lines, line), width
		}
		for ansi.StringWidth(word) > limit {
			head := ansi.Truncate(word, limit, "")
			lines, word, limit = append(lines, head), word[len(head):], width
		}
		line = word
	}
	if line != "" || lines == nil {
		lines = append(lines, line)
	}
	return lines
}

// Clip cuts s to width cells, with an ellipsis where something is missing.
// Line breaks and tabs become blanks, what is hidden is escaped.
func Clip(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(Clean(s), width, "…")
}

// Clean makes one line of s: line breaks and tabs become blanks, the rest is as
// Escape leaves it.
func Clean(s string) string {
	return Escape(blanks.Replace(s))
}

var blanks = strings.NewReplacer("\n", " ", "\t", " ", "\r", " ")

// Hidden tells whether a character shows nothing of itself: control characters,
// those that change the direction of text, those without width, blanks that look
// like others.
func Hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Escape writes what is Hidden, and bytes that are not UTF-8, as Go does in
// strings, \x1b; line breaks and tabs stay. What is escaped already stays as it
// is.
func Escape(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool { return (r < ' ' || r > '~') && r != '\n' && r != '\t' })
	if plain < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:plain])
	for i, r := range s[plain:] {
		i += plain
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16)) // 80 to ff
		case r == '\n', r == '\t', !Hidden(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// JSON is a value as JSON for programs and people, with indent before each
// level, in one line without: what HTML would escape stays readable, and what is
// Hidden is written \u202e.
func JSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	if !bytes.ContainsFunc(b.Bytes(), hiddenInJSON) {
		return b.Bytes(), nil
	}
	var out []byte
	for _, r := range b.String() { // bytes that are not UTF-8 become U+FFFD
		if !hiddenInJSON(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out, nil
}

// hiddenInJSON leaves the line breaks between values: those in strings are
// escaped already.
func hiddenInJSON(r rune) bool { return r != '\n' && (Hidden(r) || r == utf8.RuneError) }
