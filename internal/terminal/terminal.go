// Package terminal prepares text for terminals: lines that fit, and nothing of
// a host's or a file's that a terminal would obey.
package terminal

import (
	"strconv"
	"strings"
	"unicode"
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
// Line breaks and tabs become blanks, other control characters disappear.
func Clip(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(Clean(s), width, "…")
}

// Clean takes out what could steer a terminal or reorder its text.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
}

// Escape writes control characters, bytes that are not UTF-8, and characters
// that are invisible or change the direction of text as Go does in strings,
// \x1b; line breaks and tabs stay. What is escaped already stays as it is.
func Escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16)) // 80 to ff
		case r == '\n', r == '\t', unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
